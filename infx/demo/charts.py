"""Pictures of a sweep as SVG: its rows on their runners, and its results. No script; details appear on hover, and
stand in a table for whoever cannot hover.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from infx.bench.words import describe_layout
from infx.demo.stage import RowOutcome, SweepRecord
from infx.results.collect import CollectedPoint

_CELL, _CELL_HEIGHT, _GAP, _LANE = 40, 36, 4, 92
_WIDTH, _HEIGHT = 460, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 18, 28, 46
_MARKS = "●■▲◆▼★"  # colors alone are not for everybody
_STEPS = (1, 2, 2.5, 5, 10)  # between two lines of the grid, with zeros


def layout_of(row: RowOutcome) -> str:
    return describe_layout(row.job.row.recipe)


def name_of(row: RowOutcome) -> str:
    """c64 measures 64 sessions, e64 checks accuracy there."""
    return f"{'e' if row.job.row.eval_only else 'c'}{max(row.job.row.conc)}"


class Layouts:
    """How each layout of a sweep is drawn in both of its pictures, in the order of the plan."""

    def __init__(self, sweep: SweepRecord) -> None:
        self.names = list(dict.fromkeys(layout_of(row) for row in sweep.rows))

    def mark(self, layout: str) -> str:
        return _MARKS[self.names.index(layout) % len(_MARKS)]

    def color(self, layout: str) -> str:
        """A class of the style sheet."""
        return f"c{self.names.index(layout) % len(_MARKS)}"

    def draw_legend(self) -> str:
        keys = (
            f'<li><span class="key {self.color(name)}">{self.mark(name)}</span> {escape(name)}</li>'
            for name in self.names
        )
        return f'<ul class="legend">{"".join(keys)}</ul>'


def draw_plan(sweep: SweepRecord, layouts: Layouts) -> str:
    """A lane for each runner, a cell for each row in the order of the plan, colored by outcome."""
    lanes: dict[str, list[RowOutcome]] = defaultdict(list)
    for row in sweep.rows:
        lanes[row.runner or "not started"].append(row)
    names = sorted(lanes, key=lambda name: (name == "not started", name))
    longest = max((len(rows) for rows in lanes.values()), default=1)
    width = max(_WIDTH * 4 // 5, _LANE + longest * (_CELL + _GAP))  # short sweeps in the size of long ones
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
    mark = "✕" if row.conclusion == "failure" else layouts.mark(layout_of(row))
    middle = x + _CELL / 2
    return (
        f'<g class="row {row.conclusion}"><title>{escape(chr(10).join(filter(None, details)))}</title>'
        f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL_HEIGHT}" rx="5"/>'
        f'<text x="{middle}" y="{y + 15}">{name_of(row)}</text>'
        f'<text x="{middle}" y="{y + 29}">{mark}</text></g>'
    )


def draw_results(sweep: SweepRecord, layouts: Layouts) -> str:
    """Throughput per GPU against interactivity: up and to the right is better. One curve for each layout."""
    rows = {row.job.id: row for row in sweep.rows}
    curves: dict[str, list[CollectedPoint]] = defaultdict(list)
    for point in sweep.points:
        if {"median_intvty", "tput_per_gpu"} <= set(point.row.metrics):
            curves[layout_of(rows[point.id])].append(point)
    if not curves:
        return ""
    scale = _Scale([point for points in curves.values() for point in points])
    parts = [*_draw_axes(scale), *_draw_curves(curves, scale, layouts)]
    return _svg(_WIDTH, _HEIGHT, parts, f"Results of run {sweep.run}: throughput against interactivity")


class _Scale:
    def __init__(self, points: Sequence[CollectedPoint]) -> None:
        self.across = choose_ticks(max(x_of(point) for point in points))
        self.up = choose_ticks(max(y_of(point) for point in points))

    def place(self, point: CollectedPoint) -> tuple[float, float]:
        return self.x(x_of(point)), self.y(y_of(point))

    def x(self, value: float) -> float:
        return round(_LEFT + value / self.across[-1] * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        return round(_HEIGHT - _BOTTOM - value / self.up[-1] * (_HEIGHT - _TOP - _BOTTOM), 1)


def x_of(point: CollectedPoint) -> float:
    return point.row.metrics["median_intvty"]


def y_of(point: CollectedPoint) -> float:
    return point.row.metrics["tput_per_gpu"]


def choose_ticks(largest: float) -> list[float]:
    """From 0 to the first that no point lies beyond, at most six, in round steps."""
    largest = largest or 1.0
    size = 10.0 ** math.floor(math.log10(largest / 5))
    step = next(factor * size for factor in _STEPS if factor * size * 5 >= largest)
    return [number * step for number in range(math.ceil(largest / step) + 1)]


def _draw_axes(scale: _Scale) -> Iterable[str]:
    left, bottom = scale.x(0), scale.y(0)
    for y in scale.up:
        yield f'<text class="tick left" x="{left - 6}" y="{scale.y(y) + 4}">{y:,g}</text>'
        yield f'<path class="grid" d="M{left},{scale.y(y)}H{_WIDTH - _RIGHT}"/>'
    for x in scale.across:
        yield f'<text class="tick" x="{scale.x(x)}" y="{bottom + 16}">{x:g}</text>'
    yield f'<path class="axis" d="M{left},{scale.y(scale.up[-1])}V{bottom}H{_WIDTH - _RIGHT}"/>'
    yield f'<text class="name" x="{_WIDTH - _RIGHT}" y="{bottom + 36}">tokens/s for each user (median) →</text>'
    yield '<text class="name top" x="0" y="12">↑ tokens/s for each GPU</text>'


def _draw_curves(
    curves: Mapping[str, Sequence[CollectedPoint]], scale: _Scale, layouts: Layouts
) -> Iterable[str]:
    labels = _Labels([scale.place(point) for points in curves.values() for point in points])
    for layout, points in curves.items():
        ordered = sorted(points, key=x_of)
        path = " ".join(f"{x},{y}" for x, y in map(scale.place, ordered))
        yield f'<g class="curve {layouts.color(layout)}"><polyline points="{path}"/>'
        for point in ordered:
            x, y = scale.place(point)
            title = f"{layout}, {point.row.conc} sessions: {x_of(point):.1f} tok/s/user, {y_of(point):.0f} tok/s/GPU"
            yield f'<text class="point" x="{x}" y="{y}"><title>{escape(title)}</title>{layouts.mark(layout)}</text>'
            yield labels.draw(f"c{point.row.conc}", x, y)
        yield "</g>"


class _Labels:
    """Beside their points, where they lie on no point and on no other label."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        self.points = points
        self.middles: list[tuple[float, float]] = []

    def draw(self, text: str, x: float, y: float) -> str:
        middle = (x + 17, y - 10)
        taken = [(point, 12) for point in self.points] + [(label, 24) for label in self.middles]
        if any(math.dist(middle, place) < apart for place, apart in taken):
            return ""
        self.middles.append(middle)
        return f'<text class="conc" x="{x + 7:.1f}" y="{y - 7:.1f}">{text}</text>'


def _svg(width: float, height: float, parts: Iterable[str], label: str) -> str:
    inner = "".join(parts)
    return f'<svg viewBox="0 0 {width} {height}" style="max-width:{width}px" role="img" aria-label="{escape(label)}">{inner}</svg>'


def draw_table(sweep: SweepRecord) -> str:
    """Everything that the pictures show on hover: a line for each row, or for each point of one that measured several."""
    measured: dict[str, list[CollectedPoint]] = defaultdict(list)
    for point in sweep.points:
        measured[point.id].append(point)
    heads = ("row", "layout", "runner", "outcome", "tok/s/user", "tok/s/GPU")
    lines = [line for row in sweep.rows for line in _table_lines(row, measured[row.job.id])]
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _table_lines(row: RowOutcome, points: Sequence[CollectedPoint]) -> list[str]:
    outcome = f"{row.conclusion}: {row.words}" if row.conclusion == "failure" else row.conclusion
    measured = [(f"c{point.row.conc}", f"{x_of(point):.1f}", f"{y_of(point):.0f}") for point in points]
    return [
        "".join(["<tr>", *(f"<td>{escape(cell)}</td>" for cell in cells), "</tr>"])
        for name, *numbers in measured or [(name_of(row), "", "")]
        for cells in [(name, layout_of(row), row.runner, outcome, *numbers)]
    ]
