"""Rules about the bytes of the appended text; they apply even if the text cannot be parsed."""

from __future__ import annotations

from collections.abc import Iterator

from infx.changelog.subject import Subject, quote
from infx.rules import Edit, Finding, Rule

BOM = b"\xef\xbb\xbf"
_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")


def _lines(subject: Subject) -> Iterator[tuple[int, bytes]]:
    """Return (offset, line with its end) of every added line."""
    for start, end in subject.comparison.additions:
        offset = start
        for line in subject.head[start:end].split(b"\n"):
            stop = min(offset + len(line) + 1, end)
            yield offset, subject.head[offset:stop]
            offset = stop


def find_markers(subject: Subject) -> Iterator[Finding[int | None]]:
    """Find conflict markers: in the appended text, or in the whole file if past entries changed too."""
    for offset, line in find_marker_lines(subject.head, subject.comparison.appended or 0):
        message = f"Unresolved conflict marker at line {subject.line(offset)}: {quote(line.strip())}."
        hint = "Restore the base branch's file and append your entries, or run `infx changelog resolve` in the merge."
        yield Finding(at=offset, message=message, hint=hint)


def find_marker_lines(data: bytes, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Return (offset, line) of every conflict marker from `start` on."""
    for marker in _MARKERS:
        position = start if data.startswith(marker, start) else _find_next(data, marker, start)
        while position >= 0:
            end = data.find(b"\n", position)
            line = data[position : end if end >= 0 else len(data)]
            text = line[len(marker) :].strip()
            if line[len(marker) : len(marker) + 1] in {b"", b" ", b"\r"} and not (
                marker == b"=======" and text
            ):
                yield position, line
            position = _find_next(data, marker, position)


def _find_next(data: bytes, marker: bytes, start: int) -> int:
    line_break = data.find(b"\n" + marker, start)
    return line_break + 1 if line_break >= 0 else -1


def _final_newline(subject: Subject) -> Iterator[Finding[int | None]]:
    head = subject.head
    if head and not head.endswith(b"\n"):
        edit = Edit(len(head), len(head), b"\n")
        message = "The file does not end with a newline; the next pull request would change this line."
        hint = "End the last line with a newline."
        yield Finding(at=len(head) - 1, message=message, hint=hint, edits=(edit,))


def _carriage_returns(subject: Subject) -> Iterator[Finding[int | None]]:
    hint = "Set core.autocrlf to input, and `text eol=lf` for this file in .gitattributes."
    ends = [(offset, line) for offset, line in _lines(subject) if b"\r" in line]
    if not ends:
        return
    first, line = ends[0]
    if all(line.count(b"\r") == 1 and line.endswith(b"\r\n") for _, line in ends):
        edits = tuple(Edit(offset + len(line) - 2, offset + len(line) - 1, b"") for offset, line in ends)
    else:
        edits = ()
    more = f" and on {len(ends) - 1} more" if len(ends) > 1 else ""
    message = f"CR at line {subject.line(first)}{more}: {quote(line)}. Lines end in LF only."
    yield Finding(at=first, message=message, hint=hint, edits=edits)


def _byte_order_marks(subject: Subject) -> Iterator[Finding[int | None]]:
    """Find byte order marks; only a mark at the start of the file is repaired, because an editor put it there."""
    for offset, line in _lines(subject):
        value, _, comment = line.partition(b" #")
        is_link = value.lstrip().startswith(b"pr-link:")  # another rule reports invisible characters in links
        if BOM not in (comment if is_link else line):
            continue
        if line.startswith(BOM) and offset == 0:
            message = "The file starts with an invisible byte order mark (U+FEFF)."
            hint = "Save it as UTF-8 without BOM."
            yield Finding(at=0, message=message, hint=hint, edits=(Edit(0, len(BOM), b""),))
        else:
            message = f"An invisible byte order mark (U+FEFF) at line {subject.line(offset)}: {quote(line.rstrip())}."
            yield Finding(at=offset, message=message, hint="Retype the line.")


def _tabs(subject: Subject) -> Iterator[Finding[int | None]]:
    for offset, line in _lines(subject):
        if b"\t" in line:
            shown = quote(line.rstrip(b"\r\n"))  # keeps a tab at the end, so that the message shows it
            message = f"TAB at line {subject.line(offset)}: {shown}."
            yield Finding(at=offset, message=message, hint='Write spaces; inside "…" a tab is \\t.')


LINE_ENDS = Rule(
    id="line-ends",
    says="Lines end in LF; there is no CR.",
    why="Tools that read text hide the CR; tools that compare bytes do not.",
    check=_carriage_returns,
)

BYTE_ORDER_MARK = Rule(
    id="byte-order-mark",
    says="There is no byte order mark.",
    why="It is invisible, and YAML readers treat it as text.",
    check=_byte_order_marks,
)

RULES: tuple[Rule[[Subject], int | None], ...] = (
    Rule(
        id="conflict-marker",
        says="No line is a conflict marker.",
        why="A leftover marker makes all text after it unreadable.",
        check=find_markers,
    ),
    Rule(
        id="final-newline",
        says="The file ends with a newline.",
        why="Without it the next append changes this entry's last line.",
        check=_final_newline,
    ),
    LINE_ENDS,
    BYTE_ORDER_MARK,
    Rule(
        id="tab",
        says="Lines contain no TAB.",
        why="It cannot indent YAML, and it is invisible inside text.",
        check=_tabs,
    ),
)
