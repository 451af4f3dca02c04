"""Accept and refuse result rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.bench.config import Component
from infx.results.row import OutcomeStatus, RowFaultError, parse_row
from tests.results.made import RESULT, result


def faults(values: object) -> str:
    with pytest.raises(RowFaultError) as caught:
        parse_row(values)
    return str(caught.value)


def test_a_row_is_typed_and_every_other_number_is_a_metric() -> None:
    values = result(router={"name": "r", "version": "1"}, kv_p2p_transfer="nixl", some_new_metric=3)
    parsed = parse_row(values)
    assert (parsed.hw, parsed.conc, parsed.isl, parsed.osl) == ("cluster:h200-a", 64, 8192, 1024)
    assert parsed.metrics == {"tput_per_gpu": 1234.5, "median_ttft": 0.25, "some_new_metric": 3.0}
    assert parsed.details == {"tp": 8, "dp_attention": False}
    assert parsed.router == Component(name="r", version="1")
    assert parsed.outcome is not None
    assert parsed.outcome.status is OutcomeStatus.PASSED
    assert not parsed.has_failed


@pytest.mark.parametrize(
    "key", [key for key in RESULT if key not in {"tp", "dp_attention", "median_ttft", "benchmark_outcome"}]
)
def test_required_fields(key: str) -> None:
    assert key in faults(result(**{key: None}))


@pytest.mark.parametrize(
    "changes",
    [
        {"conc": "sixty"},
        {"conc": 0},
        {"conc": True},
        {"conc": 64.5},
        {"disagg": "maybe"},
        {"isl": -1},
        {"hw": ""},
        {"hw": "x" * 201},
        {"model": ["m"]},
        {"tput_per_gpu": "1234"},
        {"tput_per_gpu": -1},
        {"tput_per_gpu": True},
        {"median_ttft": "fast"},
        {"median_ttft": {"value": 1}},
        {"note": "text is no metric"},
        {"tp": 8.5},
        {"dp_attention": "on"},
        {"recipe_fingerprint": "abc"},
        {"router": ["r"]},
        {"router": {"name": "r", "color": "red"}},
        {"benchmark_outcome": {"status": "passed"}},
        {"benchmark_outcome": {"requested": 1, "completed": 1, "failed": 0, "status": "fine"}},
    ],
)
def test_wrong_types_are_refused(changes: dict[str, Any]) -> None:
    assert next(iter(changes)) in faults(result(**changes))


@pytest.mark.parametrize("value", [None, [], "row", 3, True, [RESULT], {}])
def test_values_that_are_not_mappings(value: object) -> None:
    faults(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_numbers_that_are_not_finite(value: float) -> None:
    assert "not a finite number" in faults(result(median_ttft=value))


def test_a_flood_of_metrics() -> None:
    assert "more than the limit of 500" in faults(result(**{f"m{number}": 1 for number in range(600)}))


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (
            {"requested": 10, "completed": 8, "failed": 1, "status": "passed"},
            "8 completed and 1 failed of 10",
        ),
        ({"requested": 100, "completed": 94, "failed": 6, "status": "passed"}, "says passed with 6 of 100"),
        ({"requested": 0, "completed": 0, "failed": 0, "status": "passed"}, "0 of 0 requests were completed"),
        (
            {"requested": 640, "completed": 0, "failed": 640, "status": "failed"},
            "0 of 640 requests were completed",
        ),
    ],
)
def test_an_outcome_that_contradicts_itself(outcome: dict[str, Any], words: str) -> None:
    """At most 5 % of the requests may fail if the row names no other rate."""
    assert words in faults(result(benchmark_outcome=outcome))


# Every kind of number that shows that work was done.
WORK = [
    "tput_per_gpu", "output_tput_per_gpu", "input_tput_per_gpu",
    "request_throughput", "output_throughput", "total_token_throughput",
    "completed", "num_requests_successful", "total_input_tokens", "total_output_tokens", "duration",
    "mean_ttft", "median_ttft", "p99.9_ttft", "median_e2el", "p90_e2el", "median_intvty", "p50_intvty",
]  # fmt: skip


@pytest.mark.parametrize("value", [0, 0.0, -0.0, -1, -1e-9])
@pytest.mark.parametrize("key", WORK)
def test_a_result_without_any_work_is_refused(key: str, value: float) -> None:
    """The fault names the value and the expected value."""
    clauses = faults(result(**{key: value}))
    assert f"{key}: found {json.dumps(value)}; expected more than 0" in clauses


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400])
@pytest.mark.parametrize("key", WORK)
def test_work_that_is_not_a_number(key: str, value: float) -> None:
    assert f"{key} is not a finite number" in faults(result(**{key: value}))


@pytest.mark.parametrize("key", ["mean_tpot", "median_tpot", "p50_tpot"])
def test_answers_without_a_second_token(key: str) -> None:
    """A client reports 0 if no answer had two tokens, which is right if it asked for one token."""
    assert f"{key} is 0, so no answer had a second token" in faults(result(**{key: 0}))
    assert parse_row(result(osl=1, **{key: 0})).metrics[key] == 0
    assert "expected at least 0" in faults(result(osl=1, **{key: -1}))


def test_a_result_with_status_failed_is_a_row() -> None:
    outcome = {"requested": 100, "completed": 50, "failed": 50, "status": "failed"}
    assert parse_row(result(benchmark_outcome=outcome)).has_failed
    outcome = {"requested": 100, "completed": 94, "failed": 6, "status": "passed", "max_failure_rate": 0.1}
    assert not parse_row(result(benchmark_outcome=outcome)).has_failed


@given(
    st.dictionaries(
        st.sampled_from(list(RESULT)) | st.text(max_size=8),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=5)
        | st.lists(st.integers(), max_size=2),
        max_size=6,
    )
)
def test_properties_anything_is_a_row_or_a_fault(changes: dict[str, Any]) -> None:
    """Every value becomes a row or raises RowFaultError, and never another error."""
    try:
        parsed = parse_row({**RESULT, **changes})
    except RowFaultError as error:
        assert 1 <= len(error.faults) <= 10  # noqa: PT017 - both ends are fine
    else:
        assert parsed.conc >= 1
        json.dumps(dict(parsed.metrics), allow_nan=False)
