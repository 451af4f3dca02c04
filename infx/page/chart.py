"""The data of charts: lines of measured points, their frontiers, and their form as JSON.

A line is drawn through the points of its frontier only, and never across a row that did not run: that row's point could
be on the frontier.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from html import escape
from typing import Any

from infx.bench.frontier import select_frontier
from infx.records import record


@record
class ChartAxis:
    """A metric that a chart can show.

    Attributes:
        metrics: the keys of the metric in a result, in order of preference.
        scale: the factor from the result's unit to the axis' unit.
    """

    key: str
    metrics: tuple[str, ...]
    label: str
    unit: str
    is_higher_better: bool
    scale: int = 1


THROUGHPUT = ChartAxis(
    key="throughput",
    metrics=("tput_per_gpu",),
    label="Throughput per GPU",
    unit="tok/s/GPU",
    is_higher_better=True,
)
INTERACTIVITY = ChartAxis(
    key="interactivity",
    metrics=("median_intvty", "p50_intvty"),
    label="Interactivity, median",
    unit="tok/s/user",
    is_higher_better=True,
)
LATENCY = ChartAxis(
    key="latency",
    metrics=("median_e2el", "p50_e2el"),
    label="End-to-end latency, median",
    unit="s",
    is_higher_better=False,
)
FIRST_TOKEN = ChartAxis(
    key="ttft",
    metrics=("median_ttft", "p50_ttft"),
    label="Time to first token, median",
    unit="ms",
    is_higher_better=False,
    scale=1000,
)
AXES = (THROUGHPUT, INTERACTIVITY, LATENCY, FIRST_TOKEN)


@record
class ChartPoint:
    """A measured point.

    Attributes:
        values: the number of each known axis, by the axis' key.
        baseline: the same of the published point that it is compared with; empty without one.
        words: what hovering shows in addition, such as the layout.
    """

    conc: int
    values: Mapping[str, float]
    baseline: Mapping[str, float] = field(default_factory=dict)
    words: str = ""


@record
class ChartLine:
    """Points that a chart shows in one color.

    Attributes:
        groups: the filters that select the line, by name, such as the model.
        missing: the concurrencies of planned points that were not measured.
    """

    name: str
    points: tuple[ChartPoint, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[int, ...] = ()


def read_values(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the number of each axis that a result has, rounded to what a chart can show."""
    values = {}
    for axis in AXES:
        number = next((metrics[name] for name in axis.metrics if name in metrics), None)
        if number is not None and math.isfinite(scaled := float(number) * axis.scale):
            values[axis.key] = float(f"{scaled:.6g}")
    return values


def find_segments(
    points: Sequence[tuple[int, Mapping[str, float]]], missing: Iterable[int], axis: ChartAxis
) -> list[list[int]]:
    """Return the parts of a frontier that are drawn as one line each: the numbers of points, in the order of the axis.

    Args:
        points: the concurrency and the values of each point.
        missing: the concurrencies at which a point is not known. No part crosses one of them.
    """
    known = [
        number for number, (_, values) in enumerate(points) if {axis.key, THROUGHPUT.key} <= values.keys()
    ]
    sign = -1 if axis.is_higher_better else 1
    frontier = select_frontier(
        known,
        lambda number: sign * points[number][1][axis.key],
        lambda number: points[number][1][THROUGHPUT.key],
    )
    gaps = set(missing)
    parts: list[list[int]] = []
    for number in frontier:
        if parts and not _has_gap(points[parts[-1][-1]][0], points[number][0], gaps):
            parts[-1].append(number)
        else:
            parts.append([number])
    return parts


def _has_gap(conc: int, other: int, gaps: Iterable[int]) -> bool:
    return any(min(conc, other) <= gap <= max(conc, other) for gap in gaps)


def render_line(line: ChartLine) -> dict[str, Any]:
    """Return the line as a JSON value, in which the numbers of a point have the order of `AXES`."""
    points = [(point.conc, point.values) for point in line.points]
    published = [(point.conc, point.baseline) for point in line.points]
    without = [*line.missing, *(point.conc for point in line.points if not point.baseline)]
    return {
        "name": line.name,
        "groups": dict(line.groups),
        "missing": sorted(set(line.missing)),
        "points": [
            [
                point.conc,
                point.words,
                [point.values.get(axis.key) for axis in AXES],
                [point.baseline.get(axis.key) for axis in AXES] if point.baseline else 0,
            ]
            for point in line.points
        ],
        "frontier": {axis.key: find_segments(points, line.missing, axis) for axis in AXES[1:]},
        "baseline": {axis.key: find_segments(published, without, axis) for axis in AXES[1:]},
    }


def render_data(sets: Mapping[str, Sequence[ChartLine]]) -> str:
    """Return the JSON that a page embeds; no text in it can end the element that holds it.

    sets: the lines of each chart, or of charts that share their lines, by a name.
    """
    value = {
        "axes": [
            {"key": axis.key, "label": axis.label, "unit": axis.unit, "higher": axis.is_higher_better}
            for axis in AXES
        ],
        "sets": {name: [render_line(line) for line in lines] for name, lines in sets.items()},
    }
    return embed_json(value)


def embed_json(value: object) -> str:
    """Return JSON for an element of a page: only ASCII, without characters that HTML reads."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def render_chart(name: str, axis: ChartAxis, *, legend: bool = True) -> str:
    """Return the element in which the script draws a chart of throughput against an axis.

    Args:
        name: of the lines in `render_data`.
        legend: whether the chart has its own legend; charts that share their lines need only one.
    """
    title = f"{THROUGHPUT.label} against {axis.label[:1].lower()}{axis.label[1:]}"
    return (
        f'<figure class="chart" data-set="{escape(name)}" data-x="{axis.key}"><figcaption>{escape(title)}</figcaption>'
        f"{render_legend(name) if legend else ''}</figure>"
    )


def render_legend(name: str) -> str:
    """Return the element in which the script lists the lines of charts, each with a switch. name: of the lines."""
    return f'<fieldset class="chart-legend" data-set="{escape(name)}"></fieldset>'
