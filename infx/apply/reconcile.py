"""Reconcile pull requests one after another, and stop before the call budget is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from infx.apply.push import push_commit
from infx.apply.serialize import TurnReport, take_turns
from infx.apply.shared_status import agree_on_status
from infx.apply.writes import Applier
from infx.comments.status import DesiredStatus
from infx.comments.sticky import find_ahead
from infx.gather.choose import SharedHeads
from infx.gather.clone import GitClone
from infx.gather.reconcile import RESERVE, ReconcileGatherer
from infx.gather.reuse import ReuseGatherer
from infx.gather.sources import FactSource, RecentList, SharedSource, SingleSource, list_runs
from infx.github.api import GitHub
from infx.github.errors import GitHubError, RateLimitError
from infx.model import Comment, Run, User, UserType
from infx.phrases import count
from infx.policy import POLICY_PATH
from infx.policy.model import Policy
from infx.reconcile.actions import Action, CancelRun, PushCommit
from infx.reconcile.desired import DesiredState, decide_state, plan_actions
from infx.reconcile.facts import ReconcileFacts, RepositoryContext
from infx.records import record


class Requeue(Protocol):
    """Queues a pull request again that left the merge queue because of an entry ahead, if the policy allows it."""

    def __call__(self, facts: ReconcileFacts) -> Sequence[str]:
        """Return what was done, as sentences."""
        ...


@record
class PlannedWrites:
    """What is missing on a pull request, and the facts behind it."""

    facts: ReconcileFacts
    desired: DesiredState
    actions: tuple[Action, ...]


@dataclass
class Reconciler:
    """Reconciles pull requests.

    Attributes:
        requeue: None if nothing is queued again.
    """

    github: GitHub
    policy: Policy
    place: RepositoryContext
    clone: GitClone | None = None
    dry_run: bool = False
    recent: RecentList[Run] = field(init=False)
    policy_path: str = POLICY_PATH
    requeue: Requeue | None = None
    _shared: SharedHeads | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.recent = list_runs(self.github, self.policy)

    def run(self, numbers: Sequence[int]) -> TurnReport:
        """Reconcile pull requests; of several, find those that need no write from shared lists."""
        report = TurnReport()
        gatherer = self.open(numbers)
        shared = (
            SharedSource(SingleSource(self.github, self.policy), numbers, self.recent)
            if len(numbers) > 1
            else None
        )
        take_turns(
            numbers, lambda number: self._reconcile(number, gatherer, shared, report), report, self._must_stop
        )
        return report

    def gather(self, number: int) -> ReconcileFacts:
        """Return the facts of one pull request."""
        return self.open([number]).gather(number)

    def open(self, numbers: Sequence[int]) -> ReconcileGatherer:
        """Return a gatherer that has fetched the heads of some pull requests."""
        clone, gatherer = self.clone, ReconcileGatherer(self.github, self.policy)
        if clone is not None:
            gatherer.open_branches = lambda numbers: clone.open_branches(
                self.policy, self.place, numbers, self.policy_path
            )
            gatherer.reuse = ReuseGatherer(
                github=self.github, policy=self.policy, clone=clone, policy_path=self.policy_path
            )
        gatherer.fetch(numbers)
        return gatherer

    def _reconcile(
        self, number: int, gatherer: ReconcileGatherer, shared: FactSource | None, report: TurnReport
    ) -> None:
        """Write what is missing on one pull request.

        Args:
            shared: shows whether a write is missing, but its facts are too old to decide the write.
        """
        can_push = self.clone is not None and self.clone.push_token is not None
        if self.dry_run:
            report.done += self._plan(number, gatherer, shared, can_push=can_push).actions
            return
        if shared is not None:
            planned = self._plan(number, gatherer, shared, can_push=can_push)
            if not planned.actions:
                self._queue_again(planned.facts, report)
                return
        refused = len(report.refused)
        facts = self._look_and_write(number, gatherer, report, can_push=can_push, may_move=True)
        if facts is None:
            can_push &= not any(isinstance(action, PushCommit) for action, _ in report.refused[refused:])
            gatherer.fetch([number])
            facts = self._look_and_write(number, gatherer, report, can_push=can_push, may_move=False)
        if facts is not None:
            self._queue_again(facts, report)

    def _queue_again(self, facts: ReconcileFacts, report: TurnReport) -> None:
        """Queue a pull request again if everything that its merge needs is there."""
        needs_signoff = self.policy.signoff.status is not None
        if self.requeue is None or not facts.pull.is_open or facts.groups or facts.pull.is_draft:
            return
        if needs_signoff and not facts.signed_off:
            return
        report.notes += self.requeue(facts)

    def _look_and_write(
        self, number: int, gatherer: ReconcileGatherer, report: TurnReport, *, can_push: bool, may_move: bool
    ) -> ReconcileFacts | None:
        """Apply the planned writes, and return the facts; None if the writes changed them, so that they are read again.

        Args:
            may_move: apply cancellations and pushes, which change the facts, and leave the other writes to
                the second look.
        """
        applier = Applier(self.github, self.policy, self._push)

        def write(planned: PlannedWrites) -> ReconcileFacts | None:
            actions = planned.actions
            moving = [action for action in actions if isinstance(action, CancelRun | PushCommit)]
            if may_move and moving:
                applier.apply(moving, (), report)
                return None
            others = [action for action in actions if action not in moving]
            applier.apply(others, planned.desired.comments, report)
            return planned.facts

        return self.github.look_then_write(
            lambda: self._plan(number, gatherer, None, can_push=can_push), write
        )

    def _plan(
        self, number: int, gatherer: ReconcileGatherer, source: FactSource | None, *, can_push: bool
    ) -> PlannedWrites:
        facts = gatherer.gather(number, source)
        desired = decide_state(facts, self.policy, self.place, can_push=can_push)
        if desired.push is not None and self._is_queued(number):
            desired = replace(desired, push=None)
        desired = self._agree(desired, facts, gatherer, source)
        comments = self._add_editors(desired, facts.comments)
        actions = plan_actions(desired, replace(facts, comments=comments), self.policy)
        return PlannedWrites(facts=facts, desired=desired, actions=actions)

    def _is_queued(self, number: int) -> bool:
        """Return whether a pull request is, or may be, in the merge queue, which would lose a push."""
        # An entry behind many others, or one that conflicts with an entry ahead, has no group that git could show.
        try:
            return self.github.queue_state(number).is_queued
        except RateLimitError:
            raise
        except GitHubError:  # the other writes go on, and the next run pushes
            return True

    def _add_editors(self, desired: DesiredState, comments: Sequence[Comment]) -> tuple[Comment, ...]:
        """Return the comments, with the editors of own comments that claim a run newer than all runs."""
        ahead = find_ahead(desired.comments, comments, self.policy.identities)
        logins = self.github.editors(ahead) if ahead else {}
        return tuple(
            replace(comment, editor=make_user(logins[comment.node_id]))
            if comment.node_id in logins
            else comment
            for comment in comments
        )

    def _agree(
        self,
        desired: DesiredState,
        facts: ReconcileFacts,
        gatherer: ReconcileGatherer,
        source: FactSource | None,
    ) -> DesiredState:
        """Return the desired state with the status that all pull requests with this head share."""
        if desired.status is None:
            return desired
        self._shared = self._shared or SharedHeads(self.github, self.clone, self.policy)

        def ask(number: int) -> tuple[str, DesiredStatus | None]:
            other = gatherer.gather(number, source)
            return other.pull.head_sha, decide_state(other, self.policy, self.place).status

        return replace(desired, status=agree_on_status(self._shared, facts.pull, desired.status, ask))

    def _push(self, action: PushCommit) -> None:
        assert self.clone is not None, "without a clone no push is planned"
        push_commit(self.clone, action, self.policy)

    def _must_stop(self) -> str | None:
        made, limit = self.github.requests, self.policy.limits.api_requests
        if made.total + RESERVE > limit:
            return f"the budget of {count(limit, 'call')} is nearly spent"
        if made.remaining is not None and made.remaining < RESERVE:
            return f"GitHub allows only {count(made.remaining, 'more call')} this hour"
        return None


def make_user(login: str) -> User:
    """Return the user with a login; only the logins of apps end in `[bot]`."""
    return User(login=login, type=UserType.BOT if login.endswith("[bot]") else UserType.USER)
