"""Rules, and what they find in files: one form of both, for every check that is made of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, ParamSpec, TypeAlias, TypeVar

from infx.errors import Level, Problem

_P = ParamSpec("_P")
_At_co = TypeVar("_At_co", covariant=True)

Path: TypeAlias = tuple[str | int, ...]  # the way to a value of a document: keys and indices


@dataclass(frozen=True)
class Edit:
    """Bytes of a file that a repair puts in place of those from `start` to `end`."""

    start: int
    end: int
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Finding(Generic[_At_co]):
    """One thing that a rule found.

    Attributes:
        at: where, as the rule sees its subject: an offset in bytes, or the way to a value.
        message: what is wrong and what was expected.
        hint: what to do.
        rule: id of the rule; `Rule.find` fills it in.
        level: as of this finding; without one, that of its rule.
        edits: the repair, where it is certain.
    """

    at: _At_co
    message: str
    hint: str | None = None
    rule: str = ""
    level: Level | None = None
    edits: tuple[Edit, ...] = ()

    def as_problem(self, path: str, line: int | None) -> Problem:
        """Return what was found as a problem of a file."""
        level = self.level or Level.ERROR
        return Problem(
            rule=self.rule, message=self.message, path=path, line=line, hint=self.hint, level=level
        )


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[_P, _At_co]):
    """One rule of a table.

    Attributes:
        id: what its problems are called.
        check: finds what breaks the rule.
        level: of its findings that have none of their own.
        says, why, example, instead: for the documentation, which quotes them; a test compares.
    """

    id: str
    check: Callable[_P, Iterable[Finding[_At_co]]]
    level: Level = Level.ERROR
    says: str = ""
    why: str = ""
    example: str = ""
    instead: str = ""

    def find(self, *args: _P.args, **kwargs: _P.kwargs) -> Iterator[Finding[_At_co]]:
        """Return what breaks the rule, under its id."""
        for finding in self.check(*args, **kwargs):
            yield replace(finding, rule=self.id, level=finding.level or self.level)


def find_all(
    rules: Iterable[Rule[_P, _At_co]], *args: _P.args, **kwargs: _P.kwargs
) -> Iterator[Finding[_At_co]]:
    """Return what breaks any of the rules, rule after rule."""
    for rule in rules:
        yield from rule.find(*args, **kwargs)
