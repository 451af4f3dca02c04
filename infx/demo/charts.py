"""Draw a sweep as SVG, without scripts: its rows on their runners, and its results.

Details appear on hover, and in a table for readers who cannot hover.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from infx.bench.words import describe_layout
from infx.demo.steps import RowOutcome, SweepRecord
from infx.results.points import CollectedPoint

_CELL, _CELL_HEIGHT, _GAP, _LANE = 40, 36, 4, 92
_WIDTH, _HEIGHT = 460, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 18, 28, 46
_MARKS = "●■▲◆▼★"  # not every reader can tell the colors apart
_STEPS = (1, 2, 2.5, 5, 10)  # distances between grid lines, times a power of ten


def describe_row_layout(row: RowOutcome) -> str:
    """Return the layout of a row, for example TP4/EP4."""
    return describe_layout(row.job.row.recipe)


def name_row(row: RowOutcome) -> str:
    """Return the short name of a row: c64 measures 64 sessions, e64 checks accuracy with 64 sessions."""
    return f"{'e' if row.job.row.eval_only else 'c'}{max(row.job.row.conc)}"


class Layouts:
    """The mark and the color of each layout of a sweep, the same in both pictures, in the order of the plan."""

    def __init__(self, sweep: SweepRecord) -> None:
        self.names = list(dict.fromkeys(describe_row_layout(row) for row in sweep.rows))

    def mark(self, layout: str) -> str:
        """Return the character that marks a layout."""
        return _MARKS[self.names.index(layout) % len(_MARKS)]

    def color(self, layout: str) -> str:
        """Return the class of a layout in the style sheet."""
        return f"c{self.names.index(layout) % len(_MARKS)}"

    def draw_legend(self) -> str:
        """Return a list of the layouts with their marks."""
        keys = (
            f'<li><span class="key {self.color(name)}">{self.mark(name)}</span> {escape(name)}</li>'
            for name in self.names
        )
        return f'<ul class="legend">{"".join(keys)}</ul>'


def draw_plan(sweep: SweepRecord, layouts: Layouts) -> str:
    """Draw a lane for each runner, with a cell for each row in the order of the plan, colored by outcome."""
    lanes: dict[str, list[RowOutcome]] = defaultdict(list)
    for row in sweep.rows:
        lanes[row.runner or "not started"].append(row)
    names = sorted(lanes, key=lambda name: (name == "not started", name))
    longest = max((len(rows) for rows in lanes.values()), default=1)
    width = max(
        _WIDTH * 4 // 5, _LANE + longest * (_CELL + _GAP)
    )  # cells of short sweeps have the usual size
    height = len(names) * (_CELL_HEIGHT + _GAP)
    parts = []
    for number, name in enumerate(names):
        y = number * (_CELL_HEIGHT + _GAP)
        parts.append(f'<text class="lane" x="0" y="{y + 22}">{escape(name)}</text>')
        parts += [
            _draw_cell(row, layouts, _LANE + index * (_CELL + _GAP), y)
            for index, row in enumerate(lanes[name])
        ]
    return _svg(width, height, parts, f"Rows of run {sweep.run} on their runners")


def _draw_cell(row: RowOutcome, layouts: Layouts, x: int, y: int) -> str:
    details = [row.job.name, row.conclusion, f"{row.seconds:.1f} s" if row.seconds else "", row.words]
    mark = "✕" if row.conclusion == "failure" else layouts.mark(describe_row_layout(row))
    middle = x + _CELL / 2
    return (
        f'<g class="row {row.conclusion}"><title>{escape(chr(10).join(filter(None, details)))}</title>'
        f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL_HEIGHT}" rx="5"/>'
        f'<text x="{middle}" y="{y + 15}">{name_row(row)}</text>'
        f'<text x="{middle}" y="{y + 29}">{mark}</text></g>'
    )


def draw_results(sweep: SweepRecord, layouts: Layouts) -> str:
    """Draw throughput per GPU against interactivity, with a curve for each layout; up and right is better."""
    rows = {row.job.id: row for row in sweep.rows}
    curves: dict[str, list[CollectedPoint]] = defaultdict(list)
    for point in sweep.points:
        if {"median_intvty", "tput_per_gpu"} <= set(point.row.metrics):
            curves[describe_row_layout(rows[point.id])].append(point)
    if not curves:
        return ""
    scale = _Scale([point for points in curves.values() for point in points])
    parts = [*_draw_axes(scale), *_draw_curves(curves, scale, layouts)]
    return _svg(_WIDTH, _HEIGHT, parts, f"Results of run {sweep.run}: throughput against interactivity")


class _Scale:
    def __init__(self, points: Sequence[CollectedPoint]) -> None:
        self.x_ticks = choose_ticks(max(get_interactivity(point) for point in points))
        self.y_ticks = choose_ticks(max(get_throughput(point) for point in points))

    def place(self, point: CollectedPoint) -> tuple[float, float]:
        return self.x(get_interactivity(point)), self.y(get_throughput(point))

    def x(self, value: float) -> float:
        return round(_LEFT + value / self.x_ticks[-1] * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        return round(_HEIGHT - _BOTTOM - value / self.y_ticks[-1] * (_HEIGHT - _TOP - _BOTTOM), 1)


def get_interactivity(point: CollectedPoint) -> float:
    """Return a point's x value: tokens per second per user."""
    return point.row.metrics["median_intvty"]


def get_throughput(point: CollectedPoint) -> float:
    """Return a point's y value: tokens per second per GPU."""
    return point.row.metrics["tput_per_gpu"]


def choose_ticks(largest: float) -> list[float]:
    """Return at most six ticks in round steps, from 0 to the first tick that is not below the largest value."""
    largest = largest or 1.0
    size = 10.0 ** math.floor(math.log10(largest / 5))
    step = next(factor * size for factor in _STEPS if factor * size * 5 >= largest)
    return [number * step for number in range(math.ceil(largest / step) + 1)]


def _draw_axes(scale: _Scale) -> Iterable[str]:
    left, bottom = scale.x(0), scale.y(0)
    for y in scale.y_ticks:
        yield f'<text class="tick left" x="{left - 6}" y="{scale.y(y) + 4}">{y:,g}</text>'
        yield f'<path class="grid" d="M{left},{scale.y(y)}H{_WIDTH - _RIGHT}"/>'
    for x in scale.x_ticks:
        yield f'<text class="tick" x="{scale.x(x)}" y="{bottom + 16}">{x:g}</text>'
    yield f'<path class="axis" d="M{left},{scale.y(scale.y_ticks[-1])}V{bottom}H{_WIDTH - _RIGHT}"/>'
    yield f'<text class="name" x="{_WIDTH - _RIGHT}" y="{bottom + 36}">tokens/s/user (median) →</text>'
    yield '<text class="name top" x="0" y="12">↑ tokens/s/GPU</text>'


def _draw_curves(
    curves: Mapping[str, Sequence[CollectedPoint]], scale: _Scale, layouts: Layouts
) -> Iterable[str]:
    labels = _Labels([scale.place(point) for points in curves.values() for point in points])
    for layout, points in curves.items():
        ordered = sorted(points, key=get_interactivity)
        path = " ".join(f"{x},{y}" for x, y in map(scale.place, ordered))
        yield f'<g class="curve {layouts.color(layout)}"><polyline points="{path}"/>'
        for point in ordered:
            x, y = scale.place(point)
            title = f"{layout}, {point.row.conc} sessions: {get_interactivity(point):.1f} tok/s/user, {get_throughput(point):.0f} tok/s/GPU"
            yield f'<text class="point" x="{x}" y="{y}"><title>{escape(title)}</title>{layouts.mark(layout)}</text>'
            yield labels.draw(f"c{point.row.conc}", x, y)
        yield "</g>"


class _Labels:
    """Labels next to their points; a label that would cover a point or another label is left out."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        self.points = points
        self.middles: list[tuple[float, float]] = []

    def draw(self, text: str, x: float, y: float) -> str:
        middle = (x + 17, y - 10)
        taken = [(point, 12) for point in self.points] + [(label, 24) for label in self.middles]
        if any(math.dist(middle, place) < distance for place, distance in taken):
            return ""
        self.middles.append(middle)
        return f'<text class="conc" x="{x + 7:.1f}" y="{y - 7:.1f}">{text}</text>'


def _svg(width: float, height: float, parts: Iterable[str], label: str) -> str:
    inner = "".join(parts)
    return f'<svg viewBox="0 0 {width} {height}" style="max-width:{width}px" role="img" aria-label="{escape(label)}">{inner}</svg>'


def draw_table(sweep: SweepRecord) -> str:
    """Return the details that the pictures show on hover: a line for each point, or for a row without points."""
    measured: dict[str, list[CollectedPoint]] = defaultdict(list)
    for point in sweep.points:
        measured[point.id].append(point)
    heads = ("row", "layout", "runner", "outcome", "tok/s/user", "tok/s/GPU")
    lines = [line for row in sweep.rows for line in _render_table_lines(row, measured[row.job.id])]
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _render_table_lines(row: RowOutcome, points: Sequence[CollectedPoint]) -> list[str]:
    outcome = f"{row.conclusion}: {row.words}" if row.conclusion == "failure" else row.conclusion
    measured = [
        (f"c{point.row.conc}", f"{get_interactivity(point):.1f}", f"{get_throughput(point):.0f}")
        for point in points
    ]
    return [
        "".join(["<tr>", *(f"<td>{escape(cell)}</td>" for cell in cells), "</tr>"])
        for name, *numbers in measured or [(name_row(row), "", "")]
        for cells in [(name, describe_row_layout(row), row.runner, outcome, *numbers)]
    ]
