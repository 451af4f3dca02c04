"""Conditions of jobs in a situation of which everything is known: which jobs run after which results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infx.workflows.expressions import Value, can_hold, names, parse_condition


@dataclass(frozen=True, kw_only=True)
class Situation:
    """values: by lower-case name, such as `needs.plan.result`; what is not there is empty text."""

    values: Mapping[str, Value]
    results: tuple[str, ...]  # of all ancestors
    cancelled: bool = False


def holds(text: str | None, situation: Situation) -> bool:
    node = parse_condition(text)
    states = {
        "cancelled()": situation.cancelled,
        "failure()": not situation.cancelled and "failure" in situation.results,
        "success()": not situation.cancelled and all(result == "success" for result in situation.results),
    }
    return can_hold([(node, {**dict.fromkeys(names(node), ""), **situation.values, **states})])
