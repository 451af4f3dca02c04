"""How the measured requests of an AgentX replay ended. The warm-up does not count."""

from __future__ import annotations

from typing import Any

from .agentic_records import Replay


def judge_replay(replay: Replay, limit: float) -> dict[str, Any]:
    """Return the column `benchmark_outcome`. limit: the largest share of failed requests that passes, from 0 to 1."""
    completed, failed = len(replay.good), replay.failed_measured
    passes = bool(completed) and failed / (completed + failed) <= limit
    return {
        "requested": completed + failed,
        "completed": completed,
        "failed": failed,
        "max_failure_rate": limit,
        "status": "passed" if passes else "failed",
    }


def describe_outcome(outcome: dict[str, Any]) -> list[str]:
    """Return a sentence if requests failed."""
    if not outcome["failed"]:
        return []
    counts = str(outcome["failed"]) + " of " + str(outcome["requested"]) + " measured requests failed"
    if outcome["status"] == "passed":
        return [counts + "."]
    limit = format(100 * outcome["max_failure_rate"], "g")
    return [counts + ", at most " + limit + " % may. The row is marked as failed."]
