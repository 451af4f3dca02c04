"""The questions that a row of a later attempt asks GitHub before it uses a GPU, saved when the plan is split.

A partial re-run repeats neither the gate nor the plan. The row's machine has no infx, so `infx.rowfile.again` asks by
these values alone, and refuses what it cannot decide.
"""

from __future__ import annotations

from typing import Any

from infx.gate.decision import Decision
from infx.policy.model import Policy


def make_row_rules(decision: Decision | None, policy: Policy) -> dict[str, Any] | None:
    """Return the values as JSON; None for a sweep of no pull request, whose rows may always run again."""
    if decision is None or decision.pull is None:
        return None
    return {
        "pull": decision.pull,
        "head-sha": decision.head_sha,
        "labels": list(policy.labels.primary),
        "publishers": list(policy.publisher),
        "approval": policy.sweep.contexts.approval,
        "sweep": policy.sweep.contexts.sweep,
    }
