"""Choose the pull requests to process, with a small number of requests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from infx.errors import InfxError
from infx.gate.approval import pick_approval
from infx.gather.clone import GitClone
from infx.gather.ports import Clone
from infx.gather.reconcile import RESERVE
from infx.gather.sources import MAX_PAGES, RecentList
from infx.github.errors import RateLimitError
from infx.model import CommitStatus, PullRequest, PullSummary, Run, is_same_repository
from infx.policy.model import Policy
from infx.policy.paths import concerns

if TYPE_CHECKING:
    from infx.signoff.trigger import Trigger

MAX_FORKS = 20  # forks whose approvals are read to find the pull request of a dispatched run
LONGEST_SWEEP = timedelta(days=2)  # older runs are not followed unless their pull request is updated


class Lister(Protocol):
    def pulls(
        self, *, state: str = "open", base: str | None = None, updated_since: datetime | None = None
    ) -> list[PullSummary]: ...


class StatusLister(Protocol):
    def pulls(self, *, state: str = "open") -> list[PullSummary]: ...
    def statuses(self, sha: str) -> list[CommitStatus]: ...


def list_open(lister: Lister, policy: Policy) -> list[PullSummary]:
    return lister.pulls(state="open", base=policy.base_branch)


def list_in_turn(lister: Lister, policy: Policy, today: date) -> list[int]:
    """Return the numbers of all open pull requests, starting at a different place each day.

    A command may stop at its call budget, so the pull requests it did not reach come first on the next day.
    """
    numbers = sorted((pull.number for pull in list_open(lister, policy)), reverse=True)
    guaranteed = max(1, policy.limits.api_requests // RESERVE)  # the number that fits into any budget
    start = today.toordinal() * guaranteed % max(1, len(numbers))
    return numbers[start:] + numbers[:start]


def list_recent(lister: Lister, policy: Policy, since: datetime, recent: RecentList[Run]) -> list[int]:
    """Return the numbers of pull requests updated since a time or with a sweep that runs or ended since then.

    Closed pull requests are included; the latest update comes first.
    """
    touched = lister.pulls(state="all", base=policy.base_branch, updated_since=since)
    recent.reach(since - LONGEST_SWEEP, pages=MAX_PAGES)  # the end of a run does not update its pull request
    runs = [run for run in recent.items if not run.is_completed or run.updated_at >= since]
    numbers = [pull.number for pull in touched] + [number for run in runs for number in _named_by(run)]
    unnumbered = [run for run in runs if not run.pull_numbers and run.event == "pull_request"]  # of forks
    if any(not any(_is_of(run, pull) for pull in touched) for run in unnumbered):
        open_pulls = list_open(lister, policy)
        numbers += [pull.number for pull in open_pulls if any(_is_of(run, pull) for run in unnumbered)]
    return list(dict.fromkeys(numbers))


def _named_by(run: Run) -> tuple[int, ...]:
    return run.dispatched_for[:1] if run.dispatched_for else run.pull_numbers


def _is_of(run: Run, pull: PullSummary) -> bool:
    return run.head_branch == pull.head_ref and is_same_repository(run.head_repository, pull.head_repository)


def select_moved(
    pulls: Iterable[PullSummary], clone: Clone, policy: Policy, before: str, after: str
) -> list[int]:
    """Return the pull requests that change benchmarks and got other conflicts from a push to the base branch.

    The answer comes from git alone.
    """
    return [pull.number for pull in pulls if _has_moved(pull.head_sha, clone, policy, before, after)]


def _has_moved(head: str, clone: Clone, policy: Policy, before: str, after: str) -> bool:
    if not clone.has_commit(head):
        return True  # the head is newer than the fetch
    if not concerns(policy, clone.changed_paths(clone.merge_base(after, head), head)):
        return False
    return clone.test_merge(before, head).conflicts != clone.test_merge(after, head).conflicts


@dataclass
class SharedHeads:
    """The heads of all pull requests, read once from git or, without a clone, from GitHub's list."""

    lister: Lister
    clone: GitClone | None
    policy: Policy
    _heads: dict[int, str] | None = None

    def find_others(self, pull: PullRequest) -> list[int]:
        """Return the numbers of other pull requests with the same head; some may be closed."""
        if self._heads is None:
            self._heads = self._list()
        return sorted(
            number for number, sha in self._heads.items() if sha == pull.head_sha and number != pull.number
        )

    def _list(self) -> dict[int, str]:
        if self.clone is not None:
            return self.clone.read_heads()
        pulls = self.lister.pulls(state="open", base=self.policy.base_branch)
        return {pull.number: pull.head_sha for pull in pulls}


def list_triggered(lister: StatusLister, trigger: Trigger, policy: Policy) -> list[int]:
    """Return the open pull requests whose sign-offs an event concerns."""
    if trigger.pull is not None:
        return [trigger.pull]
    if trigger.head_sha is None:
        return []
    open_pulls = lister.pulls(state="open")
    numbers = [pull.number for pull in open_pulls if pull.head_sha == trigger.head_sha]
    if trigger.run_id is not None:
        forks = [pull for pull in open_pulls if pull.is_fork][:MAX_FORKS]
        numbers += [
            pull.number
            for pull in forks
            if _may_be_approved_for(pull.head_sha, trigger.run_id, lister, policy)
        ]
    return list(dict.fromkeys(numbers))


def _may_be_approved_for(head_sha: str, run_id: int, lister: StatusLister, policy: Policy) -> bool:
    try:
        approval = pick_approval(head_sha, lister.statuses(head_sha), policy)
    except RateLimitError:
        raise
    except InfxError:
        return True  # its own turn reports the error, and does not stop the others
    return approval is not None and approval.run_id == run_id
