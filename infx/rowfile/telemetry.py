"""Samples of GPU power from a monitor's CSV file, as NVIDIA's and AMD's tools write it."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime
from typing import Iterable, NamedTuple, Sequence

from .values import parse_finite

_GPU_COLUMNS = ("index", "gpu", "gpu_id", "gpu_index", "card", "device")
_NOT_POWER = ("limit", "cap", "max", "min")  # columns with these words are settings, not samples
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_MILLISECONDS = 1e12  # larger numbers are milliseconds since 1970; as seconds they would be the year 33658
_FRACTION = re.compile(r"\.([0-9]+)")


class Sample(NamedTuple):
    """The power of a GPU at a time."""

    time: float  # seconds since 1970
    watts: float


class Telemetry(NamedTuple):
    """What a monitor recorded.

    Attributes:
        reasons: why the file cannot be used, or not completely.
        samples: GPU → all its samples, sorted by time, with equal times averaged.
        has_rows: whether the columns were found, so that GPUs can be counted.
    """

    reasons: list[str]
    samples: dict[str, list[Sample]]
    has_columns: bool


class _Columns(NamedTuple):
    time: int
    power: int
    gpu: int


def read_telemetry(path: str, start: float, end: float) -> Telemetry:
    """Read a monitor's file. Unreadable values count as faults only from `start` to `end`, in seconds since 1970.

    A time that cannot be read may be anywhere, so it always counts.
    """
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except FileNotFoundError:
        return Telemetry(["telemetry_file_missing"], {}, False)
    except (OSError, ValueError):
        return Telemetry(["telemetry_file_unreadable"], {}, False)
    if not text.strip():
        return Telemetry(["telemetry_file_empty"], {}, False)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True))
    except csv.Error:
        return Telemetry(["telemetry_file_unreadable"], {}, False)
    return _parse([row for row in rows if row], start, end)


def _parse(rows: list[list[str]], start: float, end: float) -> Telemetry:
    columns, reasons = _find_columns(rows[0])
    if columns is None:
        return Telemetry(reasons, {}, False)
    found: dict[str, dict[float, list[float]]] = {}
    faults: dict[str, None] = {}
    for row in rows[1:]:
        time = parse_time(_cell(row, columns.time))
        if time is None:
            faults["invalid_timestamp_sample"] = None
            continue
        watts, gpu = parse_watts(_cell(row, columns.power)), _cell(row, columns.gpu)
        if watts is not None and gpu:
            found.setdefault(gpu, {}).setdefault(time, []).append(watts)
        elif start <= time <= end:
            faults["invalid_power_sample" if watts is None else "gpu_identity_missing"] = None
    samples = {
        gpu: [Sample(time, sum(watts) / len(watts)) for time, watts in sorted(found[gpu].items())]
        for gpu in sort_gpus(found)
    }
    return Telemetry(list(faults), samples, True)


def _find_columns(header: Sequence[str]) -> tuple[_Columns | None, list[str]]:
    """Return the columns, or the reasons why there are none."""
    names = [name.strip().lower() for name in header]
    time = next((at for at, name in enumerate(names) if "time" in name), None)
    power = next(
        (
            at
            for at, name in enumerate(names)
            if "power" in name and not any(word in name for word in _NOT_POWER)
        ),
        None,
    )
    gpu = next((at for at, name in enumerate(names) if name in _GPU_COLUMNS), None)
    if time is not None and power is not None and gpu is not None:
        return _Columns(time, power, gpu), []
    wanted = (
        ("timestamp_column_missing", time),
        ("power_column_missing", power),
        ("gpu_identity_column_missing", gpu),
    )
    return None, [reason for reason, column in wanted if column is None]


def _cell(row: Sequence[str], at: int) -> str:
    return row[at].strip() if at < len(row) else ""


def parse_watts(cell: str) -> float | None:
    """Return the first number of a cell; None without one, or if it is negative."""
    match = _NUMBER.search(cell)
    watts = parse_finite(match[0]) if match else None
    return watts if watts is not None and watts >= 0 else None


def parse_time(cell: str) -> float | None:
    """Return seconds since 1970: of a number, of NVIDIA's form `2026/08/21 08:13:20.250`, or of an ISO time.

    A time without an offset is in the local time zone.
    """
    number = parse_finite(cell)
    if number is not None:
        return number / 1000 if number > _MILLISECONDS else number
    text = cell.replace("/", "-")
    if text.endswith(("Z", "z")):
        text = text[:-1] + "+00:00"
    # Python 3.8 reads only fractions of three or six digits.
    text = _FRACTION.sub(lambda match: "." + match[1][:6].ljust(6, "0"), text)
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def sort_gpus(names: Iterable[str]) -> list[str]:
    """Return names of GPUs: numbers by value, then other names."""
    return sorted(names, key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name))
