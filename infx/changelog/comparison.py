"""What a comparison of two changelogs says: chunks of their text, past entries that changed, and what is new."""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property


class ChangeKind(StrEnum):
    EDITED = "edited"
    DELETED = "deleted"
    MOVED = "moved"  # to the letter, but to another place among the entries
    LINK = "link"  # nothing but the value of its pr-link
    BLANKS = "blanks"  # nothing but blanks, empty lines or line ends


@dataclass(frozen=True, kw_only=True, eq=False)
class Chunk:
    """An item as text. `end` is after its last line that is not blank, `limit` where the next chunk starts."""

    start: int
    end: int
    limit: int
    text: bytes = field(repr=False)  # up to `limit`

    @property
    def content(self) -> bytes:
        return self.text[: self.end - self.start]

    @property
    def gap(self) -> bytes:
        """The blank lines behind it."""
        return self.text[self.end - self.start :]

    @property
    def visible(self) -> bytes:
        lines = (line.rstrip() for line in self.content.split(b"\n"))
        return b"\n".join(line for line in lines if line)


@dataclass(frozen=True, kw_only=True, eq=False)
class Change:
    """A past entry that is not what it was. number: counted from 1; 0 is what stands above the first entry.

    head: what stands in its place; None if it is gone.
    """

    kind: ChangeKind
    number: int
    base: Chunk
    head: Chunk | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """base: with its final newline, which the file itself may lack.

    appended: offset in the head where the text after the base starts; None if the head does not start with it.
    inserted, changes: only then, chunks that the base does not have and past entries that changed; the last past
    entry ends at `past_end`, and what is inserted before that is out of place.
    """

    base: bytes = field(repr=False)
    head: bytes = field(repr=False)
    appended: int | None
    inserted: tuple[Chunk, ...] = ()
    changes: tuple[Change, ...] = ()
    past_end: int = 0

    def line(self, offset: int) -> int:
        """Of the head, from 1."""
        start, before, breaks = self._lines
        if offset < start:
            return self.head.count(b"\n", 0, offset) + 1
        return before + bisect.bisect_left(breaks, offset) + 1

    @cached_property
    def _lines(self) -> tuple[int, int, list[int]]:
        """(where the counted part starts, line ends before it, offsets of those in it): the base's lines are counted
        once, and there may be many problems behind it.
        """
        start = self.appended or 0
        lengths = (len(line) + 1 for line in self.head[start:].split(b"\n"))
        breaks = [start + end - 1 for end in itertools.accumulate(lengths)]
        return start, self.head.count(b"\n", 0, start), breaks

    @property
    def additions(self) -> list[tuple[int, int]]:
        """Spans of the head that hold new entries."""
        if self.appended is not None:
            return [(self.appended, len(self.head))] if self.appended < len(self.head) else []
        return [(chunk.start, chunk.limit) for chunk in self.inserted]

    @property
    def misplaced(self) -> list[Chunk]:
        return [chunk for chunk in self.inserted if chunk.start < self.past_end]

    @property
    def is_correction(self) -> bool:
        """Nothing but links of past entries differ, apart from new entries behind them."""
        return {change.kind for change in self.changes} == {ChangeKind.LINK} and not self.misplaced
