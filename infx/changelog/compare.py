"""A changelog beside its base: what was appended, and which past entries are no longer what they were.

An append is seen by comparing bytes, so that it costs the same whatever the history. Only a head that does not
start with its base is cut into chunks of text, at lines that start an item in the first column, and aligned.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from infx.errors import ProblemsError

_ITEM = b"- "
_LINK_LINE = b"  pr-link:"


class Kind(StrEnum):
    EDITED = "edited"
    DELETED = "deleted"
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

    kind: Kind
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
        return {change.kind for change in self.changes} == {Kind.LINK} and not self.misplaced

    def accept_corrections(self) -> Comparison:
        """The same head beside a base that has the corrected links already."""
        base, position = b"", 0
        for change in self.changes:
            if change.head is not None:
                base += self.base[position : change.base.start] + change.head.content
                position = change.base.end
        return compare(base + self.base[position:], self.head)


def complete(data: bytes) -> bytes:
    """With a final newline: some histories lost theirs, and an append gives it back."""
    return data if not data or data.endswith(b"\n") else data + b"\n"


def compare(base: bytes, head: bytes) -> Comparison:
    base = complete(base)
    if head.startswith(base):
        return Comparison(base=base, head=head, appended=len(base))
    if head == base[:-1]:
        return Comparison(base=base, head=head, appended=len(head))
    return _align(base, head)


def split_chunks(data: bytes, start: int = 0) -> list[Chunk]:
    """Everything from `start` on; what stands above the first item is a chunk too, if it is not blank."""
    limits = [start, *_item_starts(data, start), len(data)]
    chunks = []
    for left, right in itertools.pairwise(limits):
        text = data[left:right]
        if content := text.rstrip(b" \t\r\n"):
            end = text.find(b"\n", len(content)) + 1 or len(text)
            chunks.append(Chunk(start=left, end=left + end, limit=right, text=text))
    return chunks


def _item_starts(data: bytes, start: int) -> Iterator[int]:
    if data.startswith(_ITEM, start):
        yield start
    position = data.find(b"\n" + _ITEM, start)
    while position >= 0:
        if position + 1 > start:
            yield position + 1
        position = data.find(b"\n" + _ITEM, position + 1)


def _align(base: bytes, head: bytes) -> Comparison:
    import difflib

    same = _common_start(base, head)
    past, now = split_chunks(base, same), split_chunks(head, same)
    above = base.count(b"\n" + _ITEM, 0, same) + base.startswith(
        _ITEM
    )  # items, the one that starts here included
    first = above + bool(same)
    keys = [chunk.visible for chunk in past], [chunk.visible for chunk in now]
    inserted: list[Chunk] = []
    changes: list[Change] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                if not _is_same(past, i, now, j):
                    changes.append(Change(kind=Kind.BLANKS, number=first + i, base=past[i], head=now[j]))
            continue
        pairs, left = _pair(past[i1:i2], now[j1:j2])
        inserted += left
        for i, other in zip(range(i1, i2), pairs, strict=True):
            changes.append(Change(kind=_kind(past[i], other), number=first + i, base=past[i], head=other))
    found = [chunk for chunk in now if chunk not in inserted]
    return Comparison(
        base=base,
        head=head,
        appended=None,
        inserted=tuple(inserted),
        changes=tuple(changes),
        past_end=found[-1].end if found else same,
    )


def _common_start(base: bytes, head: bytes) -> int:
    """Start of the last item that begins before the first difference: everything above it is untouched."""
    low, high = 0, min(len(base), len(head))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if base[low:middle] == head[low:middle] else (low, middle - 1)
    # One item back: a difference in the blank lines before an item belongs to the item above it.
    return max(base.rfind(b"\n" + _ITEM, 0, low) + 1, 0)


def _is_same(past: Sequence[Chunk], i: int, now: Sequence[Chunk], j: int) -> bool:
    """With the blank lines behind it, unless a new entry follows there, whose own they may be."""
    if past[i].content != now[j].content:
        return False
    is_last, has_more = i + 1 == len(past), j + 1 < len(now)
    if is_last:
        return now[j].gap.startswith(past[i].gap)
    follows = has_more and now[j + 1].visible == past[i + 1].visible
    return not follows or past[i].gap == now[j].gap


def _kind(base: Chunk, head: Chunk | None) -> Kind:
    if head is None:
        return Kind.DELETED
    return Kind.LINK if _is_link_change(base, head) else Kind.EDITED


def _is_link_change(base: Chunk, head: Chunk) -> bool:
    """Only a link line differs, and the parser reads the rest alike."""
    from infx.changelog.entries import parse_blocks

    old, new = base.content.split(b"\n"), head.content.split(b"\n")
    if len(old) != len(new):
        return False
    differing = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
    if not all(line.startswith(_LINK_LINE) for pair in differing for line in pair):
        return False
    try:
        (one,), (other,) = parse_blocks(base.content, ""), parse_blocks(head.content, "")
    except (ProblemsError, ValueError):
        return False
    return bool(one.meaning == other.meaning)


def _pair(past: Sequence[Chunk], now: Sequence[Chunk]) -> tuple[list[Chunk | None], list[Chunk]]:
    """For each past chunk the new text that most resembles it, or None; and the chunks that resemble none."""
    free = list(now)
    pairs: list[Chunk | None] = []
    for chunk in past:
        lines = set(chunk.visible.split(b"\n"))
        best = max(free, key=lambda other: len(lines & set(other.visible.split(b"\n"))), default=None)
        if best is not None and (lines & set(best.visible.split(b"\n"))) - {b"  description:"}:
            free.remove(best)
        else:
            best = None
        pairs.append(best)
    return pairs, free
