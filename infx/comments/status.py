"""The commit status that says whether a head has been swept: the one to require before a merge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from infx.comments.progress import Counts, State, Sweep
from infx.errors import Problem
from infx.model import CommitStatus, StatusState
from infx.policy.decision import Decision, Reason
from infx.policy.identity import find_status
from infx.policy.model import Policy

_STATES = {
    State.RUNNING: StatusState.PENDING,
    State.DONE: StatusState.SUCCESS,
    State.FAILED: StatusState.FAILURE,
    State.CANCELLED: StatusState.FAILURE,
}
_PENDING = {
    Reason.READY: "No sweep has started yet. {words}",
    Reason.RUN_EXISTS: "A run has started; its gate has not decided yet.",
}

_BEYOND_PLANE_0 = re.compile(r"[^\0-\uffff]")


@dataclass(frozen=True, kw_only=True)
class Status:
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
    sweep: Sweep | None,
    problems: Sequence[Problem],
    *,
    touched: bool | None,
    entries: int | None,
) -> Status:
    """sweep: the one that stands for this head, if any. touched: whether the changelog is; entries: how many the
    pull request adds; None where it could not be seen.
    """
    state, text = _judge(policy, decision, sweep, problems, touched=touched, entries=entries)
    return Status(
        context=policy.sweep.contexts.sweep,
        state=state,
        description=fit_description(text, policy.limits.status_characters),
        target_url=sweep.run.url if sweep else "",
    )


def _judge(
    policy: Policy,
    decision: Decision,
    sweep: Sweep | None,
    problems: Sequence[Problem],
    *,
    touched: bool | None,
    entries: int | None,
) -> tuple[StatusState, str]:
    if problems:
        first = problems[0]
        where = f"{policy.changelog}:{first.line}" if first.line else policy.changelog
        return StatusState.FAILURE, f"{where}: {first.message}"
    if sweep is not None:
        return _STATES[sweep.state], _describe(sweep)
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


def _describe(sweep: Sweep) -> str:
    counts = [
        _say(name, count) for name, count in (("row", sweep.rows), ("eval", sweep.evals)) if count.total
    ]
    known = "; ".join(counts)
    match sweep.state:
        case State.RUNNING:
            return f"Running: {known or 'no rows yet'}."
        case State.DONE:
            return f"Swept: {known or 'nothing to run'}."
        case State.CANCELLED:
            return f"Cancelled: {known or 'before a row started'}."
        case State.FAILED:
            return f"Failed: {known or 'before a row started'}."


def _say(name: str, counts: Counts) -> str:
    """`12 of 40 rows done, 1 failed, 27 stopped`."""
    failed = f", {counts.failed} failed" if counts.failed else ""
    stopped = f", {counts.stopped} stopped" if counts.stopped else ""
    return f"{counts.done} of {counts.total} {name}{'s' * (counts.total != 1)} done{failed}{stopped}"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def fit_description(text: str, limit: int) -> str:
    """As a description that GitHub takes: one line, and no emoji, which it refuses there as 4-byte Unicode."""
    flat = _BEYOND_PLANE_0.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return flat if len(flat) <= limit else f"{flat[: limit - 1].rstrip()}…"
