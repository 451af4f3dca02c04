"""The result of comparing two changelogs: chunks of text, past entries that changed, and new entries."""

from __future__ import annotations

import bisect
import itertools
from dataclasses import field
from enum import StrEnum
from functools import cached_property

from infx.records import record


class ChangeKind(StrEnum):
    EDITED = "edited"
    DELETED = "deleted"
    MOVED = "moved"  # the same bytes in another place among the entries
    LINK = "link"  # only the value of its pr-link
    BLANKS = "blanks"  # only whitespace: blanks, empty lines or line ends


@record
class Chunk:
    """An item as text."""

    start: int
    end: int  # after its last line that is not blank
    limit: int  # where the next chunk starts
    text: bytes = field(repr=False)  # up to `limit`

    @property
    def content(self) -> bytes:
        return self.text[: self.end - self.start]

    @property
    def gap(self) -> bytes:
        """The blank lines after it."""
        return self.text[self.end - self.start :]

    @property
    def visible(self) -> bytes:
        lines = (line.rstrip() for line in self.content.split(b"\n"))
        return b"\n".join(line for line in lines if line)


@record
class Change:
    """A past entry that changed."""

    kind: ChangeKind
    number: int  # from 1; 0 is the text above the first entry
    base: Chunk
    head: Chunk | None = None  # its replacement; None if it was deleted


@record
class Comparison:
    """A head compared with its base.

    Attributes:
        base: always with a final newline, which the file itself may lack.
        appended: offset in the head where the text after the base starts; None if the head does not start with it.
        inserted: chunks that the base does not contain, if `appended` is None.
        changes: past entries that changed, if `appended` is None.
        past_end: end of the last past entry; a chunk inserted before it is misplaced.
    """

    base: bytes = field(repr=False)
    head: bytes = field(repr=False)
    appended: int | None
    inserted: tuple[Chunk, ...] = ()
    changes: tuple[Change, ...] = ()
    past_end: int = 0

    def line(self, offset: int) -> int:
        """Return the line of the head, from 1, at an offset."""
        start, before, breaks = self._lines
        if offset < start:
            return self.head.count(b"\n", 0, offset) + 1
        return before + bisect.bisect_left(breaks, offset) + 1

    @cached_property
    def _lines(self) -> tuple[int, int, list[int]]:
        """The start of the appended part, the number of line ends before it, and the offsets of line ends in it."""
        # The base's lines are counted only once, because the appended part may have many problems.
        start = self.appended or 0
        lengths = (len(line) + 1 for line in self.head[start:].split(b"\n"))
        breaks = [start + end - 1 for end in itertools.accumulate(lengths)]
        return start, self.head.count(b"\n", 0, start), breaks

    @property
    def additions(self) -> list[tuple[int, int]]:
        """The spans of the head that contain new entries."""
        if self.appended is not None:
            return [(self.appended, len(self.head))] if self.appended < len(self.head) else []
        return [(chunk.start, chunk.limit) for chunk in self.inserted]

    @property
    def misplaced(self) -> list[Chunk]:
        return [chunk for chunk in self.inserted if chunk.start < self.past_end]

    @property
    def is_correction(self) -> bool:
        """Return whether only links of past entries changed, apart from new entries at the end."""
        return {change.kind for change in self.changes} == {ChangeKind.LINK} and not self.misplaced
