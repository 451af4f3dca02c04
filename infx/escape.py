"""Escape foreign text for infx's own Markdown, and render tables and code.

GitHub looks for mentions, references, links and commit ids in the *rendered* text. Escapes therefore do not stop them,
but a zero-width space or a code span does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_INVISIBLE = "\u200b"
_BREAK = "&#8203;"  # the same as an entity, which is visible in the source
_MARKUP = r"[\\`*_{}\[\]()<>#+\-.!|~&$:=^\"']"
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# Text that GitHub renders as a link or a mention: @name, #1, GH-1, http://, www., a commit id.
_TRIGGERS = r"@|#(?=\w)|\b[Gg][Hh](?=-\d)|\b[A-Za-z]+(?=://)|\b[Ww]{3}(?=\.)|[0-9A-Fa-f]{6}(?=[0-9A-Fa-f])"


def code(text: str) -> str:
    """Render a foreign value (a path, a label, a branch) as a code span, whatever backticks it contains."""
    flat = _flatten(text)
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if not flat.strip("`") or flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{pad}{flat}{pad}{fence}" if flat else "*(empty)*"


def table_code(text: str) -> str:
    """Render a code span inside a table, where a bar would end the cell."""
    return code(text).replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], marks: Sequence[str] = ()) -> str:
    """Render a table of cells that are Markdown already. marks: one per column, such as `--:` for numbers."""
    lines = [heads, marks or ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def foreign(text: str) -> str:
    """Render foreign words as one paragraph of plain text, without markup, HTML, links or mentions."""
    return "".join(_escape(part) for part in _split_triggers(_flatten(text)))


def prose(text: str) -> str:
    """Render infx's own sentence with foreign words: text in backticks as code, everything else as plain text."""
    parts = re.split(r"( ?`[^`]+` ?)", _flatten(text))
    return "".join(_code_between(part) if index % 2 else foreign(part) for index, part in enumerate(parts))


def _code_between(part: str) -> str:
    before, word, after = part.split("`")
    return f"{' ' if before else ''}{code(word)}{' ' if after else ''}"


def fenced(text: str, language: str = "") -> str:
    """Render lines (commands, excerpts) as a code block that no line inside can end."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _flatten(text: str) -> str:
    """Return the text on one line, without control characters and without marks that reorder it."""
    kept = (" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text)
    return " ".join("".join(c for c in kept if unicodedata.category(c) not in {"Cf", "Cs"}).split())


def _split_triggers(text: str) -> list[str]:
    """Split the text after every character that could start a link, with breaks between the parts."""
    parts, position = [], 0
    for match in re.finditer(_TRIGGERS, text):
        parts += [text[position : match.end()], _INVISIBLE]
        position = match.end()
    return [*parts, text[position:]]


def _escape(text: str) -> str:
    if text == _INVISIBLE:
        return _BREAK
    return re.sub(_MARKUP, lambda m: _ENTITIES.get(m[0], f"\\{m[0]}"), text)
