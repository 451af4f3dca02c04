"""Rules about where entries stand and how they begin."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from infx.changelog.entries import ENTRY_START
from infx.changelog.layout import separator
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
            message = (
                f"{quote_line(subject.head[offset:until])} belongs to no entry; expected `- config-keys:`."
            )
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
        found = head[start:end].replace(b"\r\n", b"\n")  # line ends have a rule of their own
        if found in accepted or found.strip():
            continue
        wanted = accepted[0]
        what = "one empty line before this entry" if end < len(head) else "nothing behind the last entry"
        if start == 0:
            what = "nothing before the first entry"
        shown = (
            _blanks_at_the_end(head[max(appended - 200, 0) : appended]) + found
            if start == appended
            else found
        )
        message = f"Expected {what}, found {quote(shown) if shown else 'none'}."
        hint = "One empty line separates entries, and one newline ends the file."
        offset = end if end < len(head) else start
        yield Finding(at=offset, message=message, hint=hint, edits=(Edit(start, end, wanted),))


def _blanks_at_the_end(end: bytes) -> bytes:
    """Blank lines that the base ends with already, such as one of two blanks."""
    return end[len(end.rstrip(b" \t\r\n")) + 1 :]


def _gaps(subject: Subject, appended: int) -> Iterator[tuple[int, int, tuple[bytes, ...]]]:
    """(start, end, what may stand there) of every space around new entries."""
    blocks = subject.blocks
    # Behind a base that ends with an empty line one more is tolerated: it looks like everybody else's append.
    first = (separator(subject.comparison.base), b"\n") if appended else (b"",)
    yield appended, blocks[0].start, first
    for one, other in itertools.pairwise(blocks):
        yield one.end, other.start, (b"\n",)
    yield blocks[-1].end, len(subject.head), (b"",)


RULES: tuple[Rule[[Subject], int | None], ...] = (
    Rule(
        id="entry-start",
        says="An entry starts with `- config-keys:` in the first column, and nothing stands between entries.",
        why="That is how people, diffs and tools see where an entry begins.",
        check=_starts,
    ),
    Rule(
        id="blank-lines",
        says="Exactly one empty line stands before and between new entries, none behind the last.",
        why="With one form for everybody, two appended entries differ only in what they say.",
        check=_blank_lines,
    ),
)
