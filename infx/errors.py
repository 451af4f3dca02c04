"""What can go wrong, in words a person can act on.

A check returns `Problem` values, all of them; whoever must stop raises an `InfxError`, whose class says with
which exit code the process ends (0 done, 1 refused, 2 usage, 3 unavailable, 4 a bug in infx).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that is wrong.

    rule: id of the rule that found it, such as `pr-link-foreign`.
    message: what is wrong and what was expected, one or two sentences, each ending in a full stop.
    path, line: where; `path` as the user named it, `line` counted from 1.
    hint: what to do, one sentence.
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
    """Text on one line in which nothing moves the cursor or hides, whoever wrote it: others become escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def sort_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Order by path, line, rule; equal problems are said once."""
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (p.path or "", p.line or 0, p.rule, p.message))


def has_errors(problems: Iterable[Problem]) -> bool:
    return any(problem.level is Level.ERROR for problem in problems)


def suggest(word: str, choices: Iterable[str]) -> str | None:
    """A hint with the names nearest to a misspelt one."""
    import difflib

    names = {name.lower(): name for name in choices}  # who writes in capitals means the same
    near = [names[name] for name in difflib.get_close_matches(word.lower(), names, n=3, cutoff=0.6)]
    near.sort(key=lambda name: word not in name)  # a name that holds the whole word is the likeliest
    return f"Did you mean {' or '.join(near)}?" if near else None


class InfxError(Exception):
    """The request was understood and is refused."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None, where: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = where

    @property
    def problems(self) -> list[Problem]:
        """The rule is the class's name: `missing-revision` of MissingRevisionError."""
        words = re.findall("[A-Z][a-z]+", type(self).__name__.removesuffix("Error"))
        rule = "-".join(words).lower()
        return [Problem(rule=rule, message=self.message, hint=self.hint, path=self.where)]

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class ProblemsError(InfxError):
    """Checks found problems; carries every one of them."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self._problems = sort_problems(problems)
        super().__init__("; ".join(str(problem) for problem in self._problems))

    @property
    def problems(self) -> list[Problem]:
        return self._problems


class UsageError(InfxError):
    """The command line or the environment does not say what is needed."""

    exit_code = 2


class UnknownNamesError(ProblemsError):
    """The command line names things that do not exist; carries a problem for each."""

    exit_code = 2


class UnavailableError(InfxError):
    """GitHub, git, the network or a file cannot be had, or may not be used."""

    exit_code = 3
