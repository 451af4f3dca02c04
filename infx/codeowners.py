"""CODEOWNERS as GitHub reads it: who owns a path, by which line.

The last matching line wins, also when it names nobody. A line that cannot be read as it was meant is skipped and
reported: somebody must sign whatever the others say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from infx.errors import InfxError, Level, Problem

# GitHub takes the first of these that exists, and ignores a file beyond 3 MB.
LOCATIONS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
MAX_BYTES = 3 * 1024 * 1024

LOGIN = r"[A-Za-z0-9][A-Za-z0-9_-]*"  # of a managed account with `_`; of an old one it may end in `-`
_OWNER = re.compile(
    rf"@{LOGIN}(?:/[A-Za-z0-9._-]+)?(?:\[bot\])?"  # a login or a team
    r"|[^@\s]+@[^@\s]+\.[^@\s]+"  # an e-mail address
)
_UNSUPPORTED = {"!": "negation", "[": "character ranges", "]": "character ranges", "//": "doubled slashes"}
# Quotes, a sign behind, `{a,b}`, `\` for `/`: to GitHub all of them belong to a name that no file has.
_FOREIGN = re.compile(r"""["'`].*|.*[,:;]|.*\{[^{}]*,[^{}]*\}.*|.*\\\w.*""")


@dataclass(frozen=True, kw_only=True)
class OwnerRule:
    """One line. owners: as written, `@login`, `@org/team` or an e-mail address; empty: nobody owns it."""

    pattern: str
    owners: tuple[str, ...]
    line: int

    @property
    def is_catch_all(self) -> bool:
        return self.pattern in {"*", "**", "/**", "**/*", "/**/*"}

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return re.compile(_translate(self.pattern), re.DOTALL)

    def matches(self, path: str) -> bool:
        """path: from the root of the repository, with a slash in front or without."""
        return self._expression.fullmatch(path.lstrip("/")) is not None


@dataclass(frozen=True, kw_only=True)
class CodeOwners:
    """A parsed file; `problems` are the lines that cannot be read."""

    path: str
    rules: tuple[OwnerRule, ...]
    problems: tuple[Problem, ...] = ()

    def rule_for(self, path: str) -> OwnerRule | None:
        """The line that decides about a path, None if no line speaks of it."""
        return next((rule for rule in reversed(self.rules) if rule.matches(path)), None)

    @property
    def owners(self) -> frozenset[str]:
        """Everybody whom some line names, in lower case: GitHub does not tell cases apart."""
        return frozenset(owner.lower() for rule in self.rules for owner in rule.owners)


def parse_codeowners(text: str, path: str) -> CodeOwners:
    """Raises InfxError for a file that names nobody at all or that GitHub would ignore for its size."""
    if len(text.encode()) > MAX_BYTES:
        raise InfxError("The file is larger than 3 MB, so GitHub ignores it.", where=path)
    rules: list[OwnerRule] = []
    problems: list[Problem] = []
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        words = _split(line)
        if not words:
            continue
        pattern, owners = words[0], tuple(words[1:])
        if reason := _refusal(pattern, owners):
            problems.append(_unreadable(path, number, reason))
        else:
            rules.append(OwnerRule(pattern=pattern.replace("\\ ", " "), owners=owners, line=number))
    if not any(rule.owners for rule in rules):
        raise InfxError(
            f"The file names nobody for anything, so nobody owns anything.{_say(problems)}",
            where=path,
            hint="Give each line a pattern and then its owners, such as `* @login`.",
        )
    return CodeOwners(path=path, rules=tuple(rules), problems=tuple(problems))


def _split(line: str) -> list[str]:
    """The words of a line without its comment; a blank after a backslash belongs to the word."""
    words = re.findall(r"(?:\\[ \t]|[^ \t])+", line.strip("\ufeff"))
    comment = next((i for i, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:comment]


def _say(problems: Sequence[Problem]) -> str:
    return f" Line {problems[0].line}: {problems[0].message}" if problems else ""


def _refusal(pattern: str, owners: tuple[str, ...]) -> str | None:
    """Why a line does not say whom it was meant to name, a clause; None if it does."""
    if strange := next((char for word in (pattern, *owners) for char in word if _is_strange(char)), None):
        return f"it holds the invisible or unreadable character U+{ord(strange):04X}"
    if _OWNER.fullmatch(pattern):
        return f"it begins with {pattern!r}, which reads as an owner without a path"
    segments = pattern.strip("/").split("/")
    if segments == [""] or {".", ".."} & set(segments):
        return f"no path is like {pattern!r}"
    for sign, name in _UNSUPPORTED.items():
        if (pattern.startswith(sign)) if sign == "!" else (sign in pattern):
            return f"{name} ({sign}) do not work in CODEOWNERS"
    if pattern.startswith("\\#"):
        return "a pattern cannot start with an escaped #"
    if _FOREIGN.fullmatch(pattern):
        return f"{pattern!r} has signs that GitHub takes for a part of the name"
    strangers = [owner for owner in owners if not _OWNER.fullmatch(owner)]
    if strangers:
        return f"{strangers[0]!r} is no @login, @org/team or e-mail address"
    return None


def _is_strange(char: str) -> bool:
    """Blanks that part no words, what nobody sees, and what stands for bytes that are no UTF-8."""
    return char == "\N{REPLACEMENT CHARACTER}" or not (char.isprintable() or char in " \t")


def _unreadable(path: str, line: int, reason: str) -> Problem:
    message = f"This line cannot be read: {reason}."
    hint = "Mend it; a path that begins with @ takes a slash in front."
    return Problem(
        rule="codeowners-line", message=message, path=path, line=line, hint=hint, level=Level.WARNING
    )


def _translate(pattern: str) -> str:
    """A pattern as a regular expression over whole paths (no leading slash).

    A slash before the end anchors it at the root; what matches a folder owns the folder's contents, except for
    `/*` at the end, which stays on its level.
    """
    anchored = "/" in pattern.rstrip("/")
    folder_only = pattern.endswith("/")
    segments = [segment for segment in pattern.split("/") if segment]
    if not segments:
        return r"(?!)"
    parts = [] if anchored else [r"(?:.*/)?"]
    parts += [
        r"(?:.*/)?" if segment == "**" else _translate_segment(segment) + "/" for segment in segments[:-1]
    ]
    last = segments[-1]
    parts.append(".+" if last == "**" else _translate_segment(last))
    if folder_only:
        parts.append("/.+")
    elif last != "**" and not (anchored and last == "*"):
        parts.append("(?:/.+)?")
    return "".join(parts)


def _translate_segment(segment: str) -> str:
    """Stars and question marks stay inside their segment; `**` inside a word is no more than `*`."""
    if re.fullmatch(r"\*+", segment):
        return "[^/]+"
    pieces = re.findall(r"\*+|\?|\\.|[^*?\\]+|\\", segment)
    return "".join(_translate_piece(piece) for piece in pieces)


def _translate_piece(piece: str) -> str:
    if piece.startswith("*"):
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    return re.escape(piece[1:] if len(piece) == 2 and piece.startswith("\\") else piece)
