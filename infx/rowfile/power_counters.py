"""Compare the energy counters of GPUs with their samples. The result is only noted and decides nothing."""

from __future__ import annotations

import csv
import os
from typing import Any, Mapping

from .telemetry import Sample, sort_gpus
from .values import parse_finite

TOLERANCE = 0.05  # share of the counters' difference
_COLUMN = "total_energy_consumption"  # joules


def check_counters(path: str, samples: Mapping[str, list[Sample]]) -> dict[str, Any] | None:
    """Return the comparison; None if no counters were saved.

    path: the monitor's file; `<path>_energy_start.csv` and `_end.csv` have the counters from its start and its end.
    """
    stem = os.path.splitext(path)[0]
    names = {moment: stem + "_energy_" + moment + ".csv" for moment in ("start", "end")}
    absent = [moment for moment, name in names.items() if not os.path.isfile(name)]
    if len(absent) == len(names):
        return None
    if absent:
        return {"available": False, "reason": "missing_" + absent[0] + "_snapshot"}
    counters = {moment: _read(name) for moment, name in names.items()}
    for moment, joules in counters.items():
        if not joules:
            return {"available": False, "reason": "invalid_" + moment + "_snapshot"}
    return _compare(counters["start"], counters["end"], samples)


def _compare(
    start: Mapping[str, float], end: Mapping[str, float], samples: Mapping[str, list[Sample]]
) -> dict[str, Any]:
    streams = {gpu: stream for gpu, stream in samples.items() if len(stream) > 1}
    matched = [gpu for gpu in streams if gpu in start and gpu in end]
    deltas = {gpu: end[gpu] - start[gpu] for gpu in matched}
    negative = [gpu for gpu, delta in deltas.items() if delta < 0]
    delta, integrated = sum(deltas.values()), sum(_integrate_all(streams[gpu]) for gpu in matched)
    error = abs(delta - integrated) / delta if delta > 0 and not negative else None
    every = [sample.time for gpu in matched for sample in streams[gpu]]
    return {
        "available": True,
        "accumulator_delta_j": delta,
        "integrated_stream_j": integrated,
        "relative_error": error,
        "within_tolerance": error is not None and error <= TOLERANCE,
        "tolerance": TOLERANCE,
        "per_gpu_delta_j": deltas,
        "integrated_gpu_ids": matched,
        "unmatched_gpus": [gpu for gpu in sort_gpus({**start, **end, **samples}) if gpu not in matched],
        "negative_delta_gpus": negative,
        "stream_span_s": max(every) - min(every) if every else 0.0,
    }


def _integrate_all(samples: list[Sample]) -> float:
    return sum(
        (first.watts + second.watts) / 2 * (second.time - first.time)
        for first, second in zip(samples, samples[1:])
    )


def _read(path: str) -> dict[str, float]:
    """Return GPU → joules; empty if the file cannot be read."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, skipinitialspace=True))
    except (OSError, ValueError, csv.Error):
        return {}
    numbers = {str(row.get("gpu")): parse_finite(row.get(_COLUMN)) for row in rows}
    return {gpu: joules for gpu, joules in numbers.items() if joules is not None}
