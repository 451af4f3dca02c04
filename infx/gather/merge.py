"""Gather the facts of a merge: those that reconciling needs, and GitHub's rules for the branch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from infx.gate.event import Event, EventName
from infx.gate.facts import Changelog, GateFacts
from infx.gather.clone import GitClone
from infx.gather.reconcile import ReconcileGatherer
from infx.gather.signoff_clone import open_revisions
from infx.merge.checks import list_unknown_apps
from infx.merge.facts import Ability, MergeFacts, MergeRequest, Progress
from infx.model import BranchRules, CheckRun, CommitStatus, PullRequest, QueueState
from infx.policy.model import Policy
from infx.reconcile.desired import decide_state
from infx.reconcile.facts import Changes, ReconcileFacts, RepositoryContext, Resolution

PATIENCE = (1.0, 2.0, 4.0)  # seconds between questions whether the test merge is computed


class MergeReader(Protocol):
    """The requests that only a merge makes; all of them only read."""

    def settled_pull(self, number: int, *, waits: tuple[float, ...]) -> PullRequest: ...
    def pull(self, number: int) -> PullRequest: ...
    def branch_rules(self, branch: str) -> BranchRules: ...
    def check_runs(self, sha: str) -> list[CheckRun]: ...
    def statuses(self, sha: str) -> list[CommitStatus]: ...
    def app_id(self, slug: str) -> int | None: ...
    def queue_state(self, number: int) -> QueueState: ...


@dataclass
class MergeGatherer:
    """Gathers the facts of one merge, again before each step.

    Attributes:
        states: gathers what infx's comments and statuses follow from, with a clone.
        ability: what the tokens can do.
        rules: those of the base branch, read once; GitHub enforces a later change by itself.
        apps: the account of a status' author, in lower case → the id of its app, or None if it is unknown.
    """

    github: MergeReader
    states: ReconcileGatherer
    clone: GitClone
    policy: Policy
    place: RepositoryContext
    ability: Ability
    rules: BranchRules | None = None
    apps: dict[str, int | None] = field(default_factory=dict)

    def gather(self, request: MergeRequest, progress: Progress) -> MergeFacts:
        """Return the current facts."""
        pull = self.github.settled_pull(request.pull, waits=PATIENCE)
        facts = MergeFacts(request=request, state=_make_state(pull), ability=self.ability, progress=progress)
        if not pull.is_open or pull.base_ref != self.policy.base_branch:
            return facts
        rules = self.rules = self.rules or self.github.branch_rules(self.policy.base_branch)
        facts = self._add_queue(replace(facts, rules=rules))
        if facts.is_queued:
            return facts
        self.states.fetch([request.pull])
        state = self.states.gather(request.pull)
        head, statuses = state.pull.head_sha, state.statuses
        return replace(
            facts,
            state=state,
            has_same_changes=self._has_same_changes(request.sha, head),
            status=decide_state(state, self.policy, self.place).status,
            update=self._find_update(state, rules),
            checks=tuple(self.github.check_runs(head)) if rules.checks else (),
            apps=self._read_apps(list_unknown_apps(rules.checks, statuses, {})),
        )

    def look(self, facts: MergeFacts) -> object:
        """Return what GitHub shows of the head, to compare with an earlier look while something is awaited."""
        pull = self.github.pull(facts.request.pull)
        statuses = self.github.statuses(pull.head_sha)
        runs = self.github.check_runs(pull.head_sha) if facts.rules.checks else []
        return show_head(pull, statuses, runs)

    def _add_queue(self, facts: MergeFacts) -> MergeFacts:
        if facts.rules.queue is None:
            return facts
        state = self.github.queue_state(facts.request.pull)
        return replace(facts, node_id=state.node_id, is_queued=state.is_queued)

    def _has_same_changes(self, requested: str, head: str) -> bool:
        """Return whether a head is the requested one, or follows it and has the same changes.

        A merge of the base branch and a commit that makes links canonical keep the changes.
        """
        if requested == head:
            return True
        git = self.clone.git
        branches = self.states.branches
        if branches is None or not git.has_commit(requested) or not git.is_ancestor(requested, head):
            return False
        fingerprints = {
            open_revisions(git, self.policy, branches.base_sha, sha).make_fingerprint()
            for sha in (requested, head)
        }
        return len(fingerprints) == 1

    def _find_update(self, state: ReconcileFacts, rules: BranchRules) -> Resolution | None:
        """Return the commit that the branch needs before a merge."""
        branches, pull = self.states.branches, state.pull
        if branches is None or not rules.is_strict or state.gate.conflicts:
            return state.resolution
        return branches.join_base(pull.number, pull.head_sha) or state.resolution

    def _read_apps(self, logins: Iterable[str]) -> dict[str, int]:
        """Return the ids of apps, and ask for each app once."""
        for login in logins:
            if login not in self.apps:
                self.apps[login] = self.github.app_id(login.removesuffix("[bot]"))
        return {login: app_id for login, app_id in self.apps.items() if app_id is not None}


def _make_state(pull: PullRequest) -> ReconcileFacts:
    """Return the facts of a pull request of which nothing else was read."""
    event = Event(name=EventName.ASKED, pull=pull.number)
    return ReconcileFacts(
        gate=GateFacts(event=event, pull=pull, changelog=Changelog(touched=None)),
        pull=pull,
        changes=Changes(),
    )


def show_head(pull: PullRequest, statuses: Sequence[CommitStatus], runs: Sequence[CheckRun]) -> object:
    """Return what a merge waits for, in a form that can be compared."""
    return (
        (pull.head_sha, pull.is_open, pull.is_draft, pull.mergeable, sorted(pull.labels)),
        {(status.context, status.state, status.description) for status in statuses},
        {(run.id, run.status, run.conclusion) for run in runs},
    )
