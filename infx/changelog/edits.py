"""Apply edits by span: replace bytes of a file and keep everything else."""

from __future__ import annotations

from collections.abc import Iterable

from infx.rules import Edit


def select_edits(edits: Iterable[Edit], size: int) -> list[Edit]:
    """Return the edits that can be applied together, in order.

    An edit that rewrites the whole file is applied alone; of two edits that touch each other, the first is kept.
    """
    ordered = sorted(set(edits), key=lambda edit: (edit.start, edit.end))
    whole = [edit for edit in ordered if (edit.start, edit.end) == (0, size)]
    if whole:
        return whole[:1]
    chosen: list[Edit] = []
    for edit in ordered:
        if not chosen or edit.start > chosen[-1].end:
            chosen.append(edit)
    return chosen


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits that are in order and do not overlap, as `select_edits` returns them."""
    parts, position = [], 0
    for edit in edits:
        parts += [data[position : edit.start], edit.data]
        position = edit.end
    return b"".join([*parts, data[position:]])
