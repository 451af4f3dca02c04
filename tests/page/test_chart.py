"""The data of charts: frontiers, their gaps, and JSON that cannot end its element."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from infx.page.chart import (
    AXES,
    INTERACTIVITY,
    LATENCY,
    ChartAxis,
    ChartLine,
    ChartPoint,
    find_segments,
    read_values,
    render_chart,
    render_data,
)
from tests.page.made import HOSTILE


def place(throughput: float, interactivity: float, latency: float = 1.0) -> dict[str, float]:
    return {"throughput": throughput, "interactivity": interactivity, "latency": latency}


# From few clients to many, interactivity falls and throughput grows. The point at 16 is beaten by the one at 8.
POINTS = [
    (4, place(10, 90, 2)),
    (8, place(20, 80, 3)),
    (16, place(15, 70, 4)),
    (32, place(40, 60, 5)),
    (64, place(80, 30, 9)),
]


@pytest.mark.parametrize(
    ("missing", "parts"),
    [
        ((), [[0, 1, 3, 4]]),
        ((2, 128), [[0, 1, 3, 4]]),  # outside of the line
        ((48,), [[0, 1, 3], [4]]),
        ((16,), [[0, 1], [3, 4]]),  # one layout ran at 16, another did not
        ((6, 12, 48), [[0], [1], [3], [4]]),
        ((8,), [[0], [1], [3, 4]]),  # of another layout: its point could be on either side
    ],
)
def test_a_line_ends_where_a_planned_row_did_not_run(
    missing: tuple[int, ...], parts: list[list[int]]
) -> None:
    """The point with the most interactivity is the first."""
    assert find_segments(POINTS, missing, INTERACTIVITY) == parts


def test_less_latency_is_better() -> None:
    assert find_segments(POINTS, (), LATENCY) == [[0, 1, 3, 4]]
    slow = [(4, place(10, 0, 5)), (8, place(20, 0, 2))]
    assert find_segments(slow, (), LATENCY) == [[1]]


def test_points_without_a_number_are_not_on_the_frontier() -> None:
    points: list[tuple[int, Mapping[str, float]]] = [
        (4, {"throughput": 99.0}),
        (8, {"latency": 0.1}),
        *POINTS[:1],
    ]
    assert find_segments(points, (), LATENCY) == [[2]]
    assert find_segments([], (), LATENCY) == []


@pytest.mark.parametrize(
    ("metrics", "values"),
    [
        ({"tput_per_gpu": 1234.56789, "median_ttft": 0.25}, {"throughput": 1234.57, "ttft": 250.0}),
        ({"p50_intvty": 30.0, "p50_e2el": 2.0}, {"interactivity": 30.0, "latency": 2.0}),  # AgentX
        ({"median_intvty": 40.0, "p50_intvty": 30.0}, {"interactivity": 40.0}),
        (
            {"tput_per_gpu": 1e308, "median_ttft": 1e308, "other": 1.0},
            {"throughput": 1e308},
        ),  # too large in ms
    ],
)
def test_the_numbers_of_a_result(metrics: dict[str, float], values: dict[str, float]) -> None:
    assert read_values(metrics) == values


def parse(text: str) -> Any:
    return json.loads(text)


def test_the_data_of_a_line() -> None:
    point = ChartPoint(conc=4, values=POINTS[0][1], baseline=place(5, 80, 3), words="tp4")
    other = ChartPoint(conc=8, values=POINTS[1][1], words="tp4")
    line = ChartLine(name="b200 vllm", points=(point, other), groups={"model": "m1"}, missing=(16, 2, 2))
    data = parse(render_data({"a": [line]}))
    assert [axis["key"] for axis in data["axes"]] == [axis.key for axis in AXES]
    (shown,) = data["sets"]["a"]
    assert shown["points"] == [
        [4, "tp4", [10.0, 90.0, 2.0, None], [5.0, 80.0, 3.0, None]],
        [8, "tp4", [20.0, 80.0, 3.0, None], 0],
    ]
    assert (shown["missing"], shown["groups"]) == ([2, 16], {"model": "m1"})
    assert shown["frontier"]["latency"] == [[0, 1]]
    assert shown["baseline"]["latency"] == [[0]]


def test_the_baseline_s_line_ends_where_a_point_has_no_baseline() -> None:
    points = tuple(
        ChartPoint(conc=conc, values=values, baseline=values if conc != 8 else {}) for conc, values in POINTS
    )
    (line,) = parse(render_data({"a": [ChartLine(name="x", points=points)]}))["sets"]["a"]
    # Without the point at 8, no other point of the baseline beats the one at 16.
    assert line["baseline"]["latency"] == [[0], [2, 3, 4]]
    assert line["frontier"]["latency"] == [[0, 1, 3, 4]]


def test_no_text_ends_the_element_that_holds_the_data() -> None:
    text = render_data(
        {"a": [ChartLine(name=f"{HOSTILE}<!-- é\u2028", points=(), groups={HOSTILE: HOSTILE})]}
    )
    assert not {"<", ">", "&"} & set(text)
    assert text.isascii()
    assert parse(text)["sets"]["a"][0]["name"] == f"{HOSTILE}<!-- é\u2028"


@pytest.mark.parametrize("axis", AXES[1:], ids=lambda axis: axis.key)
def test_the_element_of_a_chart(axis: ChartAxis) -> None:
    html = render_chart('run-1"<b>', axis)
    assert html.startswith(
        f'<figure class="chart" data-set="run-1&quot;&lt;b&gt;" data-x="{axis.key}"><figcaption>Throughput'
    )
    assert "chart-legend" in html
    assert "chart-legend" not in render_chart("a", axis, legend=False)
