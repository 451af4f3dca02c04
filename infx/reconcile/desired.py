"""Decide from facts what should be on a pull request, and which writes are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from infx.comments.greeting import make_greeting, make_links
from infx.comments.notices import Cause, NoticeContext, find_causes, make_notices
from infx.comments.progress import SweepProgress, SweepState
from infx.comments.status import DesiredStatus, make_status
from infx.comments.sticky import Create, Delete, Sticky, Update, plan_edits
from infx.comments.visualizer import make_visualizer
from infx.gate.decide import decide
from infx.gate.decision import Decision, Reason
from infx.model import Comment, CommitStatus
from infx.policy.model import Policy
from infx.policy.paths import concerns
from infx.reconcile.acknowledge import Acknowledgement, acknowledge, plan_reactions
from infx.reconcile.actions import (
    Action,
    CancelRun,
    CommentAction,
    CreateComment,
    DeleteComment,
    PushCommit,
    SetStatus,
    UpdateComment,
)
from infx.reconcile.facts import ReconcileFacts, RepositoryContext, Resolution
from infx.records import record
from infx.reuse.command import find_misread_commands
from infx.reuse.decide import decide_reuse
from infx.reuse.decision import ReuseDecision

# A running sweep is cancelled for these reasons. A merge conflict is judged separately.
_ORPHANING = {
    Reason.OTHER_BASE,
    Reason.CLOSED,
    Reason.CONFLICTING_LABELS,
    Reason.NO_PRIMARY_LABEL,
    Reason.DRAFT,
    Reason.APPROVAL_STALE,
}


@record
class DesiredState:
    """The comments and statuses that a pull request should have."""

    comments: tuple[Sticky, ...] = ()  # a comment without text should not exist
    status: DesiredStatus | None = None
    cancel: tuple[tuple[int, str], ...] = ()  # runs, each with the reason
    push: PushCommit | None = None
    thumb: Acknowledgement | None = None


def decide_state(
    facts: ReconcileFacts, policy: Policy, place: RepositoryContext, *, can_push: bool = False
) -> DesiredState:
    """Return what should be on a pull request.

    Args:
        can_push: whether a token is available whose pushes start workflows.
    """
    decision = decide(facts.gate, policy)
    reuse = _decide_reuse(facts, policy)
    # The base branch of the pull request may have changed since notices and sweeps were made for it.
    if decision.reason is Reason.OTHER_BASE:
        return DesiredState(
            comments=_notices(facts, policy, place, ()), cancel=_cancel(facts, policy, decision)
        )
    return DesiredState(
        comments=_comments(facts, policy, place, decision, reuse, can_push=can_push),
        status=_status(facts, policy, decision) if facts.pull.is_open else None,
        cancel=_cancel(facts, policy, decision),
        push=_push(facts, policy, decision) if can_push else None,
        thumb=acknowledge(reuse),
    )


def _decide_reuse(facts: ReconcileFacts, policy: Policy) -> ReuseDecision | None:
    """Return the answer to reuse commands; None if none can count, or if it is not known."""
    if facts.reuse is None or facts.reuse.facts is None:
        return None
    return decide_reuse(facts.reuse.facts, policy)


def plan_actions(desired: DesiredState, facts: ReconcileFacts, policy: Policy) -> tuple[Action, ...]:
    """Return the missing writes in the order in which they are applied: first those that save GPU time."""
    number = facts.pull.number
    actions: list[Action] = [CancelRun(pull=number, run_id=run_id, why=why) for run_id, why in desired.cancel]
    if desired.push:
        actions.append(desired.push)
    actions += plan_comments(desired.comments, number, facts.comments, policy)
    if facts.reuse is not None:
        actions += plan_reactions(desired.thumb, facts.reuse.reactions, number, policy)
    wanted = [(facts.pull.head_sha, facts.statuses, desired.status)]
    for group in facts.groups:  # GitHub requires the statuses again on the merge-group commit
        wanted += [(group.sha, group.statuses, status) for status in (desired.status, _copy(facts.signoff))]
    for sha, present, status in wanted:
        if status and not status.is_published(present, policy.publisher):
            actions.append(SetStatus(pull=number, sha=sha, status=status))
    return tuple(actions)


def _copy(status: CommitStatus | None) -> DesiredStatus | None:
    """Return an existing status as one to set on another commit."""
    if status is None:
        return None
    return DesiredStatus(
        context=status.context,
        state=status.state,
        description=status.description,
        target_url=status.target_url,
    )


def plan_comments(
    stickies: Sequence[Sticky], number: int, comments: Sequence[Comment], policy: Policy
) -> list[CommentAction]:
    """Return the writes that bring the comments of a conversation in line with the stickies.

    Args:
        number: the pull request.
        comments: its conversation.
    """
    limit = policy.limits.comment_characters
    actions: list[CommentAction] = []
    for sticky in stickies:
        for edit in plan_edits(sticky, comments, policy.identities, limit):
            match edit:
                case Create(body=body, whole=whole):
                    actions.append(CreateComment(pull=number, key=sticky.key, body=body, whole=whole))
                case Update(id=comment_id, body=body, whole=whole):
                    update = UpdateComment(pull=number, key=sticky.key, id=comment_id, body=body, whole=whole)
                    actions.append(update)
                case Delete(id=comment_id):
                    actions.append(DeleteComment(pull=number, key=sticky.key, id=comment_id))
    return actions


def _comments(
    facts: ReconcileFacts,
    policy: Policy,
    place: RepositoryContext,
    decision: Decision,
    reuse: ReuseDecision | None,
    *,
    can_push: bool,
) -> tuple[Sticky, ...]:
    stickies: list[Sticky] = []
    paths = facts.changes.paths
    if facts.pull.is_open and (paths is None or concerns(policy, paths)):
        links = make_links(policy, place.repository, place.server, facts.base_files)
        stickies.append(make_greeting(policy, links, policy.comments.greeting.phrase))
    if visualizer := make_visualizer(policy, facts.sweeps, facts.gate.reuse, facts.comparison, facts.page):
        stickies.append(visualizer)
    needs_links = _wants_links(facts) and not can_push
    misread = bool(find_misread_commands(facts.comments, policy.reuse))
    causes = find_causes(
        decision,
        facts.changes.problems,
        is_open=facts.pull.is_open,
        links=needs_links,
        misread=misread,
        reuse=reuse,
    )
    notices = _notices(facts, policy, place, causes, reuse)
    return (*(_add_page(sticky, place) for sticky in stickies), *notices)


def _add_page(sticky: Sticky, place: RepositoryContext) -> Sticky:
    """Return the comment with the page that shows the complete text if the comment has to be shortened."""
    return replace(sticky, runs_url=f"{place.url}/actions/runs", run_id=place.run_id)


def _notices(
    facts: ReconcileFacts,
    policy: Policy,
    place: RepositoryContext,
    causes: Sequence[Cause],
    reuse: ReuseDecision | None = None,
) -> tuple[Sticky, ...]:
    context = NoticeContext(
        policy=policy,
        facts=facts.gate,
        problems=facts.changes.problems,
        clone_url=place.url,
        misread=find_misread_commands(facts.comments, policy.reuse),
        reuse=reuse,
        is_reuse_known=facts.reuse is not None,
    )
    return tuple(_add_page(sticky, place) for sticky in make_notices(context, causes))


def _wants_links(facts: ReconcileFacts) -> bool:
    """Return whether the pull request is about to be merged with a placeholder for a changelog link."""
    resolution, swept = facts.resolution, facts.sweep is not None and facts.sweep.state is SweepState.DONE
    return resolution is not None and len(resolution.parents) == 1 and (swept or facts.signed_off)


def _status(facts: ReconcileFacts, policy: Policy, decision: Decision) -> DesiredStatus:
    return make_status(
        policy,
        decision,
        facts.sweep,
        facts.changes.problems,
        touched=facts.gate.changelog.touched,
        entries=facts.changes.entries,
        proof=facts.proof,
    )


def _cancel(facts: ReconcileFacts, policy: Policy, decision: Decision) -> tuple[tuple[int, str], ...]:
    orphans = _find_orphans(facts, policy, decision)
    if decision.reason is Reason.OTHER_BASE:
        # Another pull request, into the base branch, may come from the same branch.
        orphans = [sweep for sweep in orphans if set(sweep.run.pull_numbers) <= {facts.pull.number}]
    return tuple((sweep.run.id, decision.words) for sweep in orphans)


def _find_orphans(facts: ReconcileFacts, policy: Policy, decision: Decision) -> list[SweepProgress]:
    """Return running sweeps that no event can stop.

    GitHub starts no run for a pull request with conflicts, and the sweep workflow ignores other base
    branches.
    """
    reasons = {decision.reason, *decision.also}
    only_changelog = set(facts.gate.conflicts) == {policy.changelog}
    is_invalid = _ORPHANING & reasons or (Reason.MERGE_CONFLICT in reasons and not only_changelog)
    if not is_invalid:
        return []
    return [sweep for sweep in facts.sweeps if sweep.swept and not sweep.run.is_completed]


def _push(facts: ReconcileFacts, policy: Policy, decision: Decision) -> PushCommit | None:
    """Return the commit to push into a branch of this repository, or None if nothing needs the commit.

    A commit is needed for a sweep that cannot start because of a conflict, and for a merge without canonical
    links. A queued pull request gets no commit.
    """
    pull, resolution = facts.pull, facts.resolution
    if resolution is None or pull.is_fork or facts.groups or not pull.is_open:
        return None
    swept = facts.sweep is not None
    wants_sweep = Reason.NO_PRIMARY_LABEL not in {decision.reason, *decision.also} and not swept
    if not (facts.signed_off or (len(resolution.parents) > 1 and wants_sweep)):
        return None
    return make_push(facts, resolution, policy)


def make_push(facts: ReconcileFacts, resolution: Resolution, policy: Policy) -> PushCommit:
    """Return the commit that updates the branch, with the skip marker if the sweep still counts for the commit."""
    merges = len(resolution.parents) > 1
    subject = (
        f"Merge {policy.base_branch}, with its changelog entries first"
        if merges
        else "Make changelog links canonical"
    )
    keeps_sweep = facts.sweep is not None and resolution.keeps_sweep
    return PushCommit(
        pull=facts.pull.number,
        branch=facts.pull.head_ref,
        path=policy.changelog,
        changelog=resolution.changelog,
        tree=resolution.tree,
        parents=resolution.parents,
        message=f"{subject} {policy.sweep.skip_marker}" if keeps_sweep else subject,
    )
