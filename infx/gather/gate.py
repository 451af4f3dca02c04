"""Gather the facts that the gate decides by, with only the requests that the event needs.

A missing answer never counts as "no": UnavailableError is raised instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from infx.comments.progress import read_sweep
from infx.comments.status import find_changelog_problem
from infx.errors import UnavailableError
from infx.evidence.runs import find_refusal
from infx.evidence.trees import find_rules
from infx.gate.approval import pick_approval
from infx.gate.case import ONCE_PER_HEAD, Case
from infx.gate.decide import decide
from infx.gate.decision import Reason
from infx.gate.event import SHA, DispatchInputs, Event, EventName
from infx.gate.facts import (
    Approval,
    Changelog,
    GateFacts,
    GateRun,
    MergeCheck,
    Reuse,
    find_label_actor,
    read_labels,
)
from infx.github.errors import BadCredentialsError, NotFoundError, PermissionDeniedError
from infx.model import (
    MAX_FILES,
    ChangedFile,
    Collaborator,
    Commit,
    CommitStatus,
    Job,
    LabelEvent,
    PullRequest,
    Run,
)
from infx.policy.identity import is_listed
from infx.policy.model import OnMerge, Policy

EARLIER_HEADS = 5  # earlier heads whose approvals are read
NEWEST_RUNS = 20
PATIENCE = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # seconds between reads of a fact that GitHub is still computing

# No further fact can change these decisions.
_SETTLED = {
    Reason.UNRELATED_ACTION,
    Reason.OTHER_BASE,
    Reason.STALE_HEAD,
    Reason.UNRELATED_LABEL,
    Reason.REOPENED,
    Reason.CLOSED,
    Reason.CONFLICTING_LABELS,
    Reason.NO_PRIMARY_LABEL,
    Reason.DISPATCH_INPUTS,
}


class GateReader(Protocol):
    """The requests that the gate makes; all of them are reads."""

    def pull(self, number: int) -> PullRequest: ...
    def settled_pull(self, number: int, *, waits: tuple[float, ...]) -> PullRequest: ...
    def files(self, pull: PullRequest) -> list[ChangedFile]: ...
    def commits(self, pull: PullRequest) -> list[Commit]: ...
    def commit(self, sha: str) -> Commit: ...
    def find_commit(self, sha: str) -> Commit | None: ...
    def ref(self, name: str) -> str | None: ...
    def matching_refs(self, prefix: str) -> dict[str, str]: ...
    def is_ancestor(self, sha: str, of: str) -> bool: ...
    def permission(self, login: str) -> Collaborator: ...
    def statuses(self, sha: str) -> list[CommitStatus]: ...
    def label_events(self, number: int) -> list[LabelEvent]: ...
    def runs(
        self,
        *,
        workflow: str,
        event: str | None = None,
        branch: str | None = None,
        head_sha: str | None = None,
        newest: int,
    ) -> list[Run]: ...
    def run(self, run_id: int) -> Run: ...
    def jobs(self, run_id: int, *, every_attempt: bool) -> list[Job]: ...
    def pause(self, seconds: float) -> None: ...


Judge = Callable[[PullRequest], tuple[str, ...] | None]
AskReuse = Callable[[Event, PullRequest | None], Reuse]


def gather_facts(
    event: Event,
    policy: Policy,
    github: GateReader,
    *,
    rules: Iterable[str] = (),
    judge: Judge | None = None,
    ask_reuse: AskReuse | None = None,
    is_explained: bool = False,
) -> GateFacts:
    """Gather the facts that the gate decides by.

    Args:
        rules: paths, in addition to `.github/`, whose change makes a pull request's own results doubtful.
        judge: returns the problems of a pull request's changelog, or None if they are unknown; then infx's
            own status on the head is used.
        ask_reuse: returns the decision about reuse for an event, and for its pull request if that was read.
        is_explained: the decision is only shown, so facts that GitHub hides from this token may be missing.
    """
    actor, is_hidden = _read_actor(event, policy, github, is_explained=is_explained)
    facts = GateFacts(event=event, actor=actor, actor_is_hidden=is_hidden)
    if event.pull and event.name is not EventName.COMMENT:
        facts = _add_pull(replace(facts, pull=github.pull(event.pull)), policy, github, tuple(rules))
        facts = _add_changelog(facts, policy, github, judge)
        return _add_reuse(facts, policy, ask_reuse, is_explained=is_explained)
    if event.name is EventName.DISPATCH:
        return _add_dispatch(facts, event.inputs or DispatchInputs(), policy, github)
    if event.name is EventName.PUSH and event.head_sha and event.head_sha.strip("0"):
        message = github.commit(event.head_sha).message
        facts = replace(facts, head_message=message, base_sha=_find_pushed_base(event, github))
        return _add_reuse(facts, policy, ask_reuse, is_explained=is_explained)
    return facts


def _add_reuse(
    facts: GateFacts, policy: Policy, ask_reuse: AskReuse | None, *, is_explained: bool
) -> GateFacts:
    """Add the decision about reuse, if it may change the gate's decision or belongs to an explanation."""
    if ask_reuse is None or not _may_depend_on_reuse(facts, policy):
        return facts
    try:
        return replace(facts, reuse=ask_reuse(facts.event, facts.pull))
    except (BadCredentialsError, NotFoundError, PermissionDeniedError):
        if not is_explained:
            raise
        absence = "GitHub does not show this token who may ask for it, or which runs there are"
        return replace(facts, reuse=Reuse(absence=absence))


def _may_depend_on_reuse(facts: GateFacts, policy: Policy) -> bool:
    decision = decide(facts, policy)
    match facts.event.name:
        case EventName.PUSH:
            return policy.on_merge is not OnMerge.NOTHING and decision.reason is not Reason.OTHER_BASE
        case EventName.ASKED:
            return decision.reason not in {Reason.OTHER_BASE, Reason.CLOSED}
        case EventName.PULL_REQUEST:
            return decision.runs and Case(facts=facts, policy=policy).may_reuse
        case _:
            return False


def _find_pushed_base(event: Event, github: GateReader) -> str | None:
    """Return the parent of the first pushed commit, for a push without an earlier tip."""
    if event.oldest is None:
        return None
    oldest = github.find_commit(event.oldest)
    return next(iter(oldest.parents), None) if oldest else None


def _read_actor(
    event: Event, policy: Policy, github: GateReader, *, is_explained: bool
) -> tuple[Collaborator | None, bool]:
    """Return the permission of the event's actor, if it matters, and whether GitHub hides it."""
    matters = event.name in {EventName.PULL_REQUEST, EventName.DISPATCH} and event.actor
    if not matters or is_listed(event.actor, policy.identities):
        return None, False
    if not is_explained:
        actor = github.permission(event.actor)
        if not actor.is_known and not event.actor.endswith("[bot]"):  # GitHub reports no permissions of apps
            raise UnavailableError(
                f"GitHub does not report the permission of {event.actor}, who triggered this event.",
                hint="Run it again.",
            )
        return actor, False
    visible_actor = _read_visible_permission(event.actor, policy, github)
    return visible_actor, visible_actor is None


def _read_visible_permission(login: str | None, policy: Policy, github: GateReader) -> Collaborator | None:
    """Return the permission of a login, or None if GitHub hides it from this token.

    GitHub shows permissions only to tokens that can push, and never those of apps. Only an explained decision
    may lack them, and it says so.
    """
    try:
        return github.permission(login) if login and not is_listed(login, policy.identities) else None
    except (BadCredentialsError, NotFoundError, PermissionDeniedError):
        return None


def _add_pull(facts: GateFacts, policy: Policy, github: GateReader, rules: tuple[str, ...]) -> GateFacts:
    """Add everything that the gate needs to know about a pull request, except problems of the changelog."""
    if decide(facts, policy).reason in _SETTLED:
        return facts
    number = facts.event.pull or 0
    pull = github.settled_pull(number, waits=PATIENCE)
    if pull.head_sha != (facts.event.head_sha or pull.head_sha):
        return replace(facts, pull=pull)  # a push just arrived
    touched, edits = _read_files(pull, policy, github, rules)
    facts = replace(
        facts,
        pull=pull,
        head_message=github.commit(pull.head_sha).message,
        changelog=Changelog(touched=touched),
        edits_rules=edits,
        approval=_find_newest_approval(pull, facts.event, policy, github) if pull.is_fork else None,
        runs=_read_runs(pull, facts.event, policy, github),
        merge=_read_named_merge(facts.event, policy, github),
    )
    if facts.event.name is EventName.ASKED and not any(run.may_sweep for run in facts.runs):
        login = find_label_actor(read_labels(pull.labels, policy.labels), github.label_events(pull.number))
        return replace(facts, label_actor=login, actor=_read_visible_permission(login, policy, github))
    return facts


def _add_changelog(facts: GateFacts, policy: Policy, github: GateReader, judge: Judge | None) -> GateFacts:
    """Add the problems of the changelog, if they may change the decision."""
    pull, decision = facts.pull, decide(facts, policy)
    is_asked = facts.event.name is EventName.ASKED and decision.reason not in _SETTLED
    if pull is None or not (decision.runs or is_asked) or facts.changelog.touched is False:
        return facts
    problems = judge(pull) if judge else None
    if problems is None:
        problem = find_changelog_problem(policy, github.statuses(pull.head_sha))
        problems = (f"{policy.changelog}:{problem}",) if problem is not None else None
    return replace(facts, changelog=replace(facts.changelog, problems=problems))


def _read_files(
    pull: PullRequest, policy: Policy, github: GateReader, rules: tuple[str, ...]
) -> tuple[bool | None, bool]:
    """Return whether the changelog is changed (None if unknown), and whether the rules may be changed."""
    if pull.changed_files > MAX_FILES:  # GitHub's list would be incomplete
        return None, True
    paths = {path for file in github.files(pull) for path in file.paths}
    edits = any(find_rules(paths, rule) for rule in (*rules, ""))
    return policy.changelog in paths, edits


def _read_runs(pull: PullRequest, event: Event, policy: Policy, github: GateReader) -> tuple[GateRun, ...]:
    """Return other runs for the head, if the decision depends on them."""
    if event.name is not EventName.ASKED and event.action not in ONCE_PER_HEAD:
        return ()
    workflow = policy.sweep.workflow_file
    runs = github.runs(workflow=workflow, event="pull_request", head_sha=pull.head_sha, newest=NEWEST_RUNS)
    others = [run for run in runs if run.id != event.run_id and _may_sweep_for(run, pull, policy)]
    gate_runs = [_read_gate_run(run, policy, github) for run in others]
    if event.name is not EventName.ASKED:
        gate_runs = _await_decisions(gate_runs, event, policy, github)
    if not any(run.may_sweep for run in gate_runs):  # GitHub lists a dispatch under the base branch
        runs = github.runs(
            workflow=workflow, event="workflow_dispatch", branch=policy.base_branch, newest=NEWEST_RUNS
        )
        gate_runs += [_read_gate_run(run, policy, github) for run in runs if run.is_dispatched_for(pull)]
    return tuple(gate_runs)


def _may_sweep_for(run: Run, pull: PullRequest, policy: Policy) -> bool:
    """Return whether a run may sweep for this pull request, and not for another one with the same head."""
    # A fork's own runs report by themselves that they start nothing.
    return pull.is_fork or find_refusal(run, pull, policy) is None


def _read_gate_run(run: Run, policy: Policy, github: GateReader) -> GateRun:
    jobs = github.jobs(run.id, every_attempt=run.attempt > 1)
    swept = read_sweep(run, jobs, policy.sweep.job).swept
    return GateRun(id=run.id, url=run.url, conclusion=run.conclusion, swept=swept)


def _await_decisions(runs: list[GateRun], event: Event, policy: Policy, github: GateReader) -> list[GateRun]:
    """Wait until the other gates of the head have decided, and return their runs.

    Closing and reopening a pull request starts two gates at once, and the first gate starts nothing. Two
    waiting gates would deadlock, so the older one times out first.
    """
    own = event.run_id or 0
    for seconds in PATIENCE if own else ():
        undecided = {run.id for run in runs if run.swept is None}
        is_older = all(own < other for other in undecided)
        if not undecided or any(run.swept for run in runs) or (is_older and seconds == PATIENCE[-1]):
            break
        github.pause(seconds)
        runs = [
            _read_gate_run(github.run(run.id), policy, github) if run.id in undecided else run for run in runs
        ]
    return runs


def _find_newest_approval(
    pull: PullRequest, event: Event, policy: Policy, github: GateReader
) -> Approval | None:
    """Return the head's approval, else the newest approval of an earlier head."""
    if approval := find_approval(pull.head_sha, policy, github):
        return approval
    earlier = [commit.sha for commit in reversed(github.commits(pull)) if commit.sha != pull.head_sha]
    before = [event.before] if event.before and re.fullmatch(SHA, event.before) else []
    for sha in dict.fromkeys([*before, *earlier[:EARLIER_HEADS]]):
        if approval := find_approval(sha, policy, github):
            return approval
    return None


def find_approval(sha: str, policy: Policy, github: GateReader) -> Approval | None:
    return pick_approval(sha, github.statuses(sha), policy)


def _read_named_merge(event: Event, policy: Policy, github: GateReader) -> MergeCheck | None:
    """Return the test merge that a dispatch names, or None."""
    merge = event.inputs.merge_sha if event.inputs else ""
    return read_merge(merge, event.pull or 0, policy, github) if re.fullmatch(SHA, merge) else None


def read_merge(sha: str, number: int, policy: Policy, github: GateReader) -> MergeCheck | None:
    """Return a commit that should be a pull request's test merge, or None if GitHub has no such commit."""
    commit = github.find_commit(sha)
    if commit is None:
        return None
    tip = github.ref(f"heads/{policy.base_branch}")
    if tip is None:
        raise UnavailableError(f"The base branch {policy.base_branch} does not exist.")
    current = bool(commit.parents) and github.is_ancestor(commit.parents[0], tip)
    is_from_github = github.ref(f"pull/{number}/merge") == sha
    return MergeCheck(sha=sha, parents=commit.parents, base_is_current=current, is_from_github=is_from_github)


def _add_dispatch(facts: GateFacts, inputs: DispatchInputs, policy: Policy, github: GateReader) -> GateFacts:
    """Add the commits that a dispatch names; without a head, the base branch is the head."""
    head = _resolve(inputs.head_ref or policy.base_branch, github)
    is_ours = None
    if head and re.fullmatch(SHA, inputs.head_ref):
        is_ours = _is_on_branch(head, facts.event, policy, github) or bool(
            find_approval(head, policy, github)
        )
    return replace(
        facts,
        head_sha=head,
        base_sha=_resolve(inputs.base_ref, github) if inputs.base_ref else None,
        head_is_in_repository=is_ours,
    )


def _is_on_branch(sha: str, event: Event, policy: Policy, github: GateReader) -> bool:
    """Return whether a commit is a branch's tip, or in the history of the base or the dispatched branch."""
    # GitHub also serves commits of forks, so the existence of a commit proves nothing.
    tips = github.matching_refs("heads/")
    known = (f"refs/heads/{policy.base_branch}", event.ref or "")
    return sha in tips.values() or any(
        github.is_ancestor(sha, tips[name]) for name in dict.fromkeys(known) if name in tips
    )


def _resolve(name: str, github: GateReader) -> str | None:
    """Return the commit of a full SHA or a branch, or None if it does not exist."""
    if not re.fullmatch(SHA, name):
        return github.ref(f"heads/{name}")
    commit = github.find_commit(name)
    return commit.sha if commit else None
