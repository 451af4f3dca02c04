"""The decision about reuse in the form that the gate's facts hold, because the gate does not know this package."""

from __future__ import annotations

from infx.gate.case import one_line
from infx.gate.facts import Reuse
from infx.phrases import join_some
from infx.reuse.decision import ReuseDecision, ReuseVerdict

SHOWN = 2  # files that a clause names
UNKNOWN_COVERAGE = "an unknown part of the rows"


def make_gate_reuse(decision: ReuseDecision) -> Reuse:
    """Return what the gate, the status and the comments need of a decision."""
    reason, pull = decision.reason.value, decision.pull
    if decision.verdict is ReuseVerdict.NOTHING:
        return Reuse(pull=pull, reason=reason, absence=decision.words)
    source = decision.source
    if source is None:
        return Reuse(pull=pull, reason=reason, problem=decision.words, fix=decision.fix)
    return Reuse(
        run_id=source.id,
        attempt=source.attempt,
        url=source.url,
        head_sha=source.commit,
        pull=pull,
        coverage=decision.coverage.words if decision.coverage else UNKNOWN_COVERAGE,
        is_incomplete=decision.is_incomplete,
        doubt=_find_doubt(decision),
        reason=reason,
    )


def _find_doubt(decision: ReuseDecision) -> str | None:
    """Return why a required status must not turn green for the results, as a clause."""
    if decision.coverage is None:
        return "it is unknown which rows they cover"
    if decision.edits:
        return f"its commit changed {join_some([one_line(path) for path in decision.edits], SHOWN)}"
    return None
