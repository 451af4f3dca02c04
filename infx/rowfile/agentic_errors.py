"""Check an AgentX replay: the share of failed requests by the client's own aggregate, and the metrics that a row requires."""

from __future__ import annotations

import json
import os
from typing import Any

from .agentic import SERVER, SUMMARY, find_export
from .agentic_statistics import read_number
from .errors import RowError

LIMIT = "0.10"  # the largest share of failed requests, unless the job says otherwise


def parse_limit(text: str) -> float:
    """Return a limit. Raises RowError (2) unless it is a number from 0 to 1."""
    limit = read_number(text)
    if limit is None or not 0 <= limit <= 1:
        raise RowError("The limit of failed requests is " + text + ". It must be a number from 0 to 1.", 2)
    return limit


def check_replay(results: str, limit: float, prefix: str) -> None:
    """Check a replay in a folder of results; return if it counts.

    limit: the largest share of failed requests. prefix: of a metric that the server must have had; empty if none must.
    Raises RowError if too many requests failed, if the metric is missing, or if neither can be known.
    """
    check_errors(_read_object(results, SUMMARY), limit)
    if prefix:
        check_metrics(_read_object(results, SERVER), prefix)


def check_errors(summary: dict[str, Any], limit: float) -> None:
    """Check the share of failed requests; return if it is at most the limit.

    Raises RowError if the share is larger or unknown, or if nothing was completed.
    """
    requests = _count(summary, "request_count")
    if requests is None:
        raise RowError(SUMMARY + " has no request_count, so the share of failed requests is not known.")
    failed = _count(summary, "error_request_count") or 0.0
    completed = _count(summary, "completed_request_count")
    completed = requests + failed if completed is None else completed
    if completed <= 0:
        raise RowError("The client completed no request.")
    if failed / completed > limit:
        raise RowError(
            format(failed, "g") + " of " + format(completed, "g") + " requests failed, at most "
            + format(limit * 100, "g") + " % may."
        )  # fmt: skip


def check_metrics(export: dict[str, Any], prefix: str) -> None:
    """Check that the server had a metric whose name begins with the prefix. Raises RowError without one."""
    metrics = export.get("metrics")
    names = list(metrics) if isinstance(metrics, dict) else []
    if not any(name.startswith(prefix) for name in names):
        raise RowError(
            SERVER
            + ": none of "
            + str(len(names))
            + " metrics begins with "
            + prefix
            + ", which this row requires."
        )


def _read_object(results: str, name: str) -> dict[str, Any]:
    """Return a file of the client. Raises RowError if it is missing or is not a JSON object."""
    path = os.path.join(find_export(results, name), name)
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except OSError as error:
        raise RowError(path + " cannot be read: " + str(error.strerror) + ".") from None
    except (ValueError, RecursionError):
        raise RowError(path + " is not JSON.") from None
    if not isinstance(value, dict):
        raise RowError(path + " is not a JSON object.")
    return value


def _count(summary: dict[str, Any], name: str) -> float | None:
    """Return the number of a metric; None if it is missing. Raises RowError for another form."""
    if name not in summary:
        return None
    metric = summary[name]
    average = metric.get("avg") if isinstance(metric, dict) else None
    number = None if isinstance(average, str) else read_number(average)
    if number is None or number < 0:
        raise RowError(SUMMARY + ": " + name + " must be an object whose avg is a number of at least 0.")
    return number
