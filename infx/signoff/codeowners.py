"""CODEOWNERS as GitHub reads it: who owns a path, by which line.

The last matching line wins, also when it names nobody. Lines that GitHub skips are skipped and reported.
"""

from __future__ import annotations

import re
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


@dataclass(frozen=True, kw_only=True)
class Rule:
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
        return self._expression.fullmatch(path) is not None


@dataclass(frozen=True, kw_only=True)
class CodeOwners:
    """A parsed file; `problems` are the lines that GitHub skips."""

    path: str
    rules: tuple[Rule, ...]
    problems: tuple[Problem, ...] = ()

    def rule_for(self, path: str) -> Rule | None:
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
    rules: list[Rule] = []
    problems: list[Problem] = []
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        words = _split(line)
        if not words:
            continue
        pattern, owners = words[0], tuple(words[1:])
        if reason := _refusal(pattern, owners):
            problems.append(_skipped(path, number, reason))
        else:
            rules.append(Rule(pattern=pattern.replace("\\ ", " "), owners=owners, line=number))
    if not rules:
        raise InfxError("The file has no line that GitHub would use, so nobody owns anything.", where=path)
    return CodeOwners(path=path, rules=tuple(rules), problems=tuple(problems))


def _split(line: str) -> list[str]:
    """The words of a line without its comment; a blank after a backslash belongs to the word."""
    words = re.findall(r"(?:\\[ \t]|[^ \t])+", line.strip("\ufeff"))
    comment = next((i for i, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:comment]


def _refusal(pattern: str, owners: tuple[str, ...]) -> str | None:
    for sign, name in _UNSUPPORTED.items():
        if (pattern.startswith(sign)) if sign == "!" else (sign in pattern):
            return f"{name} ({sign}) do not work in CODEOWNERS"
    if pattern.startswith("\\#"):
        return "a pattern cannot start with an escaped #"
    strangers = [owner for owner in owners if not _OWNER.fullmatch(owner)]
    if strangers:
        return f"{strangers[0]!r} is no @login, @org/team or e-mail address"
    return None


def _skipped(path: str, line: int, reason: str) -> Problem:
    message = f"GitHub skips this line: {reason}."
    return Problem(
        rule="codeowners-line", message=message, path=path, line=line, hint="Mend it.", level=Level.WARNING
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
