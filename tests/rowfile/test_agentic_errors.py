"""Checks of an AgentX replay: the share of failed requests, and metrics that a row requires."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.agentic_errors import check_errors, check_replay, parse_limit
from infx.rowfile.faults import FaultsError
from tests.rowfile.replays import EXPORT, counters, record, write_replay


def counts(requests: object, errors: object = None, completed: object = None) -> dict[str, Any]:
    values = {
        "request_count": requests,
        "error_request_count": errors,
        "completed_request_count": completed,
    }
    return {name: {"avg": value} for name, value in values.items() if value is not None}


def refuse(summary: dict[str, Any], limit: float = 0.1) -> str:
    with pytest.raises(FaultsError) as caught:
        check_errors(summary, limit)
    return str(caught.value)


@pytest.mark.parametrize(
    ("summary", "limit"),
    [
        (counts(100), 0.1),
        (counts(90, 10), 0.1),  # a share that is the limit passes
        (counts(71, 29), 0.29),  # 0.29 * 100 is a little less than 29
        (counts(10, 5, 100), 0.1),
        (counts(0, 3), 1.0),
    ],
)
def test_a_share_of_at_most_the_limit_passes(summary: dict[str, Any], limit: float) -> None:
    check_errors(summary, limit)


@pytest.mark.parametrize(
    ("summary", "limit"), [(counts(89, 11), 0.1), (counts(90, 10, 80), 0.1), (counts(99, 1), 0.0)]
)
def test_a_larger_share_is_refused(summary: dict[str, Any], limit: float) -> None:
    assert "requests failed, at most" in refuse(summary, limit)


@pytest.mark.parametrize("summary", [{}, counts(None, 1), counts(None, None, 100)])
def test_without_the_number_of_requests_the_share_is_unknown(summary: dict[str, Any]) -> None:
    assert "has no request_count" in refuse(summary)


@pytest.mark.parametrize(
    "summary",
    [
        {"request_count": 100},
        {"request_count": {}},
        {"request_count": None},
        counts("100"),
        counts(-1),
        counts(True),
        counts(float("nan")),
        {**counts(100), "error_request_count": 3},
        {**counts(100), "completed_request_count": {"avg": "x"}},
    ],
)
def test_numbers_of_another_form_are_refused(summary: dict[str, Any]) -> None:
    assert "must be an object whose avg is a number of at least 0" in refuse(summary)


@pytest.mark.parametrize("summary", [counts(0), counts(100, 0, 0)])
def test_nothing_completed_is_refused(summary: dict[str, Any]) -> None:
    assert refuse(summary) == "The client completed no request."


@pytest.mark.parametrize("text", ["1.5", "-0.1", "x", "", "nan"])
def test_a_limit_is_a_number_from_0_to_1(text: str) -> None:
    assert parse_limit(text) is None


def test_limits_at_the_ends_are_allowed() -> None:
    assert (parse_limit("0"), parse_limit("1"), parse_limit("0.10")) == (0, 1, 0.1)


def check(folder: Path, prefix: str = "") -> str:
    try:
        check_replay(str(folder / "results"), 0.1, prefix)
    except FaultsError as error:
        return str(error)
    return "passes"


def test_the_aggregate_of_the_client_is_required(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)])
    assert "left no profile_export_aiperf.json" in check(tmp_path)
    (tmp_path / EXPORT / "profile_export_aiperf.json").write_text("{")
    assert "not JSON" in check(tmp_path)
    (tmp_path / EXPORT / "profile_export_aiperf.json").write_text("[]")
    assert "not a JSON object" in check(tmp_path)
    write_replay(tmp_path, [record(0)], summary=counts(100))
    assert check(tmp_path) == "passes"


def test_the_server_must_have_a_metric_that_the_row_requires(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)], summary=counts(100))
    assert "left no server_metrics_export.json" in check(tmp_path, "vllm:kv_offload")
    write_replay(tmp_path, [record(0)], summary=counts(100), metrics={"vllm:kv_offload_x": counters(1)})
    assert check(tmp_path, "vllm:kv_offload") == "passes"
    assert "None of 1 metrics of the server begins with vllm:nixl" in check(tmp_path, "vllm:nixl")


def test_too_many_errors_come_before_a_missing_metric(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)], summary=counts(50, 50), metrics={})
    assert "requests failed" in check(tmp_path, "vllm:")
