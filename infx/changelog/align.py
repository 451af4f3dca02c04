"""Align a head with its base when it is not a plain append: find past, changed and new entries."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Sequence

from infx.changelog.blocks import parse_blocks
from infx.changelog.comparison import Change, ChangeKind, Chunk, Comparison
from infx.errors import ProblemsError

_ITEM = b"- "
_LINK_LINE = b"  pr-link:"
_MOST_PAIRS = 250_000  # beyond that, changed entries are paired in order, without comparing them all


def split_chunks(data: bytes, start: int = 0) -> list[Chunk]:
    """Split the file from `start` on into chunks; non-blank text above the first item is also a chunk."""
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


def align(base: bytes, head: bytes) -> Comparison:
    """Compare a head with a base that it does not start with. The base ends with a newline."""
    same = _common_start(base, head)
    past, now = split_chunks(base, same), split_chunks(head, same)
    above = base.count(b"\n" + _ITEM, 0, same) + base.startswith(_ITEM)
    first = above + bool(same)  # number of the first chunk; 0 for text above the first item
    keys = [chunk.visible for chunk in past], [chunk.visible for chunk in now]
    inserted: list[Chunk] = []
    changes: list[Change] = []
    opcodes = difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    moves = _find_moves(past, now, opcodes)
    arrived = set(moves.values())
    for tag, i1, i2, j1, j2 in opcodes:
        if tag == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                if not _is_same(past, i, now, j):
                    changes.append(
                        Change(kind=ChangeKind.BLANKS, number=first + i, base=past[i], head=now[j])
                    )
            continue
        here = [i for i in range(i1, i2) if i not in moves]
        pairs, left = _pair([past[i] for i in here], [now[j] for j in range(j1, j2) if j not in arrived])
        inserted += left
        replacements = dict(zip(here, pairs, strict=True))
        for i in range(i1, i2):
            replacement = now[moves[i]] if i in moves else replacements[i]
            kind = ChangeKind.MOVED if i in moves else _find_kind(past[i], replacement)
            changes.append(Change(kind=kind, number=first + i, base=past[i], head=replacement))
    remaining = [chunk for chunk in now if chunk not in inserted]
    return Comparison(
        base=base,
        head=head,
        appended=None,
        inserted=tuple(inserted),
        changes=tuple(changes),
        past_end=remaining[-1].end if remaining else same,
    )


def _find_moves(
    past: Sequence[Chunk], now: Sequence[Chunk], opcodes: Sequence[tuple[str, int, int, int, int]]
) -> dict[int, int]:
    """Return old index → new index of past chunks that were moved without any change."""
    places: dict[bytes, list[int]] = {}
    for tag, _, _, j1, j2 in opcodes:
        if tag != "equal":
            for j in range(j1, j2):
                places.setdefault(now[j].content, []).append(j)
    moves: dict[int, int] = {}
    for tag, i1, i2, _, _ in opcodes:
        if tag != "equal":
            for i in range(i1, i2):
                if same := places.get(past[i].content):
                    moves[i] = same.pop(0)
    return moves


def _common_start(base: bytes, head: bytes) -> int:
    """Return the start of the last item before the first difference: everything above that item is unchanged."""
    low, high = 0, min(len(base), len(head))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if base[low:middle] == head[low:middle] else (low, middle - 1)
    # One item back: a difference in the blank lines before an item belongs to the item above it.
    return max(base.rfind(b"\n" + _ITEM, 0, low) + 1, 0)


def _is_same(past: Sequence[Chunk], i: int, now: Sequence[Chunk], j: int) -> bool:
    """Compare two chunks with the blank lines after them."""
    # If a new entry follows, those blank lines may belong to it.
    if past[i].content != now[j].content:
        return False
    is_last, has_more = i + 1 == len(past), j + 1 < len(now)
    if is_last:
        return now[j].gap.startswith(past[i].gap)
    follows = has_more and now[j + 1].visible == past[i + 1].visible
    return not follows or past[i].gap == now[j].gap


def _find_kind(base: Chunk, head: Chunk | None) -> ChangeKind:
    if head is None:
        return ChangeKind.DELETED
    return ChangeKind.LINK if _is_link_change(base, head) else ChangeKind.EDITED


def _is_link_change(base: Chunk, head: Chunk) -> bool:
    """Return whether only link lines differ and the parser reads everything else as the same value."""
    old, new = base.content.split(b"\n"), head.content.split(b"\n")
    if len(old) != len(new):
        return False
    differing = [(before, after) for before, after in zip(old, new, strict=True) if before != after]
    if not all(line.startswith(_LINK_LINE) for pair in differing for line in pair):
        return False
    try:
        (base_block,), (head_block,) = parse_blocks(base.content, ""), parse_blocks(head.content, "")
    except (ProblemsError, ValueError):
        return False
    return bool(base_block.meaning == head_block.meaning)


def _pair(past: Sequence[Chunk], now: Sequence[Chunk]) -> tuple[list[Chunk | None], list[Chunk]]:
    """Return the most similar new chunk for each past chunk (or None), and the new chunks without a match."""
    if len(past) * len(now) > _MOST_PAIRS:
        both = min(len(past), len(now))
        return [*now[:both], *[None] * (len(past) - both)], list(now[both:])
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
