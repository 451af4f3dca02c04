"""The commit status that says whether a head has been swept: the one to require before a merge."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from infx.comments.progress import Counts, SweepProgress, SweepState
from infx.errors import Problem
from infx.evidence.proof import CHECK, Proof
from infx.gate.decision import Decision, Reason
from infx.model import CommitStatus, StatusState
from infx.phrases import count
from infx.policy.identity import find_status
from infx.policy.model import Policy
from infx.policy.signoff import Role

_STATES = {
    SweepState.RUNNING: StatusState.PENDING,
    SweepState.FAILED: StatusState.FAILURE,
    SweepState.CANCELLED: StatusState.FAILURE,
}
_PENDING = {
    Reason.READY: "No sweep has started yet. {words}",
    Reason.RUN_EXISTS: "A run has started; its gate has not decided yet.",
}

_WORST_FIRST = (StatusState.ERROR, StatusState.FAILURE, StatusState.PENDING, StatusState.SUCCESS)
_BEYOND_PLANE_0 = re.compile(r"[^\0-\uffff]")


@dataclass(frozen=True, kw_only=True)
class DesiredStatus:
    """A commit status as it should be."""

    context: str
    state: StatusState
    description: str
    target_url: str = ""

    def is_there(self, statuses: Sequence[CommitStatus], identities: Sequence[str]) -> bool:
        """Whether the newest status of this context says the same and is ours. statuses: newest first."""
        there = find_status(statuses, self.context, identities)
        said = (self.state, self.description, self.target_url)
        return there is not None and (there.state, there.description, there.target_url) == said


def make_status(
    policy: Policy,
    decision: Decision,
    sweep: SweepProgress | None,
    problems: Sequence[Problem],
    *,
    touched: bool | None,
    entries: int | None,
    proof: Proof | None = None,
) -> DesiredStatus:
    """Return the status of a head.

    sweep: the one that stands for this head, if any. touched: whether the changelog is; entries: how many the
    pull request adds; None where it could not be seen. proof: what speaks for a sweep that ended well; None where
    nobody could look.
    """
    if problems:
        state, text = StatusState.FAILURE, f"{_problem_prefix(policy)}{_locate(problems[0])}"
    elif sweep is not None:
        state, text = _judge_sweep(policy, sweep, proof)
    else:
        state, text = _judge_without_sweep(policy, decision, touched=touched, entries=entries)
    return _make(policy, state, text, sweep.run.url if sweep else "")


def pick_least_favorable(own: DesiredStatus, others: Mapping[int, DesiredStatus]) -> DesiredStatus:
    """Return the status of a commit that is the head of several pull requests: the worst, and of equals that of the
    lowest number.

    others: number → status, this pull request's own among them, so that each of them comes to the same answer.
    """
    if len(others) < 2:
        return own
    number = min(others, key=lambda number: (_WORST_FIRST.index(others[number].state), number))
    worst = others[number]
    return replace(worst, description=f"PR {number}: {worst.description}")


def is_granted(policy: Policy, statuses: Sequence[CommitStatus], sweep: SweepProgress) -> bool:
    """Return whether our newest status says already that this sweep is all that is needed. statuses: newest first."""
    granted = _make(policy, StatusState.SUCCESS, _describe(sweep), sweep.run.url)
    return granted.is_there(statuses, policy.identities)


def find_changelog_problem(policy: Policy, statuses: Sequence[CommitStatus]) -> str | None:
    """Return what our newest status says is wrong with the changelog; None if it says no such thing."""
    status = find_status(statuses, policy.sweep.contexts.sweep, policy.identities)
    if status is None or status.state is not StatusState.FAILURE:
        return None
    prefix = _problem_prefix(policy)
    return status.description.removeprefix(prefix) if status.description.startswith(prefix) else None


def _make(policy: Policy, state: StatusState, text: str, url: str) -> DesiredStatus:
    description = fit_description(text, policy.limits.status_characters)
    return DesiredStatus(
        context=policy.sweep.contexts.sweep, state=state, description=description, target_url=url
    )


def _problem_prefix(policy: Policy) -> str:
    return f"{policy.changelog}:"


def _locate(problem: Problem) -> str:
    return f"{problem.line}: {problem.message}" if problem.line else f" {problem.message}"


def _judge_without_sweep(
    policy: Policy, decision: Decision, *, touched: bool | None, entries: int | None
) -> tuple[StatusState, str]:
    if touched is False:
        return StatusState.SUCCESS, f"{policy.changelog} is untouched; nothing to run."
    if entries == 0:
        return StatusState.SUCCESS, "Only links of old entries are corrected; nothing to run."
    if decision.reason is Reason.REUSED:
        return StatusState.SUCCESS, _sentence(decision.words)
    if decision.refused:
        return StatusState.FAILURE, _sentence(decision.words)
    return StatusState.PENDING, _PENDING.get(decision.reason, "{words}").format(
        words=_sentence(decision.words)
    )


def _judge_sweep(policy: Policy, sweep: SweepProgress, proof: Proof | None) -> tuple[StatusState, str]:
    """A sweep that ended well is a success only with a proof that it is the one that was planned."""
    said = _describe(sweep)
    if sweep.state is not SweepState.DONE:
        return _STATES[sweep.state], said
    if proof is not None and proof.is_good:
        by = f" {proof.settled_by} settled that {_name(proof.edits)} changed." if proof.edits else ""
        return StatusState.SUCCESS, f"{said}{by}"
    said = f"Swept: {_count_rows(sweep) or 'no row'}"
    if proof is None:
        return StatusState.PENDING, f"{said}. Without a clone of the repository, its plan cannot be seen."
    if proof.gap is not None:
        return StatusState.PENDING, f"{said}, but {proof.gap}."
    check = policy.signoff.checks[CHECK]
    if check.settled_by is Role.NOBODY:
        return StatusState.PENDING, f"{said}, but the PR changes {_name(proof.edits)}."
    command = f"`{policy.signoff.settle_command} {CHECK} <reason>`"
    text = (
        f"{said}. It takes {command} by role {check.settled_by}, because of changes to {_name(proof.edits)}."
    )
    return StatusState.PENDING, text


def _name(paths: Sequence[str]) -> str:
    more = f" and {count(len(paths) - 1, 'more file')}" if len(paths) > 1 else ""
    return f"{paths[0]}{more}"


def _describe(sweep: SweepProgress) -> str:
    known = _count_rows(sweep)
    if sweep.plan_was_replaced and sweep.state is SweepState.FAILED:
        return f"Failed: another job replaced the plan of this run. {known or 'No row started'}."
    match sweep.state:
        case SweepState.RUNNING:
            return f"Running: {known or 'no rows yet'}."
        case SweepState.DONE:
            return f"Swept: {known or 'nothing to run'}."
        case SweepState.CANCELLED:
            return f"Cancelled: {known or 'before a row started'}."
        case SweepState.FAILED:
            return f"Failed: {known or 'before a row started'}."


def _count_rows(sweep: SweepProgress) -> str:
    counts = (("row", sweep.rows), ("eval", sweep.evals))
    return "; ".join(_say(name, counted) for name, counted in counts if counted.total)


def _say(name: str, counts: Counts) -> str:
    """`12 of 40 rows done, 1 failed, 27 stopped`."""
    failed = f", {counts.failed} failed" if counts.failed else ""
    stopped = f", {counts.stopped} stopped" if counts.stopped else ""
    return f"{counts.done} of {counts.total} {name}{'s' * (counts.total != 1)} done{failed}{stopped}"


def _sentence(words: str) -> str:
    """words: a clause whose first word is no name, as those of all rules; names keep their case."""
    return f"{words[:1].upper()}{words[1:]}."


def fit_description(text: str, limit: int) -> str:
    """As a description that GitHub takes: one line, and no emoji, which it refuses there as 4-byte Unicode."""
    flat = _BEYOND_PLANE_0.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return flat if len(flat) <= limit else f"{flat[: limit - 1].rstrip()}…"
