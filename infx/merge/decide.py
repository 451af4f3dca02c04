"""Decide the next step of a merge from facts. Every step is safe to repeat, so a stopped merge continues here."""

from __future__ import annotations

from infx.comments.progress import SweepState
from infx.merge.checks import CheckState, judge_checks
from infx.merge.facts import MergeFacts, Trouble
from infx.merge.preconditions import (
    check_changelog,
    check_draft,
    check_end,
    check_head,
    check_labels,
    check_reuse,
    is_reused,
)
from infx.merge.steps import (
    Action,
    Done,
    Enqueue,
    MergePull,
    PublishStatuses,
    RefusalReason,
    Refuse,
    Step,
    UpdateBranch,
    Wait,
    WaitReason,
)
from infx.model import CommitStatus, MergeMethod, StatusState
from infx.phrases import join_words
from infx.policy.identity import find_status
from infx.policy.model import Policy
from infx.reconcile.desired import make_push

BY_HAND = "Someone with write access runs in a clone:"
SHOWN = 4  # checks that a sentence names


def decide_step(facts: MergeFacts, policy: Policy) -> Step:
    """Return the next thing to do, what must become true first, or the end."""
    checks = (
        check_end,
        check_head,
        check_draft,
        check_labels,
        check_changelog,
        check_reuse,
        _publish_statuses,
        _check_sweep,
        _check_signoff,
        _update_branch,
        _check_required,
        _check_test_merge,
    )
    for check in checks:
        if (step := check(facts, policy)) is not None:
            return step
    return _merge(facts, policy)


def list_steps(facts: MergeFacts, policy: Policy) -> tuple[Step, ...]:
    """Return the next step and those that follow if everything goes well."""
    first = decide_step(facts, policy)
    if isinstance(first, Done | Refuse):
        return (first,)
    names = [check.context for check in facts.rules.checks]
    checks = f"{join_words(names, limit=SHOWN)} must be green on the head."
    wait = Wait(reason=WaitReason.CHECKS, words=checks)
    last = _merge(facts, policy)
    match first:
        case MergePull() | Enqueue():
            return (first,)
        case UpdateBranch():
            statuses = Wait(reason=WaitReason.STATUSES, words="infx's statuses must be on the pushed head.")
            return (first, statuses, *([wait] if names else []), last)
        case PublishStatuses():
            return (first, *([wait] if names else []), last)
    return (first, last)


def _publish_statuses(facts: MergeFacts, policy: Policy) -> Step | None:
    """Compare the statuses once for each head, if the published ones are not as they should be."""
    if facts.is_published or not facts.ability.can_publish:
        return None
    is_missing = facts.status is not None and not facts.status.is_published(
        facts.state.statuses, policy.publisher
    )
    lacks_signoff = policy.signoff.status is not None and not facts.state.signed_off
    return PublishStatuses(sha=facts.head) if is_missing or lacks_signoff else None


def _check_sweep(facts: MergeFacts, policy: Policy) -> Step | None:
    """Ask for infx's sweep status on the head, as published and as it should be."""
    if facts.update is not None and is_reused(facts, policy):
        return None  # a conflict keeps the status pending; the updated head is judged
    wanted = facts.status
    status = find_status(facts.state.statuses, policy.sweep.contexts.sweep, policy.publisher)
    if wanted is not None and wanted.state is not StatusState.SUCCESS:
        sweep = facts.state.sweep
        if sweep is not None and sweep.state is SweepState.RUNNING:
            words = f"The sweep of run {sweep.run.id} has not finished: {wanted.description}"
            return Wait(reason=WaitReason.SWEEP, words=words, fix="Run the command again when it has ended.")
        fix = f"Ask `infx explain --pr {facts.pull.number}` for the way to a green status."
        return Refuse(
            reason=RefusalReason.SWEEP, words=_describe(wanted.context, wanted.description), fix=fix
        )
    return _judge_published(facts, policy, status, policy.sweep.contexts.sweep, RefusalReason.SWEEP)


def _check_signoff(facts: MergeFacts, policy: Policy) -> Step | None:
    """Ask for infx's sign-off status on the head, if the policy has one."""
    context = policy.signoff.status
    if context is None or facts.state.signed_off:
        return None
    return _judge_published(facts, policy, facts.state.signoff, context, RefusalReason.SIGNOFF)


def _judge_published(
    facts: MergeFacts, policy: Policy, status: CommitStatus | None, context: str, refusal: RefusalReason
) -> Step | None:
    """Return what a status that infx publishes lacks. A workflow sets it a moment after a push."""
    if status is not None and status.state is StatusState.SUCCESS:
        return None
    workflow = "reconcile" if refusal is RefusalReason.SWEEP else "signoff"
    fix = f"Start the workflow {workflow} for pull request {facts.pull.number}."
    if status is None and not facts.ability.can_publish:
        words = f"{policy.publisher[0]} has not set {context} on the head."
        return Wait(reason=WaitReason.STATUSES, words=words, fix=fix)
    description = status.description if status else f"{policy.publisher[0]} has not set it on the head"
    words = _describe(context, description)
    is_late = facts.head == facts.progress.pushed and not facts.ability.can_publish
    if is_late and status is not None and status.state is StatusState.PENDING:
        return Wait(reason=WaitReason.STATUSES, words=words, fix=fix)
    if refusal is RefusalReason.SIGNOFF:
        fix = "A sign-off of this head, or of one with the same changes, must pass: infx signoff verify shows why not."
    return Refuse(reason=refusal, words=words, fix=fix)


def _describe(context: str, description: str) -> str:
    return f"{context} is not green: {description.rstrip('.')}."


def _update_branch(facts: MergeFacts, policy: Policy) -> Step | None:
    """Push the commit that the branch needs: the base branch merged, the changelog resolved, the links canonical."""
    if facts.update is None:
        return None
    pull, push = facts.pull, make_push(facts.state, facts.update, policy)
    why = "merge the base branch" if len(push.parents) > 1 else "make the changelog's links canonical"
    if pull.is_fork:
        words = f"The branch is in a fork, where infx cannot {why}."
        resolve = (
            f"`git merge {policy.base_branch}` and `infx changelog resolve`, "
            if len(push.parents) > 1
            else ""
        )
        fix = (
            f"Its author runs {resolve}`infx changelog canonicalize --pr {pull.number} --write`, and pushes."
        )
        return Refuse(reason=RefusalReason.FORK, words=words, fix=fix)
    if facts.progress.trouble is Trouble.PUSH and facts.progress.troubled == facts.head:
        words = f"The branch was not updated: {facts.progress.words.rstrip('.')}."
        return Refuse(reason=RefusalReason.PUSH, words=words, fix=BY_HAND, command=render_command(facts))
    return _require_start(facts, UpdateBranch(push=push))


def _require_start(facts: MergeFacts, step: Action) -> Step:
    """Return the step, or a refusal if nothing would start after it."""
    if facts.ability.can_start:
        return step
    return Refuse(
        reason=RefusalReason.NO_APP_TOKEN,
        words=f"The workflow's own token starts no workflow, so it must not do the next step: {step}",
        fix=BY_HAND,
        command=render_command(facts),
    )


def render_command(facts: MergeFacts) -> str:
    """Return the command line that continues this merge in a clone of the repository."""
    request = facts.request
    options = [f"--head {facts.head}"]
    options += [f"--run {request.run_id}"] if request.run_id is not None else []
    options += [f"--method {request.method}"] if request.method is not None else []
    return f"infx merge {request.pull} {' '.join(options)}"


def _check_required(facts: MergeFacts, policy: Policy) -> Step | None:
    """Ask for every check that the branch's rules require, green on exactly this head."""
    del policy
    verdicts = judge_checks(facts.rules.checks, facts.checks, facts.state.statuses, facts.apps)
    open_checks = [verdict for verdict in verdicts if verdict.state is not CheckState.GREEN]
    if not open_checks:
        return None
    bad = [verdict for verdict in open_checks if verdict.state is CheckState.BAD]
    names = join_words([verdict.words for verdict in bad or open_checks], limit=SHOWN)
    words = f"Required checks are not green on {facts.head[:12]}: {names}."
    if bad:
        return Refuse(
            reason=RefusalReason.CHECKS, words=words, fix="Correct what they report, or run them again."
        )
    return Wait(reason=WaitReason.CHECKS, words=words, fix="Run the command again when they have ended.")


def _check_test_merge(facts: MergeFacts, policy: Policy) -> Step | None:
    """Wait until GitHub knows that the head merges cleanly; the clone has shown it already."""
    del policy
    if facts.pull.mergeable:
        return None
    words = "GitHub has not computed yet whether the head can be merged."
    return Wait(reason=WaitReason.TEST_MERGE, words=words, fix="Run the command again in a minute.")


def _merge(facts: MergeFacts, policy: Policy) -> Step:
    """Merge, or queue if the branch's rules require the merge queue."""
    rules, wanted = facts.rules, facts.request.method
    allowed = (rules.queue,) if rules.queue else rules.methods
    method = wanted or rules.queue or policy.merge.method
    if method not in allowed:
        source = (
            "The merge queue merges" if rules.queue else f"The rules of {policy.base_branch} allow merges"
        )
        words = f"{source} only by {join_words(allowed)}, not by {method}."
        fix = (
            f"Give --method {allowed[0]}, or set merge.method in the policy."
            if allowed
            else "Ask an administrator."
        )
        return Refuse(reason=RefusalReason.METHOD, words=words, fix=fix)
    progress = facts.progress
    if progress.trouble is Trouble.MERGE and progress.troubled == facts.head:
        fix = "GitHub's rules decide; infx does not go around them."
        return Refuse(reason=RefusalReason.GITHUB, words=f"{progress.words.rstrip('.')}.", fix=fix)
    return _require_start(facts, _choose_merge(facts, method))


def _choose_merge(facts: MergeFacts, method: MergeMethod) -> Action:
    if facts.rules.queue and facts.node_id:
        return Enqueue(sha=facts.head, node_id=facts.node_id, method=method)
    return MergePull(sha=facts.head, method=method)
