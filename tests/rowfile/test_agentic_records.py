"""Records of an AgentX replay: which count, and how the others are accounted for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infx.rowfile.agentic_records import find_category, parse_replay
from infx.rowfile.faults import FaultsError
from tests.rowfile.replays import record


def replay(*records: dict[str, Any]) -> Any:
    return parse_replay([json.dumps(item) for item in records], "export.jsonl")


def test_only_answered_requests_of_the_measured_phase_count() -> None:
    """A warm-up request that failed is in both numbers, but is one dropped record."""
    error = {"type": "Timeout"}
    parsed = replay(
        record(0), record(1, phase="warmup"), record(2, error=error), record(3, phase="warmup", error=error)
    )
    assert parsed.account() == {
        "records_total": 4,
        "records_profiled": 1,
        "records_dropped_total": 3,
        "records_warmup_dropped": 2,
        "records_error_dropped": 2,
        "error_categories": {"Timeout": 2},
    }
    assert parsed.failed_measured == 1


def test_a_record_without_a_phase_was_measured() -> None:
    item = record(0)
    del item["metadata"]["benchmark_phase"]
    assert len(replay(item).good) == 1


def test_a_cancelled_request_with_an_answer_counts() -> None:
    item = record(0)
    item["metadata"]["was_cancelled"] = True
    assert len(replay(item).good) == 1


@pytest.mark.parametrize(
    ("error", "category"),
    [
        ({"type": "HTTPError", "code": 500}, "HTTPError"),
        ({"error_type": "Timeout", "status": 408}, "Timeout"),
        ({"code": 500, "class": "Server"}, "500"),
        ({"class": "Server", "status": 500}, "Server"),
        ({"status": 503}, "503"),
        ({"type": None, "message": "Connection reset: by peer"}, "Connection reset"),
        ({"message": "x" * 200}, "x" * 120),
        ({"message": ""}, "unknown"),
        ({"detail": "x"}, "unknown"),
        ("Refused: port 8888", "Refused"),
        (True, "unknown"),
    ],
)
def test_the_category_of_an_error(error: Any, category: str) -> None:
    assert find_category(error) == category


@pytest.mark.parametrize("value", [0, -3, "NaN", None, "soon", True])
def test_a_time_that_is_not_positive_is_unknown(value: Any) -> None:
    [good] = replay(record(0, inter_token_latency=value)).good
    assert good.itl is None
    assert good.ttft == 0.03


def test_a_metric_may_be_a_bare_number() -> None:
    item = record(0)
    item["metrics"]["request_latency"] = 900.0
    assert replay(item).good[0].e2el == 0.9


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"a": NaN'])
def test_a_line_that_is_not_a_record_is_refused(line: str) -> None:
    """A replay that was cut off has lost records, so no rate of it is right."""
    with pytest.raises(FaultsError, match="Line 3 is not a JSON object") as caught:
        parse_replay([json.dumps(record(0)), "\n", line], "export.jsonl")
    assert caught.value.faults[0].path == "export.jsonl"
