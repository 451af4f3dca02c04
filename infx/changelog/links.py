"""Read the meaning of a `pr-link` value: this pull request, another pull request, or unreadable."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from enum import StrEnum

from infx.records import record

# Words that people write with the number of a pull request, as in "PR #77" or "issues/77".
_REFERENCE_WORDS = {"pr", "prs", "pull", "pulls", "request", "issue", "issues", "gh", "no", "number"}
_PULL_SEGMENTS = {"pull", "pulls", "issues"}
_BLANKS = " \t\r\n"
# Invisible characters that Unicode does not class as format or blank: joiners, selectors, fillers.
_SELECTORS = (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
_UNSEEN = {*"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", *map(chr, _SELECTORS)}
_NAME = r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+"


def find_invisible(text: str) -> str:
    """Return the invisible characters of a text, apart from plain blanks, in order."""
    return "".join(char for char in text if _is_invisible(char))


def remove_invisible(text: str) -> str:
    return text if text.isascii() else "".join(char for char in text if not _is_invisible(char))


def _is_invisible(char: str) -> bool:
    return not char.isascii() and (char in _UNSEEN or unicodedata.category(char) in {"Cc", "Cf", "Zs"})


class Meaning(StrEnum):
    CANONICAL = "canonical"
    PLACEHOLDER = "placeholder"  # one of the accepted spellings
    WORD = "word"  # contains no number and no other repository, so it can only mean this pull request
    MISSHAPEN = (
        "misshapen"  # a pull request of this repository, not in the canonical form, or with hidden characters
    )
    FOREIGN = "foreign"  # another repository
    UNREADABLE = "unreadable"


@record
class Reference:
    """The meaning of a link's text."""

    meaning: Meaning
    number: int | None = None  # only for CANONICAL and MISSHAPEN
    repository: str | None = None  # only for FOREIGN; may be a host


@record
class PullLinks:
    """The link forms of one repository.

    Attributes:
        repository: `owner/name`; None if unknown, and then every repository on the server counts as this one.
        placeholders: words from the policy.
        former_names: earlier names of the repository.
    """

    server: str
    repository: str | None
    placeholders: tuple[str, ...]
    former_names: tuple[str, ...] = ()

    def canonical(self, number: int | str, repository: str | None = None) -> str:
        return f"{self.server}/{repository or self.repository or '<owner>/<name>'}/pull/{number}"

    @property
    def accepted(self) -> list[str]:
        """All spellings of a placeholder for this pull request."""
        return [form for word in self.placeholders for form in (word, self.canonical(word))]

    def read(self, text: str) -> Reference:
        """Return the meaning of a value, ignoring blanks around it."""
        if (visible_text := remove_invisible(text)) != text:
            return _never_canonical(self.read(visible_text))
        text = text.strip(_BLANKS)
        if text in self.accepted:
            return Reference(meaning=Meaning.PLACEHOLDER)
        if (number := self._own_number(text)) is not None:
            return Reference(meaning=Meaning.CANONICAL, number=number)
        place, path = self._split(text)
        if place is not None and not self._is_own(place):
            return Reference(meaning=Meaning.FOREIGN, repository=place)
        if self.repository is None and place is not None:  # every repository counts as this one
            reference = replace(self, repository=place).read(text)
            if reference.meaning in {Meaning.PLACEHOLDER, Meaning.CANONICAL}:
                return reference
        return _read_number(path)

    def _own_number(self, text: str) -> int | None:
        """Return the number of a canonical link, without testing other link forms; else None."""
        start = self.canonical("")
        if self.repository is None or not text.startswith(start):
            return None
        digits = text.removeprefix(start)
        is_number = digits.isascii() and digits.isdigit() and digits[0] != "0" and len(digits) < 19
        return int(digits) if is_number else None

    def _is_own(self, place: str) -> bool:
        """Return whether a name is this repository's, ignoring case as GitHub does."""
        names = {name.lower() for name in (self.repository, *self.former_names) if name}
        return place.lower() in names or (self.repository is None and bool(re.fullmatch(_NAME, place)))

    def _split(self, text: str) -> tuple[str | None, str]:
        """Return (repository or host that the text names, remaining text)."""
        host = self.server.partition("://")[2]
        bare = re.sub(r"^https?://", "", text, flags=re.IGNORECASE)
        bare = re.sub(r"^www\.", "", bare, flags=re.IGNORECASE)
        if bare.lower().startswith(f"{host.lower()}/"):
            owner, _, name_and_path = bare[len(host) + 1 :].partition("/")
            name, _, path = name_and_path.partition("/")
            return f"{owner}/{name}", path
        if bare != text:
            return bare.partition("/")[0], ""
        if short := re.fullmatch(r"([\w.-]+/[\w.-]+)(#.*)", text):
            return short[1], short[2]
        return None, text


def _never_canonical(reference: Reference) -> Reference:
    """Return the meaning of a text with invisible characters."""
    # Other tools compare the text with these characters, so it is never canonical for them.
    worse = {Meaning.CANONICAL: Meaning.MISSHAPEN, Meaning.PLACEHOLDER: Meaning.WORD}
    return replace(reference, meaning=worse.get(reference.meaning, reference.meaning))


def _read_number(path: str) -> Reference:
    """Read the number in `pull/77/files`, `77`, `#77` or `PR 77`; without a number, or with zero, it is a word.

    A number in non-ASCII digits or in escapes is unreadable.
    """
    kind, slash, after = path.partition("/")
    if kind.lower() in _PULL_SEGMENTS and slash:
        path = re.split(r"[/?#]", after.lstrip("/?#"), maxsplit=1)[0]
    if "%" in path or any(char.isnumeric() and not char.isascii() for char in path):
        return Reference(meaning=Meaning.UNREADABLE)
    digits = re.findall(r"\d+", path, re.ASCII)
    is_reference = {word.lower() for word in re.findall(r"[^\W\d_]+", path)} <= _REFERENCE_WORDS
    if len(digits) == 1 and is_reference and 0 < len(digits[0]) < 19 and int(digits[0]):
        return Reference(meaning=Meaning.MISSHAPEN, number=int(digits[0]))
    is_word = "/" not in path and (not digits or (is_reference and not int("".join(digits))))
    return Reference(meaning=Meaning.WORD if is_word else Meaning.UNREADABLE)
