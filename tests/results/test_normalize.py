"""Rows of the existing tools are read, and wrong ones named, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from infx.results.identity import find_mismatches
from infx.results.normalize import normalize
from infx.results.points import read_point
from infx.results.row import RowFaultError, parse_row
from tests.golden import read_cases, require_data
from tests.matrix.rows import DISAGG, FIXED, row
from tests.results.made import make_jobs, result

WRITTEN = [
    case for folder in ("process", "agentic") for case in read_cases(folder) if case.get("agg") is not None
]
# A row without them has measured nothing, or does not say what it measured; the existing tools write it anyway.
NEEDED = ("image", "tput_per_gpu", "spec_decoding")


def is_usable(values: dict[str, Any]) -> bool:
    read = normalize(values)
    return all(read.get(name) for name in NEEDED) and read.get("num_requests_successful", 1) > 0


@pytest.mark.golden
@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: case["name"])
def test_rows_of_the_existing_tools_are_read(case: dict[str, Any]) -> None:
    values = {
        key: value
        for key, value in case["agg"].items()
        if not isinstance(value, dict) or "$nonfinite" not in value
    }
    if not is_usable(values):
        with pytest.raises(RowFaultError):
            parse_row(values)
        return
    parsed = parse_row(values)
    assert parsed.disagg is (str(values["disagg"]).lower() == "true")
    assert parsed.metrics["tput_per_gpu"] > 0
    assert not any(name in parsed.details for name in ("prefill_hw", "decode_hw"))


@pytest.mark.golden
def test_there_are_cases() -> None:
    require_data()
    assert sum(is_usable(case["agg"]) for case in WRITTEN) > 20


def test_a_row_in_the_form_of_the_existing_tool_is_the_same_row() -> None:
    written = result(
        conc="64", disagg="False", isl="8192", tp="8", dp_attention="false", recipe_fingerprint=""
    )
    written |= {"router": None, "kv_p2p_transfer": None, "std_intvty": 274.8}
    assert normalize(written) == normalize(result())


def test_hardware_of_roles_and_placeholders_of_one_engine() -> None:
    roles = {f"{role}_{name}": 8 for role in ("prefill", "decode") for name in ("tp", "ep", "num_workers")}
    read = normalize(
        {"is_multinode": "true", **roles, "prefill_hw": "b200", "tp": 16, "dp_attention": "true"}
    )
    assert read == {"is_multinode": True, **roles, "prefill_hardware": "b200"}


def test_every_difference_from_the_plan_has_both_values() -> None:
    """Also where another field cannot be read."""
    [job] = make_jobs([row(FIXED, 64)])
    with pytest.raises(RowFaultError) as caught:
        read_point(job, result(tp="4", framework="sglang", disagg="maybe", hw="x"))
    assert caught.value.faults == [
        "disagg is maybe, expected true or false",
        "hw is x, the plan says cluster:h200-a",
        "framework is sglang, the plan says vllm",
        "tp is 4, the plan says 8",
    ]


def test_nested_numbers_get_the_names_of_other_results() -> None:
    nested = {
        "scenario_type": "agentic-coding",
        "request_metrics": {
            "latency": {"ttft": {"p50": 0.25, "mean": None}},
            "throughput": {
                "per_gpu": {"total_tput_tps": 7.5},
                "duration_seconds": 4,
                "total": {"tokens_per_second": 30},
            },
        },
        "server_metrics": {
            "cache": {"gpu_cache_hit_rate": 0.5, "cached_tokens_by_source": {"x": 1}},
            "present": True,
        },
        "warnings": ["x"],
    }
    assert normalize(nested) == {
        "scenario_type": "agentic-coding", "isl": 0, "osl": 0, "p50_ttft": 0.25, "tput_per_gpu": 7.5, "duration": 4,
        "total_token_throughput": 30, "gpu_cache_hit_rate": 0.5,
    }  # fmt: skip


def test_a_nested_number_never_replaces_a_field() -> None:
    read = normalize({**result(scenario_type="agentic-coding"), "request_accounting": {"conc": 5, "hw": 1}})
    assert (read["conc"], read["hw"]) == (64, "cluster:h200-a")
    assert find_mismatches(read, row(DISAGG, 64))
