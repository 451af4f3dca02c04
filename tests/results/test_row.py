"""What is a result row and what is none, and whether it is the one that was asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.matrix.config import Component, SpecDecoding
from infx.results.row import RowFaultError, Status, find_mismatches, parse_row
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row
from tests.results.made import RESULT, result


def faults(values: object) -> str:
    with pytest.raises(RowFaultError) as caught:
        parse_row(values)
    return str(caught.value)


def test_a_row_is_typed_and_every_other_number_is_a_metric() -> None:
    values = result(router={"name": "r", "version": "1"}, kv_p2p_transfer="nixl", some_new_metric=3)
    found = parse_row(values)
    assert (found.hw, found.conc, found.isl, found.osl) == ("cluster:h200-a", 64, 8192, 1024)
    assert found.metrics == {"tput_per_gpu": 1234.5, "median_ttft": 0.25, "some_new_metric": 3.0}
    assert found.details == {"tp": 8, "dp_attention": False}
    assert found.router == Component(name="r", version="1")
    assert found.outcome is not None
    assert found.outcome.status is Status.PASSED
    assert not found.has_failed


@pytest.mark.parametrize(
    "key", [key for key in RESULT if key not in {"tp", "dp_attention", "median_ttft", "benchmark_outcome"}]
)
def test_what_every_row_has(key: str) -> None:
    assert key in faults(result(**{key: None}))


@pytest.mark.parametrize(
    "changes",
    [
        {"conc": "64"},
        {"conc": 0},
        {"conc": True},
        {"conc": 64.5},
        {"disagg": "false"},
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
        {"dp_attention": "true"},
        {"recipe_fingerprint": "abc"},
        {"router": "r"},
        {"router": {"name": "r", "colour": "red"}},
        {"benchmark_outcome": {"status": "passed"}},
        {"benchmark_outcome": {"requested": 1, "completed": 1, "failed": 0, "status": "fine"}},
    ],
)
def test_wrong_types_are_refused(changes: dict[str, Any]) -> None:
    assert next(iter(changes)) in faults(result(**changes))


@pytest.mark.parametrize("value", [None, [], "row", 3, True, [RESULT], {}])
def test_what_is_no_row_at_all(value: object) -> None:
    faults(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_numbers_that_are_none(value: float) -> None:
    assert "not a finite number" in faults(result(median_ttft=value))


def test_a_flood_of_metrics() -> None:
    assert "500 are the most" in faults(result(**{f"m{number}": 1 for number in range(600)}))


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (
            {"requested": 10, "completed": 8, "failed": 1, "status": "passed"},
            "8 completed and 1 failed of 10",
        ),
        ({"requested": 100, "completed": 94, "failed": 6, "status": "passed"}, "says passed with 6 of 100"),
        ({"requested": 0, "completed": 0, "failed": 0, "status": "passed"}, "says passed with 0 of 0"),
    ],
)
def test_an_outcome_that_contradicts_itself(outcome: dict[str, Any], words: str) -> None:
    """At most 5 % of the requests may fail where the row names no other rate."""
    assert words in faults(result(benchmark_outcome=outcome))


def test_an_honest_failure_is_a_row() -> None:
    outcome = {"requested": 100, "completed": 50, "failed": 50, "status": "failed"}
    assert parse_row(result(benchmark_outcome=outcome)).has_failed
    outcome = {"requested": 100, "completed": 94, "failed": 6, "status": "passed", "max_failure_rate": 0.1}
    assert not parse_row(result(benchmark_outcome=outcome)).has_failed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"image": "other", "model": "/models/m1"}, ""),  # a script may have resolved them
        ({"hw": "cluster:b200"}, "hw is 'cluster:b200', the plan says 'cluster:h200-a'"),
        ({"framework": "sglang"}, "framework"),
        ({"precision": "fp4"}, "precision"),
        ({"infmax_model_prefix": "m2"}, "infmax_model_prefix"),
        ({"spec_decoding": "mtp"}, "spec_decoding"),
        ({"disagg": True}, "disagg"),
        ({"isl": 1024}, "isl"),
        ({"osl": 1}, "osl"),
        ({"conc": 32}, "conc is 32, the plan says 64"),
        ({"recipe_fingerprint": "0" * 64}, "recipe_fingerprint"),
    ],
)
def test_a_result_must_be_the_one_that_was_asked_for(changes: dict[str, Any], words: str) -> None:
    planned = replace(row(FIXED, 64), recipe_fingerprint="1" * 64)
    found = find_mismatches(parse_row(result(**changes)), planned)
    assert words in "; ".join(found)
    assert bool(found) == bool(words)


def test_agentic_rows_have_no_lengths() -> None:
    values = result(isl=0, osl=0, spec_decoding=SpecDecoding.MTP.value)
    assert find_mismatches(parse_row(values), row(AGENTIC, 64)) == []


def test_any_concurrency_of_a_multi_node_row() -> None:
    values = result(framework="dynamo-vllm", disagg=True, conc=8)
    assert find_mismatches(parse_row(values), row(DISAGG, 4, 8)) == []
    assert find_mismatches(parse_row(values), row(DISAGG, 4, 16)) == ["conc is 8, the plan says 4, 16"]


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
    """Whatever a script writes, it is read as a row or refused in words; nothing else happens."""
    try:
        found = parse_row({**RESULT, **changes})
    except RowFaultError as error:
        assert 1 <= len(error.faults) <= 10  # noqa: PT017 - both ends are fine
    else:
        assert found.conc >= 1
        json.dumps(dict(found.metrics), allow_nan=False)
