"""Where the power of a measurement comes from: a monitor's file on one node, a package of samples on several."""

from __future__ import annotations

import os
from typing import Mapping

from .clients import Measurement
from .layout import Layout
from .power import PowerReport, measure_power, read_benchmark, report_missing

_TELEMETRY = (
    "gpu_metrics.csv",
    "/workspace/gpu_metrics.csv",
)  # the second is the work folder of a row's container
_PACKAGE = "LOGS/power"


def find_power(environment: Mapping[str, str], layout: Layout, measurement: Measurement) -> PowerReport:
    """Return the power of a measurement, or the reasons why it is not known."""
    benchmark = read_benchmark(measurement.values, os.path.basename(measurement.path))
    if not layout.fields["is_multinode"]:
        return measure_power(benchmark, find_telemetry(environment), layout.gpus.total)
    package = environment.get("POWER_ARTIFACT_DIR") or _PACKAGE
    has_package = os.path.exists(os.path.join(package, "manifest.json"))
    reason = "power_package_not_supported" if has_package else "power_artifacts_missing"
    return report_missing(benchmark, reason, layout.gpus.total)


def find_telemetry(environment: Mapping[str, str]) -> str:
    """Return the path of the monitor's file; the default name if there is none."""
    candidates = [environment.get("GPU_METRICS_CSV", ""), *_TELEMETRY]
    return next((path for path in candidates if path and os.path.isfile(path)), _TELEMETRY[0])


def is_power_required(environment: Mapping[str, str]) -> bool:
    return environment.get("REQUIRE_POWER", "").strip().lower() in ("1", "true", "yes")
