"""Cut Markdown to a limit, and close everything that the cut leaves open, so that it still renders."""

from __future__ import annotations

import re
from collections.abc import Callable

NOTICE = "\n*Cut here: the rest did not fit.*\n"

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})(.*)")
_TAG = re.compile(r"<!--|-->|<details\b|</details\s*>", re.IGNORECASE)


def count_bytes(text: str) -> int:
    """Return the length in bytes, which limits files."""
    return len(text.encode(errors="replace"))


def shorten(text: str, room: int, *, measure: Callable[[str], int] = len, notice: str = NOTICE) -> str:
    """Return at most `room` of the text, as `measure` counts it: whole lines, their open parts closed, and a notice.

    If not even the notice fits, return an empty text.
    """
    # A line is never split: text inside half of a code span would become markup again.
    if measure(text) <= room:
        return text
    room -= measure(notice)
    if room < 0:
        return ""
    kept, used, state, best = 0, 0, _Open(), (0, "")
    for line in text.splitlines(keepends=True):
        state.read(line)
        kept, used = kept + len(line), used + measure(line)
        if used > room:
            break
        closing = state.closing()
        if used + measure(closing) <= room:
            best = (kept, closing)
    end, closing = best
    return text[:end] + closing + notice


class _Open:
    """The parts that the lines read so far leave open: a code fence, an HTML comment, details."""

    def __init__(self) -> None:
        self.fence = self.indent = ""
        self.comment = False
        self.details = 0

    def read(self, line: str) -> None:
        match = None if self.comment else _FENCE.fullmatch(line.rstrip("\r\n"))
        if self.fence:
            if match and match[2].startswith(self.fence) and not match[3].strip():
                self.fence = ""
        elif match and not (match[2][0] == "`" and "`" in match[3]):
            self.indent, self.fence = match[1], match[2]
        else:
            for tag in _TAG.findall(line):
                self._read_tag(tag.lower())

    def _read_tag(self, tag: str) -> None:
        if self.comment or tag == "-->":
            self.comment = self.comment and tag != "-->"
        elif tag == "<!--":
            self.comment = True
        elif tag == "<details":
            self.details += 1
        else:
            self.details = max(self.details - 1, 0)

    def closing(self) -> str:
        fence = f"{self.indent}{self.fence}\n" if self.fence else ""
        comment = "-->\n" if self.comment else ""
        return fence + comment + "\n</details>\n" * self.details
