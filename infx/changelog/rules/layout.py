"""Rules about the position and the first line of entries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from infx.changelog.entries import ENTRY_START
from infx.changelog.layout import choose_separator
from infx.changelog.subject import Subject, quote, quote_line
from infx.rules import Edit, Finding, Rule


def _starts(subject: Subject) -> Iterator[Finding[int | None]]:
    for block in subject.blocks:
        if not block.data.startswith(ENTRY_START):
            message = f"This entry starts with {quote_line(block.data)}; expected `- config-keys:`."
            yield Finding(at=block.start, message=message, hint="Put config-keys first, in block style.")
    if (appended := subject.comparison.appended) is not None:
        until = subject.blocks[0].start if subject.blocks else len(subject.head)
        lead = subject.head[appended:until]
        if lead.strip():
            offset = appended + len(lead) - len(lead.lstrip())
            message = f"{quote_line(subject.head[offset:until])} is not part of an entry; expected `- config-keys:`."
            yield Finding(at=offset, message=message, hint="Put comments inside the entry, or remove them.")


def _blank_lines(subject: Subject) -> Iterator[Finding[int | None]]:
    head, blocks, appended = subject.head, subject.blocks, subject.comparison.appended
    if appended is None:
        return
    if not blocks:
        if (added := head[appended:]) and not added.strip():
            message = f"Only blank lines were added: {quote(added)}."
            edit = Edit(appended, len(head), b"")
            yield Finding(at=appended, message=message, hint="Remove them.", edits=(edit,))
        return
    for start, end, accepted in _gaps(subject, appended):
        gap = head[start:end].replace(b"\r\n", b"\n")  # line ends have a rule of their own
        if gap in accepted or gap.strip():
            continue
        wanted = accepted[0]
        expected = "one empty line before this entry" if end < len(head) else "nothing after the last entry"
        if start == 0:
            expected = "nothing before the first entry"
        shown = (
            _find_blanks_at_end(head[max(appended - 200, 0) : appended]) + gap if start == appended else gap
        )
        message = f"Expected {expected}, found {quote(shown) if shown else 'none'}."
        hint = "One empty line separates entries, and one newline ends the file."
        offset = end if end < len(head) else start
        yield Finding(at=offset, message=message, hint=hint, edits=(Edit(start, end, wanted),))


def _find_blanks_at_end(end: bytes) -> bytes:
    """Return the blank lines at the end of the base."""
    return end[len(end.rstrip(b" \t\r\n")) + 1 :]


def _gaps(subject: Subject, appended: int) -> Iterator[tuple[int, int, tuple[bytes, ...]]]:
    """Return (start, end, accepted bytes) of every gap around new entries."""
    blocks = subject.blocks
    # If the base ends with an empty line, another one is accepted: the diff then looks like any other append.
    first = (choose_separator(subject.comparison.base), b"\n") if appended else (b"",)
    yield appended, blocks[0].start, first
    for block, next_block in itertools.pairwise(blocks):
        yield block.end, next_block.start, (b"\n",)
    yield blocks[-1].end, len(subject.head), (b"",)


RULES: tuple[Rule[[Subject], int | None], ...] = (
    Rule(
        id="entry-start",
        says="An entry starts with `- config-keys:` in the first column, without other text between entries.",
        why="People, diffs and tools find the start of an entry by this line.",
        check=_starts,
    ),
    Rule(
        id="blank-lines",
        says="There is exactly one empty line before and between new entries, and none after the last.",
        why="With a single layout, two appended entries differ only in their content.",
        check=_blank_lines,
    ),
)
