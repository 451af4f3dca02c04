"""Every judgment of power that the existing script made, against ours for the same samples."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.power import PowerReport, add_power, measure_power, read_benchmark
from tests.golden import read_cases, require_data
from tests.rowfile.closeness import find_differences

pytestmark = pytest.mark.golden

CASES = read_cases("power")
Values = dict[str, Any]


@pytest.fixture(autouse=True)
def restored_zone() -> Iterator[None]:
    """Restore the time zone of this process after the test."""
    before = os.environ.get("TZ")
    yield
    if before is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = before
    time.tzset()


def measure(case: Values, monkeypatch: pytest.MonkeyPatch) -> PowerReport:
    monkeypatch.setenv("TZ", case["tz"])
    time.tzset()
    if case["gpu_metrics_csv"] is not None:
        Path("gpu_metrics.csv").write_text(case["gpu_metrics_csv"])
    for name, text in case["other_files"].items():
        Path(name).write_text(text)
    return measure_power(read_benchmark(case["bench"], "r.json"), "gpu_metrics.csv", case["expected_gpus"])


def has_exponent(case: Values) -> bool:
    return "exponent" in case["about"]


def is_without_row(case: Values) -> bool:
    """Return whether the case is about a missing row: here the row and its power are written in one step."""
    return case["agg_before"] is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_power_is_equal(case: Values, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = measure(case, monkeypatch)
    if has_exponent(case):  # the existing script reads 4.0e2 as 4.0
        assert report.metrics["avg_power_w"] == pytest.approx(100 * case["sidecar"]["metrics"]["avg_power_w"])
        return
    if is_without_row(case):
        assert (report.reasons, case["sidecar"]["reasons"]) == ([], ["aggregate_result_missing"])
        return
    assert not [*find_differences(report.sidecar, case["sidecar"])]
    assert not [*find_differences(add_power(case["agg_before"], report), case["agg_after"])]
    assert (bool(report.reasons) and case["require_power"]) == bool(case["exit_code"])


def test_there_are_cases() -> None:
    require_data()
    assert CASES
