"""Rules and their findings in files: one form for every check that consists of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, ParamSpec, TypeAlias, TypeVar

from infx.errors import Level, Problem
from infx.records import record, replace

_P = ParamSpec("_P")
_At_co = TypeVar("_At_co", covariant=True)

Path: TypeAlias = tuple[str | int, ...]  # keys and indices that lead to a value of a document


class Edit(NamedTuple):
    """The bytes that a repair writes instead of a file's bytes from `start` to `end`."""

    start: int
    end: int
    data: bytes


@record
class Finding(Generic[_At_co]):
    """One fault that a rule found.

    Attributes:
        at: its position: an offset in bytes, or the path to a value.
        message: the fault and the expected state.
        hint: the remedy.
        rule: id of the rule; `Rule.find` fills it in.
        level: of this finding; None for the level of its rule.
        edits: the repair, if it is certain.
    """

    at: _At_co
    message: str
    hint: str | None = None
    rule: str = ""
    level: Level | None = None
    edits: tuple[Edit, ...] = ()

    def as_problem(self, path: str, line: int | None) -> Problem:
        """Return the finding as a problem of a file."""
        level = self.level or Level.ERROR
        return Problem(
            rule=self.rule, message=self.message, path=path, line=line, hint=self.hint, level=level
        )


@record
class Rule(Generic[_P, _At_co]):
    """One rule of a table.

    Attributes:
        id: the name of its problems.
        check: finds the faults that break the rule.
        level: of findings that have no level of their own.
        says: the rule, for the documentation. A test compares this and the next three fields with the pages.
        why: the reason.
        example: a text that breaks the rule.
        instead: the corrected text.
    """

    id: str
    check: Callable[_P, Iterable[Finding[_At_co]]]
    level: Level = Level.ERROR
    says: str = ""
    why: str = ""
    example: str = ""
    instead: str = ""

    def find(self, *args: _P.args, **kwargs: _P.kwargs) -> Iterator[Finding[_At_co]]:
        """Find the faults that break the rule, under its id."""
        return find_all((self,), *args, **kwargs)


def find_all(
    rules: Iterable[Rule[_P, _At_co]], *args: _P.args, **kwargs: _P.kwargs
) -> Iterator[Finding[_At_co]]:
    """Find the faults that break any of the rules, rule by rule."""
    for rule in rules:
        for finding in rule.check(*args, **kwargs):
            yield replace(finding, rule=rule.id, level=finding.level or rule.level)
