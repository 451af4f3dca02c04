"""A comment cut to GitHub's limit, with everything closed that the cut left open."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CUT = "\n*Cut here: {count} characters did not fit. 以下内容过长，已截断。*\n"
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})(.*)$")  # in a quote the end of the quote closes it
_TAG = re.compile(r"<(/?)details\b[^>]*>", re.IGNORECASE)


@dataclass(frozen=True)
class _Open:
    """What is open at the end of a line: fences, `<details>` and comments, innermost last."""

    stack: tuple[str, ...] = ()

    def after(self, line: str) -> _Open:
        if self.stack and self.stack[-1] == "-->":
            return self if "-->" not in line else _Open(self.stack[:-1]).after(line.split("-->", 1)[1])
        fence = _FENCE.match(line)
        if self.stack and (inner := self.stack[-1].strip())[0] in "`~":
            ends = fence and fence[2].startswith(inner) and not fence[3].strip()
            return _Open(self.stack[:-1]) if ends else self
        if fence and not (fence[2][0] == "`" and "`" in fence[3]):
            return _Open((*self.stack, fence[1] + fence[2]))  # closed at its own indentation
        return self._after_html(line)

    def _after_html(self, line: str) -> _Open:
        stack, text = self.stack, re.sub(r"<!--.*?-->", "", line)
        for tag in _TAG.finditer(text):
            if not tag[1]:
                stack = (*stack, "</details>")
            elif stack and stack[-1] == "</details>":
                stack = stack[:-1]
        return _Open((*stack, "-->")) if "<!--" in text else _Open(stack)

    def closing(self) -> str:
        return "".join(f"\n{part}\n" for part in reversed(self.stack))


def fit(body: str, limit: int) -> str:
    """The body in at most `limit` characters: whole lines, open code blocks and details closed, and a note that
    says how much is missing. Whatever fits is returned as it is.
    """
    if len(body) <= limit:
        return body
    best, size, state = "", 0, _Open()
    for line in body.splitlines(keepends=True):
        size += len(line)
        state = state.after(line.rstrip("\r\n"))
        tail = state.closing() + _CUT.format(count=len(body) - size)
        if size + len(tail) > limit:
            break
        best = body[:size] + tail
    return best or _CUT.format(count=len(body)).lstrip()
