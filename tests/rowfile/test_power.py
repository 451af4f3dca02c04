"""Samples of power that are complete, and every reason why samples cannot be used."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from infx.rowfile.power import Benchmark, PowerReport, measure_power
from infx.rowfile.process import ProcessOptions, process
from infx.rowfile.telemetry import parse_time, parse_watts
from tests.rowfile.outputs import ENVIRONMENT, MULTI_NODE, VLLM, read_row, write_output

START, END = 1_787_300_000.0, 1_787_300_010.0
BENCHMARK = Benchmark("r.json", START, END, 10.0, 40, 40_000, 20_000)
HEADER = "timestamp,index,power.draw [W]\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sample(gpu: str, *seconds: float, watts: str = "100 W") -> str:
    """Return lines of samples; seconds are counted from the start of the window."""
    return "".join(f"{START + second},{gpu},{watts}\n" for second in seconds)


def measure(text: str, benchmark: Benchmark = BENCHMARK, gpus: int = 1) -> PowerReport:
    Path("gpu_metrics.csv").write_text(text)
    return measure_power(benchmark, "gpu_metrics.csv", gpus)


def test_a_line_between_two_samples() -> None:
    """Power rises from 0 to 300 W over three seconds, and falls again: the window starts and ends between samples."""
    benchmark = Benchmark("r.json", START + 1, START + 5, 4.0, 10, 100, 50)
    text = HEADER + sample("0", 0, watts="0") + sample("0", 3, watts="300") + sample("0", 6, watts="0")
    report = measure(text, benchmark)
    # Two trapezoids of two seconds, from 100 to 300 W and back: 2 x 2 x 200 joules.
    assert report.metrics["total_gpu_energy_j"] == pytest.approx(800)
    assert report.metrics["avg_power_w"] == pytest.approx(200)
    assert report.metrics["joules_per_total_token"] == pytest.approx(800 / 150)


def test_equal_times_are_averaged() -> None:
    text = HEADER + sample("0", -1, 2, 5, 8, 11) + sample("0", -1, 2, 5, 8, 11, watts="300")
    assert measure(text).metrics["avg_power_w"] == pytest.approx(200)


def test_gaps_around_the_window_do_not_count() -> None:
    """Only samples from the last before the start to the first after the end cover the window."""
    text = HEADER + sample("0", -3, 0, 3, 6, 9, 12)
    assert measure(text).reasons == []


@pytest.mark.parametrize(
    ("text", "gpus", "reasons"),
    [
        ("", 1, ["telemetry_file_empty"]),
        ("\xff", 1, ["telemetry_file_unreadable"]),
        ('"', 1, ["telemetry_file_unreadable"]),
        ("index,power\n", 1, ["timestamp_column_missing"]),
        ("time,gpu,power.limit,power_cap,max_power\n", 1, ["power_column_missing"]),
        ("time,power,uuid\n", 1, ["gpu_identity_column_missing"]),
        ("a,b\n", 1, ["timestamp_column_missing", "power_column_missing", "gpu_identity_column_missing"]),
        (HEADER, 1, ["no_usable_power_samples"]),
        (HEADER + sample("0", -100, 100), 1, ["no_usable_power_samples"]),
        (HEADER + sample("0", 5), 1, ["insufficient_power_samples"]),
        (HEADER + sample("0", 1, 4, 7, 10), 1, ["benchmark_window_not_bracketed"]),
        (HEADER + sample("0", 0, 3, 6, 9), 1, ["benchmark_window_not_bracketed"]),
        (HEADER + sample("0", 0, 3.01, 6, 9, 12), 1, ["sampling_gap_exceeded"]),
        (HEADER + sample("0", 0, 3, 6, 9, 12) + sample("", 5), 1, ["gpu_identity_missing"]),
        (HEADER + sample("0", 0, 3, 6, 9, 12) + sample("0", 5, watts="[N/A]"), 1, ["invalid_power_sample"]),
        (HEADER + sample("0", 0, 3, 6, 9, 12) + "\n" + sample("0", 5, watts=""), 1, ["invalid_power_sample"]),
        (HEADER + sample("0", 0, 3, 6, 9, 12) + "5\n", 1, []),
        (HEADER + sample("0", 0, 3, 6, 9, 12), 2, ["expected_gpu_count_mismatch"]),
        (
            HEADER + "".join(sample(str(gpu), 0, 3, 6, 9, 12) for gpu in range(8)),
            4,
            ["expected_gpu_count_mismatch"],
        ),
        (HEADER + sample("0", 0, 3, 6, 9, 12), 0, ["invalid_expected_gpu_count"]),
    ],
)
def test_samples_that_cannot_be_used(text: str, gpus: int, reasons: list[str]) -> None:
    Path("gpu_metrics.csv").write_bytes(text.encode("latin-1"))  # "\xff" is not UTF-8 then
    report = measure_power(BENCHMARK, "gpu_metrics.csv", gpus)
    assert report.reasons == reasons
    assert bool(report.metrics) == (not reasons)


@pytest.mark.parametrize(
    ("benchmark", "reasons"),
    [
        (Benchmark("r.json", is_valid=False), ["invalid_benchmark_result"]),
        (BENCHMARK._replace(start=None), ["invalid_benchmark_window"]),
        (BENCHMARK._replace(end=START), ["invalid_benchmark_window"]),
        (BENCHMARK._replace(duration=None), ["benchmark_duration_mismatch"]),
        (BENCHMARK._replace(duration=9.4), ["benchmark_duration_mismatch"]),
        (BENCHMARK._replace(completed=0), ["invalid_successful_query_count"]),
        (
            BENCHMARK._replace(input_tokens=None, output_tokens=0),
            ["invalid_input_token_count", "invalid_output_token_count"],
        ),
    ],
)
def test_outputs_that_energy_cannot_be_related_to(benchmark: Benchmark, reasons: list[str]) -> None:
    assert measure(HEADER + sample("0", 0, 3, 6, 9, 12), benchmark).reasons == reasons


def test_a_long_window_may_differ_by_a_hundredth() -> None:
    """One percent of 100 s is more than the half second that is always allowed."""
    text = HEADER + sample("0", *range(102))
    assert measure(text, BENCHMARK._replace(end=START + 100, duration=101.0)).reasons == []
    assert measure(text, BENCHMARK._replace(end=START + 100, duration=101.1)).reasons == [
        "benchmark_duration_mismatch"
    ]


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("1787300000", START),
        ("1787300000.5", START + 0.5),
        ("1787300000500", START + 0.5),
        ("2026-08-21T08:13:20Z", START),
        ("2026-08-21 10:13:20.25+02:00", START + 0.25),
        ("2026-08-21T08:13:20.123456789+00:00", START + 0.123456),
        ("yesterday", None),
        ("nan", None),
        ("", None),
    ],
)
def test_times(cell: str, seconds: float | None) -> None:
    assert parse_time(cell) == (None if seconds is None else pytest.approx(seconds, abs=1e-6))


@pytest.mark.parametrize(
    ("cell", "watts"),
    [("395.45 W", 395.45), ("4.0e2", 400.0), ("0", 0.0), ("[N/A]", None), ("-5 W", None), ("1e999", None)],
)
def test_watts(cell: str, watts: float | None) -> None:
    assert parse_watts(cell) == watts


@pytest.mark.parametrize(
    ("start", "end", "check"),
    [
        (
            None,
            "gpu,total_energy_consumption\n0,1\n",
            {"available": False, "reason": "missing_start_snapshot"},
        ),
        ("gpu\n0\n", "gpu\n0\n", {"available": False, "reason": "invalid_start_snapshot"}),
    ],
)
def test_counters_that_cannot_be_compared(start: str | None, end: str, check: dict[str, object]) -> None:
    for moment, text in (("start", start), ("end", end)):
        if text is not None:
            Path(f"gpu_metrics_energy_{moment}.csv").write_text(text)
    assert measure(HEADER + sample("0", 0, 3, 6, 9, 12)).sidecar["accumulator_check"] == check


def test_counters_of_other_gpus_are_named() -> None:
    """The stream has 1,200 J of GPU 0. Its counter has 1,250 J: 4 % more, within the tolerance of 5 %."""
    Path("gpu_metrics_energy_start.csv").write_text("gpu,total_energy_consumption\n0,50\n7,50\n")
    Path("gpu_metrics_energy_end.csv").write_text("gpu,total_energy_consumption\n0,1300\n7,60\n")
    check = measure(HEADER + sample("0", 0, 3, 6, 9, 12)).sidecar["accumulator_check"]
    assert (check["unmatched_gpus"], check["within_tolerance"]) == (["7"], True)
    assert check["relative_error"] == pytest.approx(0.04)


def test_a_row_with_valid_power() -> None:
    output = {**VLLM, "benchmark_start_time_unix": START, "benchmark_end_time_unix": START + 50}
    write_output("r.json", output)
    Path("metrics.csv").write_text(HEADER + "".join(sample(str(gpu), *range(52)) for gpu in range(4)))
    process(ProcessOptions(), {**ENVIRONMENT, "GPU_METRICS_CSV": "metrics.csv", "REQUIRE_POWER": "true"})
    row = read_row()
    # 4 GPUs with 100 W for 50 s: 20,000 J for 100 requests, 100,000 input and 50,000 output tokens
    assert {name: row[name] for name in row if name.endswith(("_w", "_j")) or "joules" in name} == {
        "avg_power_w": 100.0,
        "avg_total_gpu_power_w": 400.0,
        "total_gpu_energy_j": 20000.0,
        "joules_per_successful_query": 200.0,
        "joules_per_input_token": 0.2,
        "joules_per_output_token": 0.4,
        "joules_per_total_token": 0.133333,
    }
    assert json.loads(Path("power_validation_r.json").read_text())["telemetry_source"] == "metrics.csv"


@pytest.mark.parametrize("required", ["1", "TRUE", "Yes"])
def test_required_power_that_is_missing(required: str) -> None:
    write_output("r.json", VLLM)
    report = process(ProcessOptions(), {**ENVIRONMENT, "REQUIRE_POWER": required})
    assert [fault.rule for fault in report.faults] == ["power-required-but-invalid"]
    assert read_row()["power_valid"] == 0


def test_the_package_of_a_multi_node_row_is_not_read() -> None:
    write_output("r.json", VLLM)
    process(ProcessOptions(), MULTI_NODE)
    sidecar = json.loads(Path("power_validation_r.json").read_text())
    assert sidecar["reasons"] == ["power_artifacts_missing"]
    Path("LOGS/power").mkdir(parents=True)
    Path("LOGS/power/manifest.json").write_text("{}")
    process(ProcessOptions(), MULTI_NODE)
    sidecar = json.loads(Path("power_validation_r.json").read_text())
    assert sidecar["reasons"] == ["power_package_not_supported"]


def test_the_sidecar_is_json_without_a_window() -> None:
    """vLLM's client does not write when it started."""
    write_output("r.json", {**VLLM, "duration": math.nan})
    Path("gpu_metrics.csv").write_text(HEADER + sample("0", 0))
    process(ProcessOptions(), ENVIRONMENT)
    sidecar = json.loads(Path("power_validation_r.json").read_text())
    assert sidecar["benchmark_window"]["start_time_unix"] is None
    assert sidecar["reasons"] == ["invalid_benchmark_window", "expected_gpu_count_mismatch"]
