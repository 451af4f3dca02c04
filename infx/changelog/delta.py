"""Read the entries that a head's changelog adds to its base.

A delta is readable if all past entries are unchanged and in order, and everything else is a list of entries; or if
only links changed. The planner needs no more. `validate` judges the position of new entries, links, blank lines and
bytes, on the same entries.
"""

from __future__ import annotations

from infx.bench.delta import Correction, Delta
from infx.bench.entry import Entry
from infx.changelog.blocks import Block, parse_blocks
from infx.changelog.compare import compare
from infx.changelog.comparison import Change, ChangeKind, Comparison
from infx.changelog.entries import check_fields, read_entry
from infx.changelog.rules.fields import find_contradictions
from infx.changelog.subject import quote
from infx.errors import Problem, ProblemsError


def read_delta(base: bytes, head: bytes, path: str) -> Delta:
    """Read the difference between two revisions of the changelog at `path`.

    Only the appended text is parsed, so that the cost does not grow with history. Raises ProblemsError if more than
    the link of a past entry changed, or if the added text is not a list of entries.
    """
    comparison = compare(base, head)
    is_append = comparison.appended is not None
    if comparison.is_correction and not comparison.inserted:
        corrections = tuple(pair for change in comparison.changes for pair in _find_corrections(change, head))
        return Delta(corrections=corrections, is_append=False)
    if problems := [
        _describe_change(change, comparison, path) for change in comparison.changes if not _is_blank(change)
    ]:
        raise ProblemsError(problems)
    entries = [entry for start, end in comparison.additions for entry in read_entries(head, path, start, end)]
    return Delta(entries=tuple(entries), is_append=is_append)


def read_entries(data: bytes, path: str, start: int = 0, end: int | None = None) -> tuple[Entry, ...]:
    """Read the entries of a whole file, or of a part of it. Raises ProblemsError with every problem."""
    blocks = parse_blocks(data, path, start, end)
    if problems := [problem for block in blocks for problem in _check(block, path)]:
        raise ProblemsError(problems)
    return tuple(read_entry(block) for block in blocks)


def _check(block: Block, path: str) -> list[Problem]:
    """Check the shape of an entry and contradictions between its fields, but not its link."""
    contradictions = [
        Problem(
            rule="fields-contradict",
            message=f"{narrowing} and {widening} contradict each other.",
            path=path,
            line=block.line(widening),
            hint="Keep one of them.",
        )
        for narrowing, widening in find_contradictions(block)
    ]
    return check_fields(block) or contradictions


def _is_blank(change: Change) -> bool:
    """Return whether only empty lines were added or removed."""
    if change.kind is not ChangeKind.BLANKS or change.head is None:
        return False
    past, now = (
        [line for line in text.split(b"\n") if line.strip()]
        for text in (change.base.content, change.head.content)
    )
    return past == now


def _find_corrections(change: Change, head: bytes) -> list[Correction]:
    if change.head is None:
        return []
    first = head.count(b"\n", 0, change.head.start) + 1
    pairs = zip(change.base.content.split(b"\n"), change.head.content.split(b"\n"), strict=True)
    return [
        Correction(line=first + i, before=old, after=new) for i, (old, new) in enumerate(pairs) if old != new
    ]


def _describe_change(change: Change, comparison: Comparison, path: str) -> Problem:
    """Return the problem at the first line that differs; without a line if the entry was deleted."""
    base_line = comparison.base.count(b"\n", 0, change.base.start) + 1
    old = change.base.visible.split(b"\n")
    now = change.head.content.split(b"\n") if change.head else []
    lines = [(i, line) for i, line in enumerate(now) if line.strip()]
    same = next((i for i, (a, (_, b)) in enumerate(zip(old, lines, strict=False)) if a != b), len(lines))
    line = None
    if change.head is not None:
        at = lines[min(same, len(lines) - 1)][0]
        line = comparison.head.count(b"\n", 0, change.head.start) + 1 + at
    message = f"Past entry {change.number} (line {base_line} of the base) was changed or deleted: {quote(old[min(same, len(old) - 1)])} is missing. Past entries are immutable."
    hint = "Restore it and append a new entry instead."
    return Problem(rule="changelog-past", message=message, path=path, line=line, hint=hint)
