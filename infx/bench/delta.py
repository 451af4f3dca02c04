"""The difference between a head's changelog and its base's: new entries, or corrected links."""

from __future__ import annotations

from infx.bench.entry import Entry
from infx.records import record


@record
class Correction:
    """A link line of a past entry that the head changed."""

    line: int
    before: bytes  # without the line break
    after: bytes  # without the line break


@record
class Delta:
    """The entries or the corrections that a head adds, never both."""

    entries: tuple[Entry, ...] = ()
    corrections: tuple[Correction, ...] = ()
    is_append: bool = (
        True  # whether the head starts with the base's bytes, apart from a missing final newline
    )
