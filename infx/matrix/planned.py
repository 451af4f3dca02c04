"""A row of a plan, with the configuration and the entry that it comes from."""

from __future__ import annotations

from infx.bench.row import Row
from infx.records import record


@record
class Planned:
    """A row of a plan and its origin."""

    row: Row
    key: str  # key of the configuration; only a description of it if `entry` is None
    entry: int | None  # index of the changelog entry; None for rows selected without a changelog
