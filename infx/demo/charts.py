"""Pictures of a sweep as SVG: its rows on their runners, and its results. No script; details appear on hover."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from infx.demo.stage import RowOutcome, SweepRecord
from infx.matrix.jobs import describe_layout
from infx.results.collect import Point

_CELL, _GAP, _LANE = 30, 4, 132
_WIDTH, _HEIGHT, _MARGIN = 460, 300, 48


def draw_plan(sweep: SweepRecord) -> str:
    """A lane for each runner, a cell for each row in the order of the plan, coloured by outcome."""
    lanes: dict[str, list[RowOutcome]] = defaultdict(list)
    for row in sweep.rows:
        lanes[row.runner or "not started"].append(row)
    names = sorted(lanes, key=lambda name: (name == "not started", name))
    longest = max((len(rows) for rows in lanes.values()), default=1)
    width = max(_WIDTH * 4 // 5, _LANE + longest * (_CELL + _GAP))  # short sweeps in the size of long ones
    height = len(names) * (_CELL + _GAP)
    parts = []
    for number, name in enumerate(names):
        y = number * (_CELL + _GAP)
        parts.append(f'<text class="lane" x="0" y="{y + 20}">{escape(name)}</text>')
        parts += [_cell(row, _LANE + index * (_CELL + _GAP), y) for index, row in enumerate(lanes[name])]
    return _svg(width, height, parts, f"Rows of run {sweep.run} on their runners")


def _cell(row: RowOutcome, x: int, y: int) -> str:
    job = row.job
    mark = "e" if job.row.eval_only else "c"
    text = f"{mark}{max(job.row.conc)}"
    details = [job.name, row.conclusion, f"{row.seconds:.1f} s" if row.seconds else "", row.words]
    return (
        f'<g class="row {row.conclusion}"><title>{escape(chr(10).join(filter(None, details)))}</title>'
        f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" rx="5"/>'
        f'<text x="{x + _CELL / 2}" y="{y + 19}">{escape(text)}</text></g>'
    )


def draw_results(sweep: SweepRecord) -> str:
    """Throughput per GPU against interactivity: up and to the right is better. One curve for each layout."""
    layouts = {row.job.id: describe_layout(row.job.row.recipe) for row in sweep.rows}
    curves: dict[str, list[Point]] = defaultdict(list)
    for point in sweep.points:
        if {"median_intvty", "tput_per_gpu"} <= set(point.row.metrics):
            curves[layouts[point.id]].append(point)
    if not curves:
        return ""
    scale = _Scale([point for points in curves.values() for point in points])
    parts = [*_axes(scale), *_draw_curves(curves, scale)]
    return _svg(_WIDTH, _HEIGHT, parts, f"Results of run {sweep.run}: throughput against interactivity")


class _Scale:
    def __init__(self, points: Sequence[Point]) -> None:
        self.right = _round_up(max(x_of(point) for point in points))
        self.top = _round_up(max(y_of(point) for point in points))

    def x(self, value: float) -> float:
        return _MARGIN + value / self.right * (_WIDTH - _MARGIN - 16)

    def y(self, value: float) -> float:
        return _HEIGHT - _MARGIN - value / self.top * (_HEIGHT - _MARGIN - 16)


def x_of(point: Point) -> float:
    return point.row.metrics["median_intvty"]


def y_of(point: Point) -> float:
    return point.row.metrics["tput_per_gpu"]


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 with zeros."""
    size = 1.0
    while True:
        for step in (1, 2, 5):
            if step * size >= value:
                return step * size
        size *= 10


def _axes(scale: _Scale) -> Iterable[str]:
    left, bottom = scale.x(0), scale.y(0)
    yield f'<path class="axis" d="M{left},{scale.y(scale.top)}V{bottom}H{scale.x(scale.right)}"/>'
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = share * scale.right, share * scale.top
        yield f'<text class="tick" x="{scale.x(x)}" y="{bottom + 16}">{x:g}</text>'
        yield f'<text class="tick left" x="{left - 6}" y="{scale.y(y) + 4}">{y:g}</text>'
        yield f'<path class="grid" d="M{left},{scale.y(y)}H{scale.x(scale.right)}"/>'
    yield f'<text class="name" x="{scale.x(scale.right)}" y="{bottom + 36}">tokens/s for each user (median)</text>'
    yield f'<text class="name top" x="{left}" y="12">tokens/s for each GPU</text>'


def _draw_curves(curves: Mapping[str, Sequence[Point]], scale: _Scale) -> Iterable[str]:
    for number, (layout, points) in enumerate(curves.items()):
        ordered = sorted(points, key=x_of)
        path = " ".join(f"{scale.x(x_of(point)):.1f},{scale.y(y_of(point)):.1f}" for point in ordered)
        yield f'<g class="curve c{number % 6}"><polyline points="{path}"/>'
        for point in ordered:
            title = f"{layout}, {point.row.conc} sessions: {x_of(point):.1f} tok/s/user, {y_of(point):.0f} tok/s/GPU"
            at = f'cx="{scale.x(x_of(point)):.1f}" cy="{scale.y(y_of(point)):.1f}"'
            yield f'<circle {at} r="5"><title>{escape(title)}</title></circle>'
        yield f'<text x="{_WIDTH - 130}" y="{28 + 18 * number}">● {escape(layout)}</text></g>'


def _svg(width: float, height: float, parts: Iterable[str], label: str) -> str:
    inner = "".join(parts)
    return f'<svg viewBox="0 0 {width} {height}" style="max-width:{width}px" role="img" aria-label="{escape(label)}">{inner}</svg>'
