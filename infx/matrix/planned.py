"""A row of a plan, and why it is there."""

from __future__ import annotations

from dataclasses import dataclass

from infx.bench.row import Row


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """key: of the configuration that the row is a point of. entry: index of the changelog entry that asked for it.

    entry is None for rows that were selected without a changelog; then the key only describes the configuration.
    """

    row: Row
    key: str
    entry: int | None
