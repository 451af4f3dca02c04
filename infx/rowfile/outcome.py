"""How the requests of a client ended. A measurement in which too many failed is marked, and its job fails."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

from .faults import RowFault
from .values import parse_finite, parse_whole

MAX_FAILURE_RATE = 0.05  # a larger share of failed requests makes the measurement a failed one


class RequestCounts(NamedTuple):
    """Numbers of requests.

    Attributes:
        requested: that the client was to send; None if the client does not say.
        completed: that were answered; None if the client does not say.
    """

    requested: int | None
    completed: int | None


class Outcome(NamedTuple):
    """How the requests ended.

    Attributes:
        values: the row's column `benchmark_outcome`; None if no request failed, or if the number is not known.
        is_known: whether the client says how many requests failed.
        faults: contradictions in the client's output, and too many failed requests.
    """

    values: dict[str, Any] | None
    is_known: bool
    faults: list[RowFault]


def judge_outcome(values: Mapping[str, Any], requested: int | None, path: str) -> Outcome:
    """Judge the numbers of requests in a client's output.

    requested: number of requests that the client was to send, if the command line has it.
    """
    own = values.get("benchmark_outcome")
    counts = count_requests(values, requested, own)
    if counts.requested is None or counts.completed is None:
        return Outcome(None, False, [])
    failed = counts.requested - counts.completed
    if faults := _find_contradictions(values, counts, own, path):
        return Outcome(None, True, faults)
    if not failed and own is None:
        return Outcome(None, True, [])
    limit = _read_limit(own)
    has_failed = failed > limit * counts.requested or (
        isinstance(own, dict) and own.get("status") == "failed"
    )
    outcome = {
        "requested": counts.requested,
        "completed": counts.completed,
        "failed": failed,
        "max_failure_rate": limit,
        "status": "failed" if has_failed else "passed",
    }
    return Outcome(outcome, True, [_describe(outcome, path)] if has_failed else [])


def count_requests(values: Mapping[str, Any], requested: int | None, own: object) -> RequestCounts:
    """Return the numbers of requests, from whatever field of the output has them."""
    completed = parse_whole(values.get("completed"))
    errors = values.get("errors")  # one text for each request, empty if it succeeded
    candidates = [
        requested,
        parse_whole(values.get("num_prompts")),
        parse_whole(own.get("requested")) if isinstance(own, dict) else None,
        _add(completed, parse_whole(values.get("failed"))),
        len(errors) if isinstance(errors, list) and errors else None,
    ]
    return RequestCounts(next((count for count in candidates if count is not None), None), completed)


def _find_contradictions(
    values: Mapping[str, Any], counts: RequestCounts, own: object, path: str
) -> list[RowFault]:
    assert counts.requested is not None
    assert counts.completed is not None
    failed = counts.requested - counts.completed
    clauses = []
    if failed < 0 or counts.completed < 0:
        clauses.append(str(counts.completed) + " of " + str(counts.requested) + " requests completed")
    reported = parse_whole(values.get("failed"))
    if reported is not None and reported != failed:
        clauses.append("failed is " + str(reported) + ", and requested less completed is " + str(failed))
    if own is not None:
        expected = {"requested": counts.requested, "completed": counts.completed, "failed": failed}
        numbers = {name: own.get(name) for name in expected} if isinstance(own, dict) else {}
        if numbers != expected:
            clauses.append("benchmark_outcome has other numbers than the rest of the file")
    return [
        RowFault(
            "request-counts-disagree", "The numbers of requests contradict each other: " + clause + ".", path
        )
        for clause in clauses
    ]


def _read_limit(own: object) -> float:
    """Return the share of failed requests that is allowed; a client may allow less, not more."""
    limit = parse_finite(own.get("max_failure_rate")) if isinstance(own, dict) else None
    return MAX_FAILURE_RATE if limit is None else min(max(limit, 0.0), MAX_FAILURE_RATE)


def _add(completed: int | None, failed: int | None) -> int | None:
    return None if completed is None or failed is None else completed + failed


def _describe(outcome: Mapping[str, Any], path: str) -> RowFault:
    share = 100 * outcome["failed"] / outcome["requested"] if outcome["requested"] else 100.0
    message = (
        str(outcome["completed"]) + " of " + str(outcome["requested"]) + " requests completed: "
        + format(share, ".4g") + " % failed, at most " + format(100 * outcome["max_failure_rate"], "g")
        + " % may. The row is written and marked as failed."
    )  # fmt: skip
    return RowFault("too-many-failed-requests", message, path)
