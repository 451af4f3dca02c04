"""What the gate needs to know, asked of GitHub: as little as the event calls for, and never a guess.

Whatever GitHub cannot answer raises UnavailableError; nothing is read as "no" for want of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from infx.comments.progress import read_sweep
from infx.comments.status import find_changelog_problem
from infx.errors import UnavailableError
from infx.evidence.runs import find_refusal
from infx.evidence.trees import find_rules
from infx.gate.approval import pick_approval
from infx.gate.case import ONCE_PER_HEAD
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
    read_run_id,
)
from infx.policy.identity import find_status, is_listed
from infx.policy.model import Policy

EARLIER_HEADS = 5  # that are looked at for an approval
NEWEST_RUNS = 20
PATIENCE = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # seconds between questions that GitHub answers in a moment

# Nothing further that could be asked changes these answers.
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
    """The requests that the gate makes; all of them only read."""

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


def gather_facts(
    event: Event,
    policy: Policy,
    github: GateReader,
    *,
    reuse: Reuse | None = None,
    rules: Iterable[str] = (),
    judge: Judge | None = None,
    is_explained: bool = False,
) -> GateFacts:
    """Gather what the gate goes by.

    is_explained: nothing is done by the answer, so that it is also given without what GitHub hides from this token.
    rules: paths whose change a pull request's own results cannot vouch for, besides `.github/`. judge: returns what
    is wrong with a pull request's changelog, or None where it cannot tell; then our status on the head does.
    """
    seen, hidden = _see_actor(event, policy, github, is_explained=is_explained)
    facts = GateFacts(event=event, reuse=reuse, actor=seen, actor_is_hidden=hidden)
    if event.pull and event.name is not EventName.COMMENT:
        facts = _of_pull(replace(facts, pull=github.pull(event.pull)), policy, github, tuple(rules))
        return _with_changelog(facts, policy, github, judge)
    if event.name is EventName.DISPATCH:
        return _of_dispatch(facts, event.inputs or DispatchInputs(), policy, github)
    if event.name is EventName.PUSH and event.head_sha and event.head_sha.strip("0"):
        message = github.commit(event.head_sha).message
        return replace(facts, head_message=message, base_sha=_find_pushed_base(event, github))
    return facts


def _find_pushed_base(event: Event, github: GateReader) -> str | None:
    """Return the parent of the first pushed commit, for a push that names no tip before it."""
    if event.oldest is None:
        return None
    oldest = github.find_commit(event.oldest)
    return next(iter(oldest.parents), None) if oldest else None


def gather_row_facts(
    event: Event, policy: Policy, github: GateReader, *, head_sha: str | None = None
) -> GateFacts:
    """What a row of a later attempt goes by, in one request, or two for a fork or where the head has moved on: there
    may be hundreds of rows. head_sha: what the row measures.
    """
    if not event.pull:
        return GateFacts(event=event)
    pull = github.pull(event.pull)
    if pull.is_fork:
        return GateFacts(event=event, pull=pull, approval=find_approval(pull.head_sha, policy, github))
    moved = head_sha is not None and pull.is_open and pull.head_sha != head_sha
    stands = moved and _sweep_still_counts(pull.head_sha, event.run_id, policy, github)
    return GateFacts(event=event, pull=pull, sweep_still_counts=stands)


def _sweep_still_counts(head_sha: str, run_id: int | None, policy: Policy, github: GateReader) -> bool:
    """Reconciling looks at the commits in between, and links the sweep that stands for a head from its status."""
    status = find_status(github.statuses(head_sha), policy.sweep.contexts.sweep, policy.publisher)
    linked = read_run_id(status.target_url) if status else None
    return linked is not None and linked == run_id


def _see_actor(
    event: Event, policy: Policy, github: GateReader, *, is_explained: bool
) -> tuple[Collaborator | None, bool]:
    """Return what the event's actor may do, where it matters, and whether GitHub hides it from this token."""
    asks = event.name in {EventName.PULL_REQUEST, EventName.DISPATCH} and event.actor
    if not asks or is_listed(event.actor, policy.identities):
        return None, False
    if not is_explained:
        seen = github.permission(event.actor)
        if not seen.is_known and not event.actor.endswith("[bot]"):  # GitHub knows no app's permission
            raise UnavailableError(
                f"GitHub does not tell what {event.actor} may do here, who started this.",
                hint="Run it again.",
            )
        return seen, False
    actor = _permission_if_seen(event.actor, policy, github)
    return actor, actor is None


def _permission_if_seen(login: str | None, policy: Policy, github: GateReader) -> Collaborator | None:
    """Return what somebody may do, None if GitHub does not tell this token: it tells only those that can push, and
    nothing of an app. A question is answered without it, and the answer says so; an event never is.
    """
    try:
        return github.permission(login) if login and not is_listed(login, policy.identities) else None
    except (BadCredentialsError, NotFoundError, PermissionDeniedError):
        return None


def _of_pull(facts: GateFacts, policy: Policy, github: GateReader, rules: tuple[str, ...]) -> GateFacts:
    if decide(facts, policy).reason in _SETTLED:
        return facts
    number = facts.event.pull or 0
    pull = github.settled_pull(number, waits=PATIENCE)
    if pull.head_sha != (facts.event.head_sha or pull.head_sha):
        return replace(facts, pull=pull)  # pushed to just now
    touched, edits = _read_files(pull, policy, github, rules)
    facts = replace(
        facts,
        pull=pull,
        head_message=github.commit(pull.head_sha).message,
        changelog=Changelog(touched=touched),
        edits_rules=edits,
        approval=_approval(pull, facts.event, policy, github) if pull.is_fork else None,
        runs=_runs(pull, facts.event, policy, github),
        merge=_merge(facts.event, policy, github),
    )
    if facts.event.name is EventName.ASKED and not any(run.may_sweep for run in facts.runs):
        login = find_label_actor(read_labels(pull.labels, policy.labels), github.label_events(pull.number))
        return replace(facts, label_actor=login, actor=_permission_if_seen(login, policy, github))
    return facts


def _with_changelog(facts: GateFacts, policy: Policy, github: GateReader, judge: Judge | None) -> GateFacts:
    """With what is wrong with the changelog, where that may change the answer."""
    pull, decision = facts.pull, decide(facts, policy)
    is_asked = facts.event.name is EventName.ASKED and decision.reason not in _SETTLED
    if pull is None or not (decision.runs or is_asked) or facts.changelog.touched is False:
        return facts
    problems = judge(pull) if judge else None
    if problems is None:
        told = find_changelog_problem(policy, github.statuses(pull.head_sha))
        problems = (f"{policy.changelog}:{told}",) if told is not None else None
    return replace(facts, changelog=replace(facts.changelog, problems=problems))


def _read_files(
    pull: PullRequest, policy: Policy, github: GateReader, rules: tuple[str, ...]
) -> tuple[bool | None, bool]:
    """Whether the changelog is touched, and whether the rules are; beyond GitHub's list nobody can tell."""
    if pull.changed_files > MAX_FILES:
        return None, True
    paths = {path for file in github.files(pull) for path in file.paths}
    edits = any(find_rules(paths, rule) for rule in (*rules, ""))
    return policy.changelog in paths, edits


def _runs(pull: PullRequest, event: Event, policy: Policy, github: GateReader) -> tuple[GateRun, ...]:
    """Other runs for the head; only where the answer goes by them."""
    if event.name is not EventName.ASKED and event.action not in ONCE_PER_HEAD:
        return ()
    workflow = policy.sweep.workflow_file
    runs = github.runs(workflow=workflow, event="pull_request", head_sha=pull.head_sha, newest=NEWEST_RUNS)
    others = [run for run in runs if run.id != event.run_id and _may_sweep_for(run, pull, policy)]
    found = [_look(run, policy, github) for run in others]
    if event.name is not EventName.ASKED:
        found = _await_decisions(found, event, policy, github)
    if not any(run.may_sweep for run in found):  # GitHub counts a dispatch as the base branch's
        runs = github.runs(
            workflow=workflow, event="workflow_dispatch", branch=policy.base_branch, newest=NEWEST_RUNS
        )
        found += [_look(run, policy, github) for run in runs if run.is_dispatched_for(pull)]
    return tuple(found)


def _may_sweep_for(run: Run, pull: PullRequest, policy: Policy) -> bool:
    """Another pull request may have the same head. A fork's own runs start nothing, and say so."""
    return pull.is_fork or find_refusal(run, pull, policy) is None


def _look(run: Run, policy: Policy, github: GateReader) -> GateRun:
    swept = read_sweep(run, _jobs(run, github), policy.sweep.job).swept
    return GateRun(id=run.id, url=run.url, conclusion=run.conclusion, swept=swept)


def _jobs(run: Run, github: GateReader) -> list[Job]:
    return github.jobs(run.id, every_attempt=run.attempt > 1)


def _await_decisions(found: list[GateRun], event: Event, policy: Policy, github: GateReader) -> list[GateRun]:
    """Somebody who closes and reopens has two gates at work at once, and the first will start nothing. So a gate
    waits for the others. Those of two events that both wait would wait in vain; therefore the older gives up before.
    """
    own = event.run_id or 0
    for seconds in PATIENCE if own else ():
        undecided = {run.id for run in found if run.swept is None}
        is_older = all(own < other for other in undecided)
        if not undecided or any(run.swept for run in found) or (is_older and seconds == PATIENCE[-1]):
            break
        github.pause(seconds)
        found = [_look(github.run(run.id), policy, github) if run.id in undecided else run for run in found]
    return found


def _approval(pull: PullRequest, event: Event, policy: Policy, github: GateReader) -> Approval | None:
    """The head's approval, else the newest of an earlier head."""
    if found := find_approval(pull.head_sha, policy, github):
        return found
    earlier = [commit.sha for commit in reversed(github.commits(pull)) if commit.sha != pull.head_sha]
    before = [event.before] if event.before and SHA.fullmatch(event.before) else []
    for sha in dict.fromkeys([*before, *earlier[:EARLIER_HEADS]]):
        if found := find_approval(sha, policy, github):
            return found
    return None


def find_approval(sha: str, policy: Policy, github: GateReader) -> Approval | None:
    return pick_approval(sha, github.statuses(sha), policy)


def _merge(event: Event, policy: Policy, github: GateReader) -> MergeCheck | None:
    merge = event.inputs.merge_sha if event.inputs else ""
    return read_merge(merge, event.pull or 0, policy, github) if SHA.fullmatch(merge) else None


def read_merge(sha: str, number: int, policy: Policy, github: GateReader) -> MergeCheck | None:
    """Read what is said to be a pull request's test merge; None if GitHub has no such commit."""
    commit = github.find_commit(sha)
    if commit is None:
        return None
    tip = github.ref(f"heads/{policy.base_branch}")
    if tip is None:
        raise UnavailableError(f"The base branch {policy.base_branch} is not there.")
    current = bool(commit.parents) and github.is_ancestor(commit.parents[0], tip)
    is_from_github = github.ref(f"pull/{number}/merge") == sha
    return MergeCheck(sha=sha, parents=commit.parents, base_is_current=current, is_from_github=is_from_github)


def _of_dispatch(facts: GateFacts, given: DispatchInputs, policy: Policy, github: GateReader) -> GateFacts:
    """The commits that a dispatch names; the base branch is the head of a command that names none."""
    head = _resolve(given.head_ref or policy.base_branch, github)
    is_identity = None
    if head and SHA.fullmatch(given.head_ref):
        is_identity = _is_on_branch(head, facts.event, policy, github) or bool(
            find_approval(head, policy, github)
        )
    return replace(
        facts,
        head_sha=head,
        base_sha=_resolve(given.base_ref, github) if given.base_ref else None,
        head_is_in_repository=is_identity,
    )


def _is_on_branch(sha: str, event: Event, policy: Policy, github: GateReader) -> bool:
    """Whether a commit is the tip of a branch, or in the history of the base branch or of the dispatched one.

    GitHub also answers for commits of forks, as if they were the repository's own.
    """
    tips = github.matching_refs("heads/")
    known = (f"refs/heads/{policy.base_branch}", event.ref or "")
    return sha in tips.values() or any(
        github.is_ancestor(sha, tips[name]) for name in dict.fromkeys(known) if name in tips
    )


def _resolve(name: str, github: GateReader) -> str | None:
    """A commit by its full SHA or by its branch; None if there is none."""
    if not SHA.fullmatch(name):
        return github.ref(f"heads/{name}")
    commit = github.find_commit(name)
    return commit.sha if commit else None
