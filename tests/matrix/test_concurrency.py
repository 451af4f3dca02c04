from __future__ import annotations

import pytest

from infx.bench.config import Concurrency
from infx.matrix.concurrency import (
    Bounds,
    expand_capped,
    expand_clipped,
    expand_filtered,
    expand_range,
    show_points,
)

RANGE = Concurrency(start=4, end=64)  # 4, 8, 16, 32, 64
LIST = Concurrency(values=(4, 64))


@pytest.mark.parametrize(
    ("start", "end", "step", "points"),
    [
        (4, 100, 2, (4, 8, 16, 32, 64, 100)),  # the last step exceeds the end, which is kept
        (4, 64, 2, (4, 8, 16, 32, 64)),
        (8, 48, 3, (8, 24, 48)),
        (7, 7, 2, (7,)),
    ],
)
def test_a_range_always_has_its_end(start: int, end: int, step: int, points: tuple[int, ...]) -> None:
    assert expand_range(start, end, step) == points


def test_a_message_names_only_some_of_many_points() -> None:
    assert show_points(range(1, 17)) == [str(point) for point in range(1, 17)]
    assert show_points(range(1, 18))[15:] == ["16", "1 other"]
    assert show_points(range(1, 1_020))[14:] == ["15", "16", "1,003 others"]


@pytest.mark.parametrize(
    ("concurrency", "low", "high", "points"),
    [
        (RANGE, None, None, (4, 8, 16, 32, 64)),
        (RANGE, 6, None, (6, 12, 24, 48, 64)),  # the range starts at the bound
        (RANGE, None, 48, (4, 8, 16, 32, 48)),  # a capped end is a new point
        (RANGE, 10, 30, (10, 20, 30)),
        (RANGE, None, 2, (2,)),
        (RANGE, 65, None, ()),
        (RANGE, None, 0, ()),
        (RANGE, -1, None, ()),
        (LIST, None, 32, (4,)),
        (LIST, None, 2, (2,)),
        (LIST, 8, None, (64,)),
        (LIST, 65, None, ()),
    ],
)
def test_single_node_bounds(
    concurrency: Concurrency, low: int | None, high: int | None, points: tuple[int, ...]
) -> None:
    assert expand_clipped(concurrency, Bounds(minimum=low, maximum=high)) == points


@pytest.mark.parametrize(
    ("low", "high", "points"),
    [
        (6, None, (8, 16, 32, 64)),  # the lower bound is not a point
        (None, 48, (4, 8, 16, 32)),
        (None, 2, (2,)),  # all points are too large, so the bound is measured
        (5, 6, (6,)),
        (65, 100, ()),
        (None, 0, ()),
    ],
)
def test_multi_node_bounds(low: int | None, high: int | None, points: tuple[int, ...]) -> None:
    assert expand_capped(RANGE, Bounds(minimum=low, maximum=high)) == points


@pytest.mark.parametrize(("low", "high", "points"), [(5, 20, (8, 16)), (None, 2, ()), (65, None, ())])
def test_bounds_add_no_agentx_points(low: int | None, high: int | None, points: tuple[int, ...]) -> None:
    assert expand_filtered(RANGE, Bounds(minimum=low, maximum=high)) == points


@pytest.mark.parametrize("expand", [expand_clipped, expand_capped, expand_filtered])
def test_wanted_points_are_taken_from_the_list(expand: object) -> None:
    assert callable(expand)
    assert expand(RANGE, Bounds(only=frozenset({64, 8, 5}))) == (8, 64)
