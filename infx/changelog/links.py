"""What the value of a `pr-link` means: this pull request, another one, or nothing that can be told."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import StrEnum

# Words that people write beside the number of a pull request, as in "PR #77" or "issues/77".
_REFERENCE_WORDS = {"pr", "prs", "pull", "pulls", "request", "issue", "issues", "gh", "no", "number"}
_PULL_SEGMENTS = {"pull", "pulls", "issues"}
_BLANKS = " \t\r\n"
# Characters that show nothing and that Unicode does not call a format or a blank: joiners, selectors, fillers.
_SELECTORS = (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
_UNSEEN = {*"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", *map(chr, _SELECTORS)}
_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def find_invisible(text: str) -> str:
    """Return the characters of a text that nobody can see, apart from plain blanks, in order."""
    return "".join(char for char in text if _is_invisible(char))


def remove_invisible(text: str) -> str:
    return text if text.isascii() else "".join(char for char in text if not _is_invisible(char))


def _is_invisible(char: str) -> bool:
    return not char.isascii() and (char in _UNSEEN or unicodedata.category(char) in {"Cc", "Cf", "Zs"})


class Meaning(StrEnum):
    CANONICAL = "canonical"
    PLACEHOLDER = "placeholder"  # one of the accepted spellings
    WORD = "word"  # names no number and no other place, so it can only stand for this pull request
    MISSHAPEN = (
        "misshapen"  # a pull request of this repository, not in the canonical form, or with hidden characters
    )
    FOREIGN = "foreign"  # another repository
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Reference:
    """`number` is there for CANONICAL and MISSHAPEN, `repository` (or a host) for FOREIGN."""

    meaning: Meaning
    number: int | None = None
    repository: str | None = None


@dataclass(frozen=True, kw_only=True)
class PullLinks:
    """The link forms of one repository.

    repository: `owner/name`; None where nobody said, and then every repository on the server counts as ours.
    former_names: what it was called before. placeholders: words, from the policy.
    """

    server: str
    repository: str | None
    placeholders: tuple[str, ...]
    former_names: tuple[str, ...] = ()

    def canonical(self, number: int | str, repository: str | None = None) -> str:
        return f"{self.server}/{repository or self.repository or '<owner>/<name>'}/pull/{number}"

    @property
    def accepted(self) -> list[str]:
        """Every spelling of "this pull request, whatever its number will be"."""
        return [form for word in self.placeholders for form in (word, self.canonical(word))]

    def read(self, text: str) -> Reference:
        """What a value means; blanks around it are no part of it."""
        if (seen := remove_invisible(text)) != text:
            return _never_canonical(self.read(seen))
        text = text.strip(_BLANKS)
        if text in self.accepted:
            return Reference(Meaning.PLACEHOLDER)
        if (number := self._own_number(text)) is not None:
            return Reference(Meaning.CANONICAL, number)
        place, path = self._split(text)
        if place is not None and not self._is_ours(place):
            return Reference(Meaning.FOREIGN, repository=place)
        if self.repository is None and place is not None:  # any repository will do
            reference = replace(self, repository=place).read(text)
            if reference.meaning in {Meaning.PLACEHOLDER, Meaning.CANONICAL}:
                return reference
        return _read_number(path)

    def _own_number(self, text: str) -> int | None:
        """Of a canonical link; told without the search for everything else that a link could be."""
        start = self.canonical("")
        if self.repository is None or not text.startswith(start):
            return None
        digits = text.removeprefix(start)
        is_number = digits.isascii() and digits.isdigit() and digits[0] != "0" and len(digits) < 19
        return int(digits) if is_number else None

    def _is_ours(self, place: str) -> bool:
        """GitHub does not tell upper and lower case apart in names."""
        names = {name.lower() for name in (self.repository, *self.former_names) if name}
        return place.lower() in names or (self.repository is None and bool(_NAME.fullmatch(place)))

    def _split(self, text: str) -> tuple[str | None, str]:
        """(repository or host that the text names, the rest of it)."""
        host = self.server.partition("://")[2]
        bare = re.sub(r"^https?://", "", text, flags=re.IGNORECASE)
        bare = re.sub(r"^www\.", "", bare, flags=re.IGNORECASE)
        if bare.lower().startswith(f"{host.lower()}/"):
            owner, _, rest = bare[len(host) + 1 :].partition("/")
            name, _, path = rest.partition("/")
            return f"{owner}/{name}", path
        if bare != text:
            return bare.partition("/")[0], ""
        if short := re.fullmatch(r"([\w.-]+/[\w.-]+)(#.*)", text):
            return short[1], short[2]
        return None, text


def _never_canonical(reference: Reference) -> Reference:
    """What a text with invisible characters means, which others read as another text."""
    worse = {Meaning.CANONICAL: Meaning.MISSHAPEN, Meaning.PLACEHOLDER: Meaning.WORD}
    return replace(reference, meaning=worse.get(reference.meaning, reference.meaning))


def _read_number(path: str) -> Reference:
    """The number in `pull/77/files`, `77`, `#77` or `PR 77`; a word where there is none, or none but zero.

    A number in other digits than ASCII's, or in escapes, is not read, and not taken for a word either.
    """
    kind, slash, rest = path.partition("/")
    if kind.lower() in _PULL_SEGMENTS and slash:
        path = re.split(r"[/?#]", rest.lstrip("/?#"), maxsplit=1)[0]
    if "%" in path or any(char.isnumeric() and not char.isascii() for char in path):
        return Reference(Meaning.UNREADABLE)
    digits = re.findall(r"\d+", path, re.ASCII)
    named = {word.lower() for word in re.findall(r"[^\W\d_]+", path)} <= _REFERENCE_WORDS
    if len(digits) == 1 and named and 0 < len(digits[0]) < 19 and int(digits[0]):
        return Reference(Meaning.MISSHAPEN, int(digits[0]))
    is_word = "/" not in path and (not digits or (named and not int("".join(digits))))
    return Reference(Meaning.WORD if is_word else Meaning.UNREADABLE)
