"""Where the facts of a pull request come from: asked for it alone, or for all pull requests of a command at once.

What is shared is as old as its first use, so nothing is written by it: it only finds out, for next to nothing, where
nothing is to be done. Whatever is to be written follows from a look of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from infx.gather.ports import Pager, ReconcileReader
from infx.model import Artifact, Overview, PullRequest, Run
from infx.policy.model import Policy

NEWEST_RUNS = 50  # of one branch, and of all that were dispatched
CHUNK = 20  # pull requests that are looked at together
MAX_PAGES = 10  # of the runs of all, 100 on each


class FactSource(Protocol):
    """runs: those that events of the pull request's branch started; dispatched: those from the base branch."""

    def overview(self, number: int) -> Overview: ...
    def runs(self, pull: PullRequest) -> list[Run]: ...
    def dispatched(self) -> list[Run]: ...


@dataclass(frozen=True)
class Alone:
    """One pull request, as it is now."""

    reader: ReconcileReader
    policy: Policy

    def overview(self, number: int) -> Overview:
        found = self.reader.overviews([number])
        return found[number] if number in found else self.reader.overview(number)

    def runs(self, pull: PullRequest) -> list[Run]:
        return self.reader.runs(
            workflow=self.policy.sweep.workflow_file,
            event="pull_request",
            branch=pull.head_ref,
            newest=NEWEST_RUNS,
        )

    def dispatched(self) -> list[Run]:
        return self.reader.runs(
            workflow=self.policy.sweep.workflow_file,
            event="workflow_dispatch",
            branch=self.policy.base_branch,
            newest=NEWEST_RUNS,
        )


class _Dated(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def created_at(self) -> datetime: ...


_T = TypeVar("_T", bound=_Dated)


@dataclass
class Recent(Generic[_T]):
    """A list of the whole repository, newest first, read page after page as far back as somebody needs it.

    read: one page by its number, and whether it is the last.
    """

    read: Callable[[int], tuple[list[_T], bool]]
    items: list[_T] = field(default_factory=list)
    _pages: int = 0
    _is_whole: bool = False

    def reach(self, since: datetime, *, pages: int | None = None) -> bool:
        """Whether everything that was created since then is among `items`, for no more than that many pages in all."""
        while not self._reaches(since) and (pages is None or self._pages < pages):
            found, self._is_whole = self.read(self._pages + 1)
            known = {item.id for item in self.items}  # what is new has moved the pages on
            self.items += [item for item in found if item.id not in known]
            self._pages += 1
        return self._reaches(since)

    def _reaches(self, since: datetime) -> bool:
        return self._is_whole or (bool(self.items) and self.items[-1].created_at < since)


def read_runs(reader: Pager, policy: Policy) -> Recent[Run]:
    """Of the sweep workflow."""
    return Recent(lambda number: reader.runs_page(policy.sweep.workflow_file, number))


def read_results(reader: Pager, policy: Policy) -> Recent[Artifact]:
    """What sweeps left behind."""
    return Recent(lambda number: reader.artifacts_page(policy.comments.visualizer.results, number))


@dataclass
class Together:
    """The pull requests of a command, and any other. A list that would have to be read too far back is asked for one alone."""

    alone: Alone
    numbers: Sequence[int]
    recent: Recent[Run]
    _overviews: dict[int, Overview] = field(default_factory=dict)
    _asked: set[int] = field(default_factory=set)
    _dispatched: list[Run] | None = None

    def overview(self, number: int) -> Overview:
        if number not in self._asked:
            at = self.numbers.index(number) if number in self.numbers else len(self.numbers)
            after = [other for other in self.numbers[at : at + CHUNK] if other not in self._asked]
            chunk = after or [number]
            self._asked.update(chunk)
            self._overviews |= self.alone.reader.overviews(chunk)
        if number in self._overviews:
            return self._overviews[number]
        return self.alone.reader.overview(number)

    def runs(self, pull: PullRequest) -> list[Run]:
        if not self.recent.reach(pull.created_at, pages=min(MAX_PAGES, len(self.numbers))):
            return self.alone.runs(pull)
        found = (run for run in self.recent.items if run.event == "pull_request")
        return [run for run in found if run.head_branch == pull.head_ref][:NEWEST_RUNS]

    def dispatched(self) -> list[Run]:
        if self._dispatched is None:
            self._dispatched = self.alone.dispatched()
        return self._dispatched
