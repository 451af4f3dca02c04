"""Parse CODEOWNERS as GitHub does: find the owners of a path, and the line that names them.

The last matching line wins, even if it names no owner. An unreadable line is skipped and reported; a sign-off is
then required, whatever the other lines say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from infx.errors import InfxError, Level, Problem
from infx.records import record

# GitHub takes the first of these that exists, and ignores a file beyond 3 MB.
LOCATIONS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
MAX_BYTES = 3 * 1024 * 1024

LOGIN = r"[A-Za-z0-9][A-Za-z0-9_-]*"  # managed accounts have a `_`; some old accounts end in `-`
_OWNER = re.compile(
    rf"@{LOGIN}(?:/[A-Za-z0-9._-]+)?(?:\[bot\])?"  # a login or a team
    r"|[^@\s]+@[^@\s]+\.[^@\s]+"  # an e-mail address
)
_UNSUPPORTED = {"!": "negation", "[": "character ranges", "]": "character ranges", "//": "doubled slashes"}
# Quotes, a trailing `,` `:` or `;`, `{a,b}`, `\` for `/`: GitHub reads these as part of a file name.
_FOREIGN = re.compile(r"""["'`].*|.*[,:;]|.*\{[^{}]*,[^{}]*\}.*|.*\\\w.*""")


@record
class OwnerRule:
    """One line of the file."""

    pattern: str
    owners: tuple[str, ...]  # as written: `@login`, `@org/team` or an e-mail address; may be empty
    line: int

    @property
    def is_catch_all(self) -> bool:
        return self.pattern in {"*", "**", "/**", "**/*", "/**/*"}

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return re.compile(_translate(self.pattern), re.DOTALL)

    def matches(self, path: str) -> bool:
        """Return whether the line matches a path, which is relative to the repository's root."""
        return self._expression.fullmatch(path.lstrip("/")) is not None


@record
class CodeOwners:
    """A parsed CODEOWNERS file."""

    path: str
    rules: tuple[OwnerRule, ...]
    problems: tuple[Problem, ...] = ()  # one for each unreadable line

    def find_rule(self, path: str) -> OwnerRule | None:
        """Return the line that decides about a path; None if no line matches."""
        return next((rule for rule in reversed(self.rules) if rule.matches(path)), None)

    @property
    def owners(self) -> frozenset[str]:
        """Return every owner in the file, in lower case: GitHub ignores case."""
        return frozenset(owner.lower() for rule in self.rules for owner in rule.owners)


def parse_codeowners(text: str, path: str) -> CodeOwners:
    """Parse a CODEOWNERS file. Raises InfxError if it names no owner or is too large for GitHub."""
    if len(text.encode()) > MAX_BYTES:
        raise InfxError("The file is larger than 3 MB, so GitHub ignores it.", where=path)
    rules: list[OwnerRule] = []
    problems: list[Problem] = []
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        words = _split(line)
        if not words:
            continue
        pattern, owners = words[0], tuple(words[1:])
        if reason := _find_refusal(pattern, owners):
            problems.append(_make_problem(path, number, reason))
        else:
            rules.append(OwnerRule(pattern=pattern.replace("\\ ", " "), owners=owners, line=number))
    if not any(rule.owners for rule in rules):
        raise InfxError(
            f"The file names no owner for any path.{_describe_first(problems)}",
            where=path,
            hint="Write a pattern and its owners on each line, such as `* @login`.",
        )
    return CodeOwners(path=path, rules=tuple(rules), problems=tuple(problems))


def _split(line: str) -> list[str]:
    """Split a line into words, without its comment. A space after a backslash belongs to the word."""
    words = re.findall(r"(?:\\[ \t]|[^ \t])+", line.strip("\ufeff"))
    comment = next((i for i, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:comment]


def _describe_first(problems: Sequence[Problem]) -> str:
    return f" Line {problems[0].line}: {problems[0].message}" if problems else ""


def _find_refusal(pattern: str, owners: tuple[str, ...]) -> str | None:
    """Return why a line cannot mean what its author intended, as a clause; None if it is readable."""
    unreadable = next((char for word in (pattern, *owners) for char in word if _is_unreadable(char)), None)
    if unreadable:
        return f"it contains the invisible or unreadable character U+{ord(unreadable):04X}"
    if _OWNER.fullmatch(pattern):
        return f"it begins with {pattern!r}, which reads as an owner without a path"
    segments = pattern.strip("/").split("/")
    if segments == [""] or {".", ".."} & set(segments):
        return f"no path can match {pattern!r}"
    for sign, name in _UNSUPPORTED.items():
        if (pattern.startswith(sign)) if sign == "!" else (sign in pattern):
            return f"{name} ({sign}) do not work in CODEOWNERS"
    if pattern.startswith("\\#"):
        return "a pattern cannot start with an escaped #"
    if _FOREIGN.fullmatch(pattern):
        return f"{pattern!r} has characters that GitHub reads as part of the file name"
    invalid = [owner for owner in owners if not _OWNER.fullmatch(owner)]
    if invalid:
        return f"{invalid[0]!r} is not a @login, @org/team or e-mail address"
    return None


def _is_unreadable(char: str) -> bool:
    """Return whether a character is invisible, an unusual space, or a replacement for invalid UTF-8."""
    return char == "\N{REPLACEMENT CHARACTER}" or not (char.isprintable() or char in " \t")


def _make_problem(path: str, line: int, reason: str) -> Problem:
    message = f"This line cannot be read: {reason}."
    hint = "Fix the line. Write a slash before a path that begins with @."
    return Problem(
        rule="codeowners-line", message=message, path=path, line=line, hint=hint, level=Level.WARNING
    )


def _translate(pattern: str) -> str:
    """Translate a pattern into a regular expression for whole paths without a leading slash.

    A slash before the end anchors the pattern at the root. A pattern that matches a folder also matches its
    contents, except for a final `/*`, which matches one level.
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
    """Translate one segment. Stars and question marks match no slash; `**` inside a word equals `*`."""
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
