"""Reads what a head's changelog has that its base has not.

A delta is readable if every past entry still stands, in order and to the letter, and what stands besides is a list
of entries; or if nothing but links changed. That is all the planner needs. Where new entries stand, and whether
links, blank lines and bytes are as they should be, is `validate`'s to judge, on the same entries.
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
    """Compare two revisions of the changelog at `path`.

    Only what was appended is parsed, so that the cost does not grow with history. Raises ProblemsError where a past
    entry changed in any way but its link, or what was added is no list of entries.
    """
    comparison = compare(base, head)
    is_append = comparison.appended is not None
    if comparison.is_correction and not comparison.inserted:
        corrections = tuple(pair for change in comparison.changes for pair in _find_corrections(change, head))
        return Delta(corrections=corrections, is_append=False)
    if problems := [
        _past_changed(change, comparison, path) for change in comparison.changes if not _is_blank(change)
    ]:
        raise ProblemsError(problems)
    entries = [entry for start, end in comparison.additions for entry in read_entries(head, path, start, end)]
    return Delta(entries=tuple(entries), is_append=is_append)


def read_entries(data: bytes, path: str, start: int = 0, end: int | None = None) -> tuple[Entry, ...]:
    """The entries of a whole file, or of a part of it. Raises ProblemsError with everything that is wrong."""
    blocks = parse_blocks(data, path, start, end)
    if problems := [problem for block in blocks for problem in _check(block, path)]:
        raise ProblemsError(problems)
    return tuple(read_entry(block) for block in blocks)


def _check(block: Block, path: str) -> list[Problem]:
    """Shapes and contradictions. Links are judged by the validator, which knows which ones are meant."""
    contradictions = [
        Problem(
            rule="fields-contradict",
            message=f"{one} and {other} contradict each other.",
            path=path,
            line=block.line(other),
            hint="Keep one of them.",
        )
        for one, other in find_contradictions(block)
    ]
    return check_fields(block) or contradictions


def _is_blank(change: Change) -> bool:
    """Only empty lines came or went."""
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


def _past_changed(change: Change, comparison: Comparison, path: str) -> Problem:
    """At the first line that differs, if something stands in its place."""
    base_line = comparison.base.count(b"\n", 0, change.base.start) + 1
    old = change.base.visible.split(b"\n")
    now = change.head.content.split(b"\n") if change.head else []
    lines = [(i, line) for i, line in enumerate(now) if line.strip()]
    same = next((i for i, (a, (_, b)) in enumerate(zip(old, lines, strict=False)) if a != b), len(lines))
    line = None
    if change.head is not None:
        at = lines[min(same, len(lines) - 1)][0]
        line = comparison.head.count(b"\n", 0, change.head.start) + 1 + at
    message = f"Past entry {change.number}, on line {base_line} of the base, changed or is gone: {quote(old[min(same, len(old) - 1)])} is not here. Past entries do not change."
    hint = "Restore it and append a new entry instead."
    return Problem(rule="changelog-past", message=message, path=path, line=line, hint=hint)
