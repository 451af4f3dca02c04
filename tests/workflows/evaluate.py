"""Evaluate the conditions of jobs when all values are known: which jobs run after which results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infx.workflows.expressions import Value, can_hold, find_names, parse_condition


@dataclass(frozen=True, kw_only=True)
class Situation:
    """The state of a run when GitHub evaluates a condition."""

    values: Mapping[
        str, Value
    ]  # by lower-case name, such as `needs.plan.result`; other names are empty texts
    results: tuple[str, ...]  # of all jobs that the job waits for
    cancelled: bool = False


def holds(text: str | None, situation: Situation) -> bool:
    """Return whether a condition holds in a situation."""
    node = parse_condition(text)
    states = {
        "cancelled()": situation.cancelled,
        "failure()": not situation.cancelled and "failure" in situation.results,
        "success()": not situation.cancelled and all(result == "success" for result in situation.results),
    }
    return can_hold([(node, {**dict.fromkeys(find_names(node), ""), **situation.values, **states})])
