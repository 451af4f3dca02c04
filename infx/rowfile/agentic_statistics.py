"""Statistics of measured values, in the form that an AgentX aggregate has: six numbers, rounded to five decimals."""

from __future__ import annotations

import math
from typing import Any

PERCENTILES = (50, 75, 90, 95)
DECIMALS = 5
MAX_DEPTH = 50  # of a nested value; the aggregate itself has five levels
MAX_COUNT = 10**20  # nanoseconds since 1970 have 19 digits
MAX_DIGITS = 21  # of a whole number that is written as text


def read_count(value: Any) -> int | None:
    """Return a whole number of at least 0 that may be written as text, or None for another value."""
    if isinstance(value, str):
        value = value.strip()
        value = int(value) if value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
    return value if is_count else None


def summarize(values: list[float]) -> dict[str, float]:
    """Return mean, percentiles and population standard deviation; nothing without values."""
    if not values:
        return {}
    ordered = sorted(values)
    mean = sum(ordered) / len(ordered)
    summary = {"mean": mean}
    for percent in PERCENTILES:
        summary["p" + str(percent)] = interpolate(ordered, percent)
    summary["std"] = math.sqrt(sum((value - mean) * (value - mean) for value in ordered) / len(ordered))
    return summary


def interpolate(ordered: list[float], percent: float) -> float:
    """Return a percentile of sorted values, linear between the closest ranks. Raises IndexError without values."""
    rank = (len(ordered) - 1) * percent / 100
    lower = int(rank)
    upper = min(lower + 1, len(ordered) - 1)
    return ordered[lower] + (ordered[upper] - ordered[lower]) * (rank - lower)


def invert(times: list[float]) -> dict[str, float]:
    """Return the reciprocals of a summary of times, so that a high percentile is the slow end.

    The standard deviation is that of the reciprocals: the reciprocal of a deviation has no meaning.
    """
    summary = {name: _invert(value) for name, value in summarize(times).items() if name != "std"}
    if times:
        summary["std"] = summarize([_invert(value) for value in times])["std"]
    return summary


def _invert(time: float) -> float:
    return 1 / time if time else math.inf  # a mean of the smallest floats is 0


def divide(part: float | None, whole: float | None) -> float | None:
    """Return a rate, or None if a number is unknown or the denominator is 0."""
    return part / whole if part is not None and whole else None


def clean(value: Any, depth: int = 0) -> Any:
    """Return a JSON value that can be written: floats are rounded, and texts are valid Unicode.

    A float of at least 1 that is whole becomes an integer. A number that is not finite becomes None, because JSON has no
    form for it, and so does a value that is nested too deeply.
    """
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return {clean(name): clean(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [clean(item, depth + 1) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # a JSON file may have lone surrogates
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    rounded = round(value, DECIMALS)
    return int(rounded) if rounded >= 1 and rounded.is_integer() else rounded
