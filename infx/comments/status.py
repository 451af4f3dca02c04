"""The commit status that says whether a head was swept. Branch protection should require it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from infx.comments.progress import Counts, SweepProgress, SweepState
from infx.errors import Problem
from infx.evidence.proof import CHECK, Proof
from infx.gate.decision import Decision, Reason
from infx.model import CommitStatus, StatusState
from infx.phrases import count
from infx.policy.identity import find_status
from infx.policy.model import Policy
from infx.policy.signoff import Role
from infx.records import record

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
_BEYOND_PLANE_0 = r"[^\0-\uffff]"


@record
class DesiredStatus:
    """A commit status as it should be on GitHub."""

    context: str
    state: StatusState
    description: str
    target_url: str = ""

    def is_published(self, statuses: Sequence[CommitStatus], identities: Sequence[str]) -> bool:
        """Return whether the newest status of this context is equal and set by infx. statuses: newest first."""
        current = find_status(statuses, self.context, identities)
        wanted = (self.state, self.description, self.target_url)
        return current is not None and (current.state, current.description, current.target_url) == wanted


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

    Args:
        sweep: the sweep that counts for this head, if any.
        problems: problems of the changelog.
        touched: whether the pull request changes the changelog; None if that is unknown.
        entries: number of entries that the pull request adds; None if that is unknown.
        proof: the evidence for a successful sweep; None if it could not be checked.
    """
    if problems:
        state, text = StatusState.FAILURE, f"{_problem_prefix(policy)}{_locate(problems[0])}"
    elif sweep is not None and not _is_replaced(sweep, decision, proof):
        state, text = _judge_sweep(policy, sweep, proof)
    else:
        sweep = None
        state, text = _judge_without_sweep(policy, decision, touched=touched, entries=entries)
    reused_url = decision.reuse.url if decision.reuse else ""
    return _make(policy, state, text, sweep.run.url if sweep else reused_url)


def pick_least_favorable(own: DesiredStatus, others: Mapping[int, DesiredStatus]) -> DesiredStatus:
    """Return the worst status of the pull requests that share a head; of equal ones that of the lowest number.

    others: number → status of all these pull requests, including `own`, so that all of them get the same status.
    """
    if len(others) < 2:
        return own
    number = min(others, key=lambda number: (_WORST_FIRST.index(others[number].state), number))
    worst = others[number]
    return replace(worst, description=f"PR {number}: {worst.description}")


def is_granted(policy: Policy, statuses: Sequence[CommitStatus], sweep: SweepProgress) -> bool:
    """Return whether infx's newest status already reports a success for this sweep. statuses: newest first."""
    granted = _make(policy, StatusState.SUCCESS, _describe(sweep), sweep.run.url)
    return granted.is_published(statuses, policy.identities)


def find_changelog_problem(policy: Policy, statuses: Sequence[CommitStatus]) -> str | None:
    """Return the changelog problem that infx's newest status names, if any."""
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
        return _judge_reuse(decision)
    if decision.refused:
        return StatusState.FAILURE, _to_sentence(decision.words)
    return StatusState.PENDING, _PENDING.get(decision.reason, "{words}").format(
        words=_to_sentence(decision.words)
    )


def _is_replaced(sweep: SweepProgress, decision: Decision, proof: Proof | None) -> bool:
    """Return whether reused results count in the place of a sweep of the head that lacks rows.

    A follow-up sweep lacks the rows of the sweep that it completes; reused, its union counts.
    """
    is_bad = sweep.state in {SweepState.FAILED, SweepState.CANCELLED}
    lacks_rows = sweep.state is SweepState.DONE and proof is not None and proof.gap is not None
    return (is_bad or lacks_rows) and decision.reason is Reason.REUSED


def _judge_reuse(decision: Decision) -> tuple[StatusState, str]:
    """Judge reused results. Someone with authority may have accepted a part of the rows, but not unknown rows."""
    doubt = decision.reuse.doubt if decision.reuse else "it is unknown which rows they cover"
    if doubt is not None:
        return StatusState.PENDING, _to_sentence(f"{decision.words}, but {doubt}")
    return StatusState.SUCCESS, _to_sentence(decision.words)


def _judge_sweep(policy: Policy, sweep: SweepProgress, proof: Proof | None) -> tuple[StatusState, str]:
    """Judge a sweep. A successful run is a success only with a proof that it measured what was planned."""
    text = _describe(sweep)
    if sweep.state is not SweepState.DONE:
        return _STATES[sweep.state], text
    if proof is not None and proof.is_good:
        by = f" {proof.settled_by} settled the changes to {_name_paths(proof.edits)}." if proof.edits else ""
        return StatusState.SUCCESS, f"{text}{by}"
    text = f"Swept: {_count_rows(sweep) or 'no rows'}"
    if proof is None:
        return StatusState.PENDING, f"{text}. The plan is unknown without a clone of the repository."
    if proof.gap is not None:
        return StatusState.PENDING, f"{text}, but {proof.gap}."
    check = policy.signoff.checks[CHECK]
    if check.settled_by is Role.NO_ONE:
        return StatusState.PENDING, f"{text}, but the PR changes {_name_paths(proof.edits)}."
    command = f"`{policy.signoff.settle_command} {CHECK} <reason>`"
    text += f". Needs {command} by role {check.settled_by}: changes to {_name_paths(proof.edits)}."
    return StatusState.PENDING, text


def _name_paths(paths: Sequence[str]) -> str:
    more = f" and {count(len(paths) - 1, 'more file')}" if len(paths) > 1 else ""
    return f"{paths[0]}{more}"


def _describe(sweep: SweepProgress) -> str:
    rows = _count_rows(sweep)
    if sweep.plan_was_replaced and sweep.state is SweepState.FAILED:
        return f"Failed: another job replaced the plan of this run. {rows or 'No row started'}."
    match sweep.state:
        case SweepState.RUNNING:
            return f"Running: {rows or 'no rows yet'}."
        case SweepState.DONE:
            return f"Swept: {rows or 'nothing to run'}."
        case SweepState.CANCELLED:
            return f"Cancelled: {rows or 'before a row started'}."
        case SweepState.FAILED:
            return f"Failed: {rows or 'before a row started'}."


def _count_rows(sweep: SweepProgress) -> str:
    counts = (("row", sweep.rows), ("eval", sweep.evals))
    return "; ".join(_describe_counts(name, counted) for name, counted in counts if counted.total)


def _describe_counts(name: str, counts: Counts) -> str:
    """Return text such as `12 of 40 rows done, 1 failed, 27 stopped`."""
    failed = f", {counts.failed} failed" if counts.failed else ""
    stopped = f", {counts.stopped} stopped" if counts.stopped else ""
    return f"{counts.done} of {counts.total} {name}{'s' * (counts.total != 1)} done{failed}{stopped}"


def _to_sentence(words: str) -> str:
    """Turn a clause into a sentence. The clause must not begin with a name, because names keep their case."""
    return f"{words[:1].upper()}{words[1:]}."


def fit_description(text: str, limit: int) -> str:
    """Return the text as GitHub accepts it for a status: one line without 4-byte Unicode, such as emoji."""
    flat = re.sub(_BEYOND_PLANE_0, "\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return flat if len(flat) <= limit else f"{flat[: limit - 1].rstrip()}…"
