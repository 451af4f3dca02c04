"""Every row that the existing script made of a client's output, against ours for the same output and environment."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.process import ProcessOptions, ProcessReport, process
from tests.golden import read_cases, require_data
from tests.rowfile.closeness import find_differences

pytestmark = pytest.mark.golden

CASES = read_cases("process")
Values = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """A deliberate difference from the existing script.

    Attributes:
        reason: why ours is right.
        applies: whether a case is of this kind.
        change: makes the expected row and the rules of the expected faults of the case's.
    """

    reason: str
    applies: Callable[[Values], bool]
    change: Callable[[Values, Values], tuple[Values, set[str]]]


def _drop(row: Values, *names: str) -> Values:
    return {name: value for name, value in row.items() if name not in names}


def _mark(case: Values, row: Values) -> tuple[Values, set[str]]:
    raw = case["raw_client_json"]
    failed = raw["num_prompts"] - raw["completed"]
    has_failed = failed > 0.05 * raw["num_prompts"]
    outcome = {
        "requested": raw["num_prompts"],
        "completed": raw["completed"],
        "failed": failed,
        "max_failure_rate": 0.05,
        "status": "failed" if has_failed else "passed",
    }
    return {**row, "benchmark_outcome": outcome}, {"too-many-failed-requests"} if has_failed else set()


def _divide_nothing_by_zero(case: Values, _: Values) -> tuple[Values, set[str]]:
    """Return the row of a case without a second token. The existing script wrote none, so all values are computed here."""
    env, raw = case["env"], case["raw_client_json"]
    gpus = int(env["TP"])
    total, output = raw["total_token_throughput"], raw["output_throughput"]
    row = {
        "hw": env["RUNNER_TYPE"], "conc": raw["max_concurrency"], "image": env["IMAGE"], "model": raw["model_id"],
        "infmax_model_prefix": env["MODEL_PREFIX"], "framework": env["FRAMEWORK"], "precision": env["PRECISION"],
        "spec_decoding": env["SPEC_DECODING"], "disagg": False, "recipe_fingerprint": env["RECIPE_FINGERPRINT"],
        "isl": int(env["ISL"]), "osl": int(env["OSL"]), "is_multinode": False, "tp": gpus, "pp": 1, "dcp_size": 1,
        "pcp_size": 1, "ep": int(env["EP_SIZE"]), "dp_attention": env["DP_ATTENTION"], "tput_per_gpu": total / gpus,
        "output_tput_per_gpu": output / gpus, "input_tput_per_gpu": (total - output) / gpus,
        "power_metric_schema_version": 2, "power_valid": 0,
    }  # fmt: skip
    return {**row, **{key.replace("_ms", ""): raw[key] / 1000 for key in raw if key.endswith("_ms")}}, set()


DIFFERENCES = (
    Difference(
        reason="the reciprocal of a standard deviation has no meaning",
        applies=lambda case: "std_intvty" in (case["agg"] or {}),
        change=lambda case, row: (_drop(row, "std_intvty"), set()),
    ),
    Difference(
        reason="a row says how many requests failed, and is a failed one above 5 %",
        applies=lambda case: (
            bool(case["agg"])
            and case["raw_client_json"]["completed"] < case["raw_client_json"]["num_prompts"]
        ),
        change=_mark,
    ),
    Difference(
        reason="answers of one token have no time per further token; that is no reason to lose the row",
        applies=lambda case: case["error_class"] == "division_by_zero_tpot",
        change=_divide_nothing_by_zero,
    ),
    Difference(
        reason="only names that end in _ms are times, and only times per token have an interactivity",
        applies=lambda case: bool(case["agg"]) and bool(find_false_times(case)),
        change=lambda case, row: (_drop(row, *find_false_times(case)), set()),
    ),
    Difference(
        reason="JSON has no numbers that are not finite",
        applies=lambda case: case["agg_is_strict_json"] is False,
        change=lambda case, row: ({name: value for name, value in row.items() if is_json(value)}, set()),
    ),
)


def find_false_times(case: Values) -> list[str]:
    """Return the columns that the existing script made of keys that are not times."""
    keys = case["raw_client_json"]
    odd = [key for key in keys if key.endswith("ms") and not key.endswith("_ms")]
    no_speeds = [key for key in keys if "tpot" in key and not key.endswith("_tpot_ms")]
    return [key for key in odd if key in case["agg"]] + [key.replace("tpot", "intvty") for key in no_speeds]


def is_json(value: object) -> bool:
    return "$nonfinite" not in str(value) and not (isinstance(value, float) and not math.isfinite(value))


def decode(values: object) -> Any:
    """Return a value of a case; numbers that JSON cannot hold are objects there."""
    return json.loads(
        json.dumps(values),
        object_hook=lambda item: float(item["$nonfinite"]) if "$nonfinite" in item else item,
    )


def run(case: Values) -> ProcessReport:
    name = case["env"].get("RESULT_FILENAME", "r")
    if case["raw_text"] is not None:
        Path(f"{name}.json").write_text(case["raw_text"])
    elif case["raw_client_json"] is not None and case["error_class"] != "raw_file_missing":
        Path(f"{name}.json").write_text(json.dumps(decode(case["raw_client_json"])))
    return process(ProcessOptions(), case["env"])


def expect(case: Values) -> tuple[Values | None, set[str]]:
    """Return the expected row and the rules of the expected faults."""
    row = decode(case["agg"])
    rules = {case["error_class"].replace("_", "-")} if case["error_class"] else set()
    for difference in DIFFERENCES:
        if difference.applies(case):
            row, rules_of_row = difference.change(case, row)
            rules = rules_of_row if rules_of_row or case["error_class"] == "division_by_zero_tpot" else rules
    return row, rules


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_rows_are_equal(case: Values, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = run(case)
    row, rules = expect(case)
    assert {fault.rule for fault in report.faults} == rules
    assert [Path(path).name for path in report.written] == ([] if row is None else ["agg_r.json"])
    if row is not None:
        written = json.loads(Path("agg_r.json").read_text())
        assert not [*find_differences(written, row)]
    if case["missing"]:
        [fault] = report.faults
        listed = fault.message.partition("not set: ")[2].partition(". ")[0]
        assert sorted(listed.split(", ")) == sorted(case["missing"])
    if case["power_sidecar_reasons"]:
        sidecar = json.loads(Path("power_validation_r.json").read_text())
        assert sidecar["reasons"] == case["power_sidecar_reasons"]


def test_there_are_cases() -> None:
    require_data()
    assert CASES
