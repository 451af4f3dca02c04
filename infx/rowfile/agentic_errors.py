"""Check an AgentX replay: the share of failed requests by the client's own aggregate, and the metrics that a row requires."""

from __future__ import annotations

import json
import os
from typing import Any

from .agentic import SERVER, SUMMARY, find_export
from .faults import FaultsError, RowFault
from .values import parse_finite

LIMIT = "0.10"  # the largest share of failed requests, unless the job says otherwise
LIMIT_VARIABLE = "AIPERF_FAILED_REQUEST_THRESHOLD"
METRIC_VARIABLE = "AIPERF_REQUIRED_SERVER_METRIC_PREFIX"


def parse_limit(text: str) -> float | None:
    """Return a limit, or None unless it is a number from 0 to 1."""
    limit = parse_finite(text)
    return limit if limit is not None and 0 <= limit <= 1 else None


def check_replay(results: str, limit: float, prefix: str) -> None:
    """Check a replay in a folder of results; return if it counts.

    limit: the largest share of failed requests. prefix: of a metric that the server must have had; empty if none must.
    Raises FaultsError if too many requests failed, if the metric is missing, or if neither can be known.
    """
    check_errors(_read_object(results, SUMMARY), limit)
    if prefix:
        check_metrics(_read_object(results, SERVER), prefix)


def check_errors(summary: dict[str, Any], limit: float) -> None:
    """Check the share of failed requests; return if it is at most the limit.

    Raises FaultsError if the share is larger or unknown, or if nothing was completed.
    """
    requests = _count(summary, "request_count")
    if requests is None:
        message = SUMMARY + " has no request_count, so the share of failed requests is not known."
        raise FaultsError([RowFault("request-count-missing", message)])
    failed = _count(summary, "error_request_count") or 0.0
    completed = _count(summary, "completed_request_count")
    completed = requests + failed if completed is None else completed
    if completed <= 0:
        raise FaultsError([RowFault("nothing-completed", "The client completed no request.")])
    if failed / completed > limit:
        message = (
            format(failed, "g") + " of " + format(completed, "g") + " requests failed, at most "
            + format(limit * 100, "g") + " % may."
        )  # fmt: skip
        raise FaultsError([RowFault("too-many-failed-requests", message)])


def check_metrics(export: dict[str, Any], prefix: str) -> None:
    """Check that the server had a metric whose name begins with the prefix. Raises FaultsError without one."""
    metrics = export.get("metrics")
    names = list(metrics) if isinstance(metrics, dict) else []
    if not any(name.startswith(prefix) for name in names):
        message = (
            "None of " + str(len(names)) + " metrics of the server begins with " + prefix
            + ", which this row requires."
        )  # fmt: skip
        raise FaultsError([RowFault("server-metric-missing", message)])


def _read_object(results: str, name: str) -> dict[str, Any]:
    """Return a file of the client. Raises FaultsError if it is missing or is not a JSON object."""
    path = os.path.join(find_export(results, name), name)
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except OSError as error:
        message = "The file cannot be read: " + str(error.strerror) + "."
    except (ValueError, RecursionError):
        message = "The file is not JSON."
    else:
        if isinstance(value, dict):
            return value
        message = "The file is not a JSON object."
    raise FaultsError([RowFault("replay-file-unreadable", message, path)])


def _count(summary: dict[str, Any], name: str) -> float | None:
    """Return the number of a metric; None if it is missing. Raises FaultsError for another form."""
    if name not in summary:
        return None
    metric = summary[name]
    average = metric.get("avg") if isinstance(metric, dict) else None
    number = None if isinstance(average, str) else parse_finite(average)
    if number is None or number < 0:
        message = SUMMARY + ": " + name + " must be an object whose avg is a number of at least 0."
        raise FaultsError([RowFault("request-count-invalid", message)])
    return number
