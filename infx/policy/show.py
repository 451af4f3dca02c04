"""A decision for programs (outputs, JSON) and for people (what was looked at, a section of the summary)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infx.policy.case import Case, join_words, shorten
from infx.policy.decide import decide
from infx.policy.decision import Decision
from infx.policy.event import EventName
from infx.policy.facts import Facts
from infx.policy.model import Policy
from infx.saved import to_json


def render_outputs(decision: Decision) -> dict[str, str]:
    """Outputs of the gate's step: few, short, and none of them holds text of the pull request."""
    return {
        "verdict": decision.verdict.value,
        "reason": decision.reason.value,
        "refused": _boolean(decision.refused),
        "group": decision.group,
        "pull": "" if decision.pull is None else str(decision.pull),
        "head-sha": decision.head_sha or "",
        "merge-sha": decision.merge_sha or "",
        "canary": _boolean(decision.canary),
        "fail-fast": _boolean(decision.fail_fast),
    }


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def render_decision(decision: Decision) -> dict[str, Any]:
    """The decision as JSON, its sentence first."""
    return {"sentence": decision.sentence, **to_json(decision)}


def list_facts(facts: Facts, policy: Policy) -> list[tuple[str, str]]:
    """Everything that was looked at, as pairs of what it is and how it was found. Text of the PR is shortened."""
    found = [("event", _event(facts))]
    if facts.event.name in {EventName.PULL_REQUEST, EventName.DISPATCH}:
        found.append(("caused by", _actor(facts, policy)))
    if facts.pull is not None:
        found += _pull(facts, policy)
    if facts.head_message:
        found.append(("head commit says", shorten(facts.head_message, 80)))
    if facts.reuse is not None:
        found.append(("reuse", f"run {facts.reuse.run_id}, {facts.reuse.problem or 'usable'}"))
    return found


def list_also(facts: Facts, policy: Policy, decision: Decision) -> list[str]:
    """A sentence for each further obstacle, in the words it would have if it were the first."""
    return [_sentence(facts, policy, reason) for reason in decision.also]
