"""Foreign text inside our Markdown, and tables of it.

GitHub looks for mentions, references, links and commit ids in the *rendered* text, so escaping alone does not
stop them: a zero-width space does, and so does a code span.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_INVISIBLE = "\u200b"
_BREAK = "&#8203;"  # the same as an entity, so that it can be seen in the source
_MARKUP = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|~&$:=^\"']")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# What becomes a link or a notification when it is rendered: @name, #1, GH-1, http://, www., a commit id.
_TRIGGERS = re.compile(
    r"@|#(?=\w)|\b[Gg][Hh](?=-\d)|\b[A-Za-z]+(?=://)|\b[Ww]{3}(?=\.)|[0-9A-Fa-f]{6}(?=[0-9A-Fa-f])"
)


def code(text: str) -> str:
    """A foreign value (a path, a label, a branch) as a code span: inert, whatever backticks it holds."""
    flat = _flatten(text)
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if not flat.strip("`") or flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{pad}{flat}{pad}{fence}" if flat else "*(empty)*"


def table_code(text: str) -> str:
    """The same inside a table, where a bar ends the cell even within code."""
    return code(text).replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], marks: Sequence[str] = ()) -> str:
    """Return a table of cells that are Markdown already. marks: of each column, such as `--:` for numbers."""
    lines = [heads, marks or ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def foreign(text: str) -> str:
    """Foreign words as one paragraph of plain text: no markup, no HTML, no link, and nobody is notified."""
    return "".join(_escape(part) for part in _split_triggers(_flatten(text)))


def prose(text: str) -> str:
    """Our own sentence with foreign words in it: what stands in backticks becomes code that can be copied, the
    rest plain text. Nothing that a foreign word holds can be more than one of the two.
    """
    parts = re.split(r"( ?`[^`]+` ?)", _flatten(text))
    return "".join(_code_between(part) if index % 2 else foreign(part) for index, part in enumerate(parts))


def _code_between(part: str) -> str:
    before, word, after = part.split("`")
    return f"{' ' if before else ''}{code(word)}{' ' if after else ''}"


def fenced(text: str, language: str = "") -> str:
    """Our own lines (commands, excerpts) as a code block that nothing inside can end."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _flatten(text: str) -> str:
    """One line without control characters or marks that reorder it."""
    kept = (" " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c for c in text)
    return " ".join("".join(c for c in kept if unicodedata.category(c) not in {"Cf", "Cs"}).split())


def _split_triggers(text: str) -> list[str]:
    """The text cut behind every character that could start a link, with the breaks between."""
    parts, position = [], 0
    for match in _TRIGGERS.finditer(text):
        parts += [text[position : match.end()], _INVISIBLE]
        position = match.end()
    return [*parts, text[position:]]


def _escape(text: str) -> str:
    if text == _INVISIBLE:
        return _BREAK
    return _MARKUP.sub(lambda m: _ENTITIES.get(m[0], f"\\{m[0]}"), text)
