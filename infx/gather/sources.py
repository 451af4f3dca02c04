"""Read the facts of a pull request from GitHub, for one pull request or for all of a command at once.

Shared facts may be minutes old, so no write is decided from them: they only show, with few requests, which
pull requests need no write. Every write follows from facts that are read for its own pull request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from infx.gather.ports import Pager, ReconcileReader
from infx.model import Artifact, Overview, PullRequest, Run
from infx.policy.model import Policy

NEWEST_RUNS = 50  # runs of one branch, and dispatched runs
CHUNK = 20  # pull requests in one query
MAX_PAGES = 10  # pages of the repository's runs, 100 runs on each


class FactSource(Protocol):
    """A source of facts about pull requests."""

    def overview(self, number: int) -> Overview: ...
    def runs(self, pull: PullRequest) -> list[Run]: ...  # started by events of the pull request's branch
    def dispatched(self) -> list[Run]: ...  # dispatched on the base branch


@dataclass(frozen=True)
class SingleSource:
    """A source that requests the current facts of one pull request at a time."""

    reader: ReconcileReader
    policy: Policy

    def overview(self, number: int) -> Overview:
        overviews = self.reader.overviews([number])
        return overviews[number] if number in overviews else self.reader.overview(number)

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
class RecentList(Generic[_T]):
    """A list of the whole repository, newest first, read page by page as far back as needed."""

    read: Callable[[int], tuple[list[_T], bool]]  # page number → items, and whether the page is the last
    items: list[_T] = field(default_factory=list)
    _pages: int = 0
    _is_whole: bool = False

    def reach(self, since: datetime, *, pages: int | None = None) -> bool:
        """Read pages until `items` has everything created since a time, and return whether it has.

        Args:
            pages: the largest number of pages to read in all.
        """
        while not self._reaches(since) and (pages is None or self._pages < pages):
            page, self._is_whole = self.read(self._pages + 1)
            known = {item.id for item in self.items}  # new items shift older ones to the next page
            self.items += [item for item in page if item.id not in known]
            self._pages += 1
        return self._reaches(since)

    def _reaches(self, since: datetime) -> bool:
        return self._is_whole or (bool(self.items) and self.items[-1].created_at < since)


def list_runs(reader: Pager, policy: Policy) -> RecentList[Run]:
    """Return the list of the sweep workflow's runs."""
    return RecentList(lambda number: reader.runs_page(policy.sweep.workflow_file, number))


def list_results(reader: Pager, policy: Policy) -> RecentList[Artifact]:
    """Return the list of the result artifacts that sweeps uploaded."""
    return RecentList(lambda number: reader.artifacts_page(policy.comments.visualizer.results, number))


@dataclass
class SharedSource:
    """A source that reads the facts of all pull requests of a command together."""

    single: SingleSource
    numbers: Sequence[int]
    recent: RecentList[Run]
    _overviews: dict[int, Overview] = field(default_factory=dict)
    _asked: set[int] = field(default_factory=set)
    _dispatched: list[Run] | None = None

    def overview(self, number: int) -> Overview:
        if number not in self._asked:
            index = self.numbers.index(number) if number in self.numbers else len(self.numbers)
            following = [other for other in self.numbers[index : index + CHUNK] if other not in self._asked]
            chunk = following or [number]
            self._asked.update(chunk)
            self._overviews |= self.single.reader.overviews(chunk)
        if number in self._overviews:
            return self._overviews[number]
        return self.single.reader.overview(number)

    def runs(self, pull: PullRequest) -> list[Run]:
        # For an old pull request, its own list takes fewer requests than many pages.
        if not self.recent.reach(pull.created_at, pages=min(MAX_PAGES, len(self.numbers))):
            return self.single.runs(pull)
        runs = (run for run in self.recent.items if run.event == "pull_request")
        return [run for run in runs if run.head_branch == pull.head_ref][:NEWEST_RUNS]

    def dispatched(self) -> list[Run]:
        if self._dispatched is None:
            self._dispatched = self.single.dispatched()
        return self._dispatched
