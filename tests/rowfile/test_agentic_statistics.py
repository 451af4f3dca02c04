"""Statistics of an AgentX aggregate, against values that are computed next to them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from infx.rowfile.agentic_statistics import clean, divide, invert, read_count, summarize


def test_percentiles_are_linear_between_the_closest_ranks() -> None:
    """Of 10, 20, 30, 40 and 50, the ranks are 2, 3, 3.6 and 3.8, counted from 0; the variance is (400+100)*2/5 = 200."""
    summary = summarize([50.0, 10.0, 40.0, 20.0, 30.0])
    assert summary == {"mean": 30, "p50": 30, "p75": 40, "p90": 46, "p95": 48, "std": math.sqrt(200)}


def test_one_value_has_no_spread() -> None:
    assert summarize([7.0]) == {"mean": 7, "p50": 7, "p75": 7, "p90": 7, "p95": 7, "std": 0}


def test_no_value_has_no_statistics() -> None:
    assert summarize([]) == {} == invert([])


def test_reciprocals_are_those_of_the_statistics() -> None:
    """Means of 0.02 and 0.04 s are 0.03 s; the reciprocals 50 and 25 are 12.5 away from their mean."""
    summary = invert([0.02, 0.04])
    assert summary["mean"] == pytest.approx(1 / 0.03)
    assert summary["p50"] == pytest.approx(1 / 0.03)
    assert summary["p90"] == pytest.approx(1 / 0.038)
    assert summary["std"] == pytest.approx(12.5)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (3, 3),
        (3.0, 3),
        ("3", 3),
        (2.5, None),
        ("12.5", None),
        (-1, None),
        (False, None),
        (float("inf"), None),
    ],
)
def test_a_count_is_whole_and_not_negative(value: Any, count: int | None) -> None:
    assert read_count(value) == count


def test_a_count_keeps_all_digits_of_a_clock() -> None:
    """A float has 53 bits, and nanoseconds since 1970 have 61."""
    assert read_count(1_782_800_000_123_456_789) == 1_782_800_000_123_456_789


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (1.234567, 1.23457),
        (5.0, 5),
        (1.0, 1),
        (0.0, 0.0),
        (0.000001, 0.0),
        (0.999999, 1),
        (float("nan"), None),
    ],
)
def test_numbers_are_rounded_to_five_decimals(value: float, rounded: float | None) -> None:
    written = clean({"a": [value]})["a"][0]
    assert (written, type(written)) == (rounded, type(rounded))


def test_a_rate_needs_a_denominator() -> None:
    assert (divide(1, 4), divide(1, 0), divide(None, 4), divide(0, 4)) == (0.25, None, None, 0)
