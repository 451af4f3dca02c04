"""What must be true of a pull request before its branch is touched."""

from __future__ import annotations

from infx.comments.progress import SweepState
from infx.gate.facts import read_labels
from infx.merge.facts import MergeFacts
from infx.merge.steps import Done, MergeOutcome, RefusalReason, Refuse, Step, Wait, WaitReason
from infx.phrases import join_some, join_words
from infx.policy.merge import LabelRule
from infx.policy.model import OnMerge, Policy, SweepScope
from infx.reuse.decide import decide_reuse
from infx.reuse.decision import ReuseDecision, ReuseReason, ReuseVerdict

SHOWN = 5  # files or problems that a sentence names


def check_end(facts: MergeFacts, policy: Policy) -> Step | None:
    """Return the end if the pull request is merged, queued or closed, or belongs to another branch."""
    pull, name = facts.pull, f"Pull request {facts.pull.number}"
    if pull.is_merged:
        return Done(outcome=MergeOutcome.MERGED, words=f"{name} is merged.")
    if not pull.is_open:
        return Refuse(reason=RefusalReason.CLOSED, words=f"{name} is closed.", fix="Reopen it.")
    if pull.base_ref != policy.base_branch:
        words = f"{name} is for {pull.base_ref}, not for {policy.base_branch}."
        return Refuse(
            reason=RefusalReason.OTHER_BASE, words=words, fix="Change its base branch, or merge it by hand."
        )
    if facts.is_queued:
        return Done(outcome=MergeOutcome.QUEUED, words=f"{name} is in the merge queue.")
    return None


def check_head(facts: MergeFacts, policy: Policy) -> Step | None:
    """Refuse a head with other changes than those of the requested head."""
    del policy
    progress, head = facts.progress, facts.head
    if progress.pushed is not None and head == progress.parent:
        words = f"GitHub does not show the pushed commit {progress.pushed[:12]} yet."
        return Wait(reason=WaitReason.HEAD, words=words, fix="Run the command again.")
    if facts.has_same_changes:
        return None
    words = f"The head is {head}, with other changes than the requested {facts.request.sha}."
    fix = "Review the new head, and ask for its merge."
    return Refuse(reason=RefusalReason.HEAD_MOVED, words=words, fix=fix)


def check_draft(facts: MergeFacts, policy: Policy) -> Step | None:
    """Refuse a draft, which GitHub merges under no policy."""
    del policy
    if not facts.pull.is_draft:
        return None
    return Refuse(
        reason=RefusalReason.DRAFT,
        words=f"Pull request {facts.pull.number} is a draft.",
        fix="Mark it as ready for review.",
    )


def check_labels(facts: MergeFacts, policy: Policy) -> Step | None:
    """Refuse labels that do not stand for one full sweep, if the pull request adds entries."""
    labels = read_labels(facts.pull.labels, policy.labels)
    primary = [name for name, _ in labels.primary]
    full = [name for name, label in policy.labels.primary.items() if label.scope is SweepScope.FULL]
    fix = f"Keep exactly one of {join_words(full, limit=SHOWN)}."
    if len(primary) > 1:
        words = f"The labels {join_words(primary, limit=SHOWN)} ask for different sweeps."
        return Refuse(reason=RefusalReason.LABELS, words=words, fix=fix)
    if not adds_entries(facts, policy):
        return None
    if excluding := [name for name, label in labels.modifiers if not label.reusable]:
        words = f"The label {excluding[0]} starts sweeps that do not measure all that a merge needs."
        fix = "Remove it, and let a sweep run or name a run to reuse."
        return Refuse(reason=RefusalReason.EXCLUDING_LABEL, words=words, fix=fix)
    is_full = bool(set(primary) & set(full))
    if policy.merge.label is LabelRule.REQUIRED and not is_full:
        return Refuse(reason=RefusalReason.LABELS, words="The label of a full sweep is missing.", fix=fix)
    if primary and not is_full and not is_reused(facts, policy):
        words = f"The label {primary[0]} asks for a part of the sweep only."
        return Refuse(reason=RefusalReason.LABELS, words=words, fix=fix)
    return None


def adds_entries(facts: MergeFacts, policy: Policy) -> bool:
    """Return whether the pull request may add changelog entries; True if that is unknown."""
    changes = facts.state.changes
    touches = changes.paths is None or policy.changelog in changes.paths
    return touches and changes.entries != 0


def check_changelog(facts: MergeFacts, policy: Policy) -> Step | None:
    """Refuse problems of the changelog, and conflicts that infx does not resolve."""
    if problems := facts.state.changes.problems:
        listed = join_some([str(problem) for problem in problems], SHOWN, separator="; ")
        words = f"The changelog has problems: {listed}"
        fix = f"Correct them: infx changelog validate --pr {facts.pull.number} --fix."
        return Refuse(reason=RefusalReason.CHANGELOG, words=words, fix=fix)
    conflicts = facts.state.gate.conflicts
    others = [path for path in conflicts if path != policy.changelog]
    if others:
        words = f"The branch conflicts with {policy.base_branch} in {join_words(others, limit=SHOWN)}."
        fix = f"Merge {policy.base_branch} into the branch and resolve the conflict by hand."
        return Refuse(reason=RefusalReason.CONFLICT, words=words, fix=fix)
    if conflicts and facts.update is None:
        words = f"The conflict in {policy.changelog} is not between appended entries only."
        fix = f"Merge {policy.base_branch} into the branch and resolve the conflict by hand."
        return Refuse(reason=RefusalReason.CHANGELOG_CONFLICT, words=words, fix=fix)
    return None


def check_reuse(facts: MergeFacts, policy: Policy) -> Step | None:
    """Refuse a reuse that was asked for and is impossible, or that the policy or --run wants and no one asked for."""
    decision = _decide_reuse(facts, policy)
    command = next(iter(policy.reuse.commands))
    wanted = facts.request.run_id
    if decision.verdict is ReuseVerdict.REFUSED:
        fix = decision.fix or "Delete the command, or name another run."
        return Refuse(reason=RefusalReason.REUSE, words=_sentence(decision.words), fix=fix)
    if wanted is not None and (decision.source is None or decision.source.id != wanted):
        reused = f"run {decision.source.id}" if decision.source else "no run"
        words = f"Run {wanted} must be reused, but {reused} is: {decision.words}."
        return Refuse(reason=RefusalReason.OTHER_RUN, words=words, fix=f"Comment `{command} {wanted}`.")
    needs_reuse = policy.on_merge is OnMerge.REUSE and adds_entries(facts, policy)
    if not needs_reuse or decision.verdict is ReuseVerdict.REUSE or decision.reason is ReuseReason.NO_ROWS:
        return None
    words = "The policy wants a merge to reuse a finished sweep, but no one with write access asked for it."
    sweep = facts.state.sweep
    number = sweep.run.id if sweep is not None and sweep.state is SweepState.DONE else "RUN-NUMBER"
    return Refuse(
        reason=RefusalReason.REUSE, words=words, fix=f"Comment `{command} {number}` on the pull request."
    )


def _decide_reuse(facts: MergeFacts, policy: Policy) -> ReuseDecision:
    """Return the decision about reuse of the pull request as it is now."""
    asked = facts.state.reuse.facts if facts.state.reuse else None
    if asked is None:
        words = "no one asked for reuse"
        return ReuseDecision(verdict=ReuseVerdict.NOTHING, reason=ReuseReason.NOT_AUTHORIZED, words=words)
    return decide_reuse(asked, policy)


def is_reused(facts: MergeFacts, policy: Policy) -> bool:
    """Return whether a finished sweep is reused."""
    return _decide_reuse(facts, policy).verdict is ReuseVerdict.REUSE


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
