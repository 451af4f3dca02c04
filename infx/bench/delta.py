"""What a head's changelog has that its base has not: new entries, or corrected links."""

from __future__ import annotations

from dataclasses import dataclass

from infx.bench.entry import Entry


@dataclass(frozen=True, kw_only=True)
class Correction:
    """A past entry's link line that the head wrote anew; both without their line break."""

    line: int
    before: bytes
    after: bytes


@dataclass(frozen=True, kw_only=True)
class Delta:
    """Entries or corrections, never both; neither where the two files say the same.

    is_append: the head starts with the base's bytes, a missing final newline completed.
    """

    entries: tuple[Entry, ...] = ()
    corrections: tuple[Correction, ...] = ()
    is_append: bool = True
