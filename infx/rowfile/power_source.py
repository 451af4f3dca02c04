"""Where the power of a measurement comes from: a monitor's file on one node, a package of samples on several."""

from __future__ import annotations

import os
from typing import Mapping

from .clients import Measurement
from .faults import RowFault
from .layout import Layout
from .power import Benchmark, PowerReport, measure_power, read_benchmark, report_missing

_TELEMETRY = (
    "gpu_metrics.csv",
    "/workspace/gpu_metrics.csv",
)  # the second is the work folder of a row's container
_PACKAGE = "LOGS/power"


def find_power(environment: Mapping[str, str], layout: Layout, measurement: Measurement) -> PowerReport:
    """Return the power of a measurement, or the reasons why it is not known."""
    benchmark = read_benchmark(measurement.values, os.path.basename(measurement.path))
    return find_benchmark_power(environment, benchmark, layout.fields["is_multinode"], layout.gpus.total)


def find_benchmark_power(
    environment: Mapping[str, str], benchmark: Benchmark, is_multinode: bool, gpus: int
) -> PowerReport:
    """Return the power of a benchmark on this number of GPUs, or the reasons why it is not known."""
    if not is_multinode:
        return measure_power(benchmark, find_telemetry(environment), gpus)
    package = environment.get("POWER_ARTIFACT_DIR") or _PACKAGE
    has_package = os.path.exists(os.path.join(package, "manifest.json"))
    reason = "power_package_not_supported" if has_package else "power_artifacts_missing"
    return report_missing(benchmark, reason, gpus)


def find_telemetry(environment: Mapping[str, str]) -> str:
    """Return the path of the monitor's file; the default name if there is none."""
    candidates = [environment.get("GPU_METRICS_CSV", ""), *_TELEMETRY]
    return next((path for path in candidates if path and os.path.isfile(path)), _TELEMETRY[0])


def is_power_required(environment: Mapping[str, str]) -> bool:
    return environment.get("REQUIRE_POWER", "").strip().lower() in ("1", "true", "yes")


def check_power(environment: Mapping[str, str], power: PowerReport) -> list[RowFault]:
    """Return a fault if the row needs its power and does not have it; such a row is written nevertheless."""
    if not power.reasons or not is_power_required(environment):
        return []
    message = "The row needs its power, which is not valid: " + ", ".join(power.reasons) + "."
    return [RowFault("power-required-but-invalid", message + " The row is written without it.")]
