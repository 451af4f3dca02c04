"""Energy and power of a measurement on one node, from samples of its GPUs, and whether they can be trusted.

The energy of each GPU is the integral of its power over the benchmark's window. Nothing is published unless every GPU
was sampled, without a gap, over the whole window.
"""

from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple

from .telemetry import Sample, Telemetry, read_telemetry
from .values import parse_finite, parse_whole

SCHEMA_VERSION = 2  # of the columns in a row
SIDECAR_VERSION = 1
MAX_GAP = 3.0  # seconds between two samples; a monitor takes one each second
MARGIN = 3.0  # seconds around the window in which a faulty sample counts
MIN_SAMPLES = 2
_ROUNDING = 1e-6  # times since 1970 have no finer digits as floats
METRICS = (
    "avg_power_w", "avg_total_gpu_power_w", "total_gpu_energy_j", "joules_per_successful_query",
    "joules_per_input_token", "joules_per_output_token", "joules_per_total_token",
)  # fmt: skip
_METHOD = "per_device_trapezoidal_with_linear_boundary_interpolation"


class Benchmark(NamedTuple):
    """What a measurement did, and when.

    Attributes:
        name: of the file with the client's output.
        start: seconds since 1970; None if it is not known.
        end: like `start`.
        duration: seconds that the client measured.
        completed: successful requests.
        input_tokens: of these requests.
        output_tokens: of these requests.
        is_valid: whether the client's output could be read.
    """

    name: str
    start: float | None = None
    end: float | None = None
    duration: float | None = None
    completed: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    is_valid: bool = True

    @property
    def window(self) -> float | None:
        """Seconds from start to end, more than 0; None if they are not known."""
        if self.start is None or self.end is None or self.end <= self.start:
            return None
        return self.end - self.start


class PowerReport(NamedTuple):
    """What is known about the power of a measurement.

    Attributes:
        reasons: why the power is not valid; empty if it is.
        metrics: values of METRICS, not rounded; empty if the power is not valid.
        sidecar: everything that the result was made from, as JSON.
    """

    reasons: list[str]
    metrics: dict[str, float]
    sidecar: dict[str, Any]


def read_benchmark(values: object, name: str) -> Benchmark:
    """Return the benchmark that a client's output describes."""
    if not isinstance(values, Mapping):
        return Benchmark(name, is_valid=False)
    return Benchmark(
        name=name,
        start=parse_finite(values.get("benchmark_start_time_unix")),
        end=parse_finite(values.get("benchmark_end_time_unix")),
        duration=parse_finite(values.get("duration")),
        completed=parse_whole(values.get("completed")),
        input_tokens=parse_whole(values.get("total_input_tokens")),
        output_tokens=parse_whole(values.get("total_output_tokens")),
    )


def measure_power(benchmark: Benchmark, path: str, expected_gpus: int) -> PowerReport:
    """Return the power of a measurement. path: the monitor's file. expected_gpus: how many GPUs it must have seen."""
    from .power_counters import check_counters

    telemetry = _read(benchmark, path)
    devices = _Devices(benchmark, telemetry)
    reasons = [*_check_benchmark(benchmark), *([] if expected_gpus > 0 else ["invalid_expected_gpu_count"])]
    reasons += telemetry.reasons
    if telemetry.has_columns and not devices.used:
        reasons.append("no_usable_power_samples")
    elif telemetry.has_columns and len(devices.used) != expected_gpus > 0:
        reasons.append("expected_gpu_count_mismatch")
    reasons += [issue for issues in devices.issues.values() for issue in issues]
    reasons = list(dict.fromkeys(reasons))
    metrics = (
        {} if reasons else compute_metrics(benchmark, sum(devices.energies.values()), len(devices.energies))
    )
    sidecar = _render(benchmark, reasons, os.path.basename(path), expected_gpus, devices, metrics)
    sidecar["accumulator_check"] = check_counters(path, telemetry.samples)
    return PowerReport(reasons, metrics, sidecar)


def _read(benchmark: Benchmark, path: str) -> Telemetry:
    if benchmark.start is None or benchmark.end is None:
        return read_telemetry(path, float("-inf"), float("inf"))
    return read_telemetry(path, benchmark.start - MARGIN, benchmark.end + MARGIN)


def report_missing(benchmark: Benchmark, reason: str, expected_gpus: int) -> PowerReport:
    """Return the report of a measurement without any samples, for one reason."""
    devices = _Devices(benchmark, Telemetry([], {}, False))
    sidecar = _render(benchmark, [reason], "", expected_gpus, devices, {})
    return PowerReport([reason], {}, {**sidecar, "telemetry_source": None, "accumulator_check": None})


def add_power(row: Mapping[str, Any], report: PowerReport) -> dict[str, Any]:
    """Return a row with the columns of power, which replace those that it has."""
    old = {*METRICS, "power_metric_schema_version", "power_valid", "power_invalid_reasons"}
    columns: dict[str, Any] = {name: value for name, value in row.items() if name not in old}
    columns["power_metric_schema_version"] = SCHEMA_VERSION
    columns["power_valid"] = int(not report.reasons)
    for name, value in report.metrics.items():
        columns[name] = round(value, 3 if name.endswith(("_w", "_j")) else 6)
    return columns


def compute_metrics(benchmark: Benchmark, energy: float, gpus: int) -> dict[str, float]:
    """Return all metrics of valid samples. energy: joules of all GPUs over the window."""
    assert benchmark.window
    assert benchmark.completed
    assert benchmark.input_tokens
    assert benchmark.output_tokens
    values = (
        energy / benchmark.window / gpus,
        energy / benchmark.window,
        energy,
        energy / benchmark.completed,
        energy / benchmark.input_tokens,
        energy / benchmark.output_tokens,
        energy / (benchmark.input_tokens + benchmark.output_tokens),
    )
    return dict(zip(METRICS, values))


def _check_benchmark(benchmark: Benchmark) -> list[str]:
    """Return why a measurement's energy cannot be related to its window, requests and tokens."""
    if not benchmark.is_valid:
        return ["invalid_benchmark_result"]
    reasons = []
    window = benchmark.window
    if window is None:
        reasons.append("invalid_benchmark_window")
    elif benchmark.duration is None or abs(benchmark.duration - window) > max(0.5, window / 100) + _ROUNDING:
        reasons.append("benchmark_duration_mismatch")
    counts = (
        ("invalid_successful_query_count", benchmark.completed),
        ("invalid_input_token_count", benchmark.input_tokens),
        ("invalid_output_token_count", benchmark.output_tokens),
    )
    return reasons + [reason for reason, number in counts if number is None or number <= 0]


class _Devices:
    """The GPUs of a measurement.

    Attributes:
        used: GPU → its samples in the window and its margin.
        gaps: GPU → the longest time between two samples that cover the window.
        energies: GPU → joules over the window.
        issues: GPU → why its samples cannot be used.
    """

    def __init__(self, benchmark: Benchmark, telemetry: Telemetry) -> None:
        self.used = {gpu: _cut(samples, benchmark) for gpu, samples in telemetry.samples.items()}
        self.used = {gpu: samples for gpu, samples in self.used.items() if samples}
        self.gaps: dict[str, float] = {}
        self.energies: dict[str, float] = {}
        self.issues: dict[str, list[str]] = {}
        if benchmark.window is None:
            return
        assert benchmark.start is not None
        assert benchmark.end is not None
        for gpu, samples in self.used.items():
            issue = self._measure(gpu, samples, benchmark.start, benchmark.end)
            if issue:
                self.issues[gpu] = [issue]

    def _measure(self, gpu: str, samples: list[Sample], start: float, end: float) -> str:
        """Keep the gap and the energy of a GPU; return why they are not valid, or an empty text."""
        if len(samples) < MIN_SAMPLES:
            return "insufficient_power_samples"
        if samples[0].time > start or samples[-1].time < end:
            return "benchmark_window_not_bracketed"
        covering = _bracket(samples, start, end)
        pairs = list(zip(covering, covering[1:]))
        self.gaps[gpu] = max(second.time - first.time for first, second in pairs)
        self.energies[gpu] = sum(_integrate(first, second, start, end) for first, second in pairs)
        return "sampling_gap_exceeded" if self.gaps[gpu] > MAX_GAP + _ROUNDING else ""


def _cut(samples: list[Sample], benchmark: Benchmark) -> list[Sample]:
    if benchmark.start is None or benchmark.end is None:
        return samples
    first, last = benchmark.start - MARGIN, benchmark.end + MARGIN
    return [sample for sample in samples if first <= sample.time <= last]


def _bracket(samples: list[Sample], start: float, end: float) -> list[Sample]:
    """Return the samples from the last one at or before the start to the first one at or after the end."""
    first = max(at for at, sample in enumerate(samples) if sample.time <= start)
    last = min(at for at, sample in enumerate(samples) if sample.time >= end)
    return samples[first : last + 1]


def _integrate(first: Sample, second: Sample, start: float, end: float) -> float:
    """Return the energy between two samples, as far as it is in the window; power is linear between samples."""
    begin, stop = max(first.time, start), min(second.time, end)
    slope = (second.watts - first.watts) / (second.time - first.time)
    watts = first.watts + slope * ((begin + stop) / 2 - first.time)
    return watts * (stop - begin)


def _render(
    benchmark: Benchmark,
    reasons: list[str],
    source: str,
    expected_gpus: int,
    devices: _Devices,
    metrics: Mapping[str, float],
) -> dict[str, Any]:
    """Return the sidecar, without the check of the counters."""
    return {
        "schema_version": SIDECAR_VERSION,
        "power_valid": not reasons,
        "reasons": reasons,
        "telemetry_source": source,
        "benchmark_result": benchmark.name,
        "benchmark_window": {
            "start_time_unix": benchmark.start,
            "end_time_unix": benchmark.end,
            "reported_duration_s": benchmark.duration,
            "integration_duration_s": benchmark.window,
            "completed": benchmark.completed,
            "total_input_tokens": benchmark.input_tokens,
            "total_output_tokens": benchmark.output_tokens,
        },
        "integration_method": _METHOD,
        "expected_gpu_count": expected_gpus,
        "observed_gpu_count": len(devices.used),
        "observed_gpu_ids": list(devices.used),
        "per_gpu_sample_counts": {gpu: len(samples) for gpu, samples in devices.used.items()},
        "per_gpu_max_sample_gap_s": devices.gaps,
        "per_gpu_energy_j": devices.energies,
        "device_issues": devices.issues,
        "accumulator_check": None,
        "metrics": {name: round(value, 6) for name, value in metrics.items()},
    }
