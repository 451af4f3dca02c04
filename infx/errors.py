"""Errors and problems, in words that a person can act on.

A check returns all its `Problem` values. Code that must stop raises an `InfxError`, whose class sets the exit code of
the process (0 done, 1 refused, 2 usage, 3 unavailable, 4 a bug in infx).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import ClassVar

from infx.records import record


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@record
class Problem:
    """One fault that a check found.

    Attributes:
        rule: id of the rule that found it, such as `pr-link-foreign`.
        message: the fault and the expected state, in one or two sentences that end in a full stop.
        path: as the user named it.
        line: from 1.
        hint: the remedy, in one sentence.
    """

    rule: str
    message: str
    path: str | None = None
    line: int | None = None
    hint: str | None = None
    level: Level = Level.ERROR

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        text = f"{where}: {self.message}" if where else self.message
        return visible(f"{text} {self.hint}" if self.hint else text)


def visible(text: str) -> str:
    """Return the text on one line, with escapes for characters that are invisible or move the cursor."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def sort_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Sort by path, line and rule, and drop duplicates."""
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (p.path or "", p.line or 0, p.rule, p.message))


def has_errors(problems: Iterable[Problem]) -> bool:
    return any(problem.level is Level.ERROR for problem in problems)


def suggest(word: str, choices: Iterable[str]) -> str | None:
    """Return a hint with the names nearest to a misspelled word."""
    import difflib

    names = {name.lower(): name for name in choices}  # capital letters make no difference
    near = [names[name] for name in difflib.get_close_matches(word.lower(), names, n=3, cutoff=0.6)]
    near.sort(key=lambda name: word not in name)  # a name that contains the whole word is the most likely
    return f"Did you mean {' or '.join(near)}?" if near else None


class InfxError(Exception):
    """Raised when a request was understood and is refused."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None, where: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = where

    @property
    def problems(self) -> list[Problem]:
        """The error as a problem, under a rule named after its class."""
        # MissingRevisionError becomes `missing-revision`.
        words = re.findall("[A-Z][a-z]+", type(self).__name__.removesuffix("Error"))
        rule = "-".join(words).lower()
        return [Problem(rule=rule, message=self.message, hint=self.hint, path=self.where)]

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class ProblemsError(InfxError):
    """Raised with all problems that checks found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self._problems = sort_problems(problems)
        super().__init__("; ".join(str(problem) for problem in self._problems))

    @property
    def problems(self) -> list[Problem]:
        return self._problems


class UsageError(InfxError):
    """Raised when the command line or the environment is wrong or incomplete."""

    exit_code = 2


class UnknownNamesError(ProblemsError):
    """Raised with a problem for each name on the command line that does not exist."""

    exit_code = 2


class UnavailableError(InfxError):
    """Raised when GitHub, git, the network or a file is not available or may not be used."""

    exit_code = 3
