"""Render the rows of a sweep: a cell for each row on its runner, and all numbers in a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape

from infx.bench.words import describe_layout
from infx.demo.steps import SweepRecord
from infx.page.chart import INTERACTIVITY, THROUGHPUT, read_values
from infx.play.steps import RowOutcome
from infx.results.points import CollectedPoint

_MARKS = "●■▲◆▼★"  # not every reader can tell the colors apart
_WORDS = {"success": "passed", "failure": "failed", "cancelled": "stopped before it began"}
_HEADS = ("row", "layout", "runner", "outcome", "tok/s/user", "tok/s/GPU")

LEGEND = """\
<p class="about">Each cell is a row, one benchmark job, on its runner, a GPU machine. c64 measures throughput with 64
concurrent sessions; e64 is an accuracy run (eval) with 64 sessions. The mark shows the parallelism layout: TP4 is tensor
parallelism over 4 GPUs, EP4 adds expert parallelism, and DPA adds data-parallel attention. TP4/EP4 is also called TEP4,
and TP4/EP4/DPA is also called DEP4.</p>"""


def render_sweep(sweep: SweepRecord) -> str:
    """Return the picture of a sweep, and a table with what the picture shows on hover."""
    layouts = list(dict.fromkeys(describe_row_layout(row) for row in sweep.rows))
    lanes: dict[str, list[RowOutcome]] = defaultdict(list)
    for row in sweep.rows:
        lanes[row.runner or "not started"].append(row)
    names = sorted(lanes, key=lambda name: (name == "not started", name))
    pictures = "".join(_render_lane(name, lanes[name], layouts) for name in names)
    return (
        f'<figure class="sweep" id="run-{sweep.run}"><figcaption><b>Run {sweep.run}</b> '
        f"{sweep.gpu_hours:.0f} GPU-hours {_render_layouts(layouts)}</figcaption>{pictures}"
        f'<details><summary>All rows with their numbers</summary><div class="wide" tabindex="0">'
        f"{_render_table(sweep)}</div></details></figure>"
    )


def describe_row_layout(row: RowOutcome) -> str:
    """Return the layout of a row, for example TP4/EP4."""
    return describe_layout(row.job.row.recipe)


def name_row(row: RowOutcome) -> str:
    """Return the short name of a row: c64 measures 64 sessions, e64 checks accuracy with 64 sessions."""
    return f"{'e' if row.job.row.eval_only else 'c'}{max(row.job.row.conc)}"


def _mark(layout: str, layouts: Sequence[str]) -> str:
    return _MARKS[layouts.index(layout) % len(_MARKS)]


def _render_layouts(layouts: Sequence[str]) -> str:
    keys = (f"<li>{_mark(layout, layouts)} {escape(layout)}</li>" for layout in layouts)
    return f'<ul class="legend">{"".join(keys)}</ul>'


def _render_lane(name: str, rows: Sequence[RowOutcome], layouts: Sequence[str]) -> str:
    cells = "".join(_render_cell(row, layouts) for row in rows)
    return f'<div class="lane"><span>{escape(name)}</span><ol>{cells}</ol></div>'


def _render_cell(row: RowOutcome, layouts: Sequence[str]) -> str:
    words = _WORDS[row.conclusion]
    details = [row.job.name, words, f"{row.seconds:.1f} s" if row.seconds else "", row.words]
    title = "\n".join(filter(None, details))
    mark = _mark(describe_row_layout(row), layouts)
    return (
        f'<li class="{row.conclusion}" title="{escape(title)}">{mark} {name_row(row)}'
        f'<span class="sr"> {words}</span></li>'
    )


def _render_table(sweep: SweepRecord) -> str:
    """Return a line for each point, or for a row without points."""
    measured: dict[str, list[CollectedPoint]] = defaultdict(list)
    for point in sweep.points:
        measured[point.id].append(point)
    lines = [line for row in sweep.rows for line in _render_lines(row, measured[row.job.id])]
    head = "".join(f"<th>{name}</th>" for name in _HEADS)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _render_lines(row: RowOutcome, points: Sequence[CollectedPoint]) -> list[str]:
    outcome = f"{row.conclusion}: {row.words}" if row.conclusion == "failure" else row.conclusion
    measured = [
        (f"c{point.row.conc}", f"{values[INTERACTIVITY.key]:.1f}", f"{values[THROUGHPUT.key]:.0f}")
        for point in points
        for values in [read_values(point.row.metrics)]
    ]
    return [
        "".join(["<tr>", *(f"<td>{escape(cell)}</td>" for cell in cells), "</tr>"])
        for name, *numbers in measured or [(name_row(row), "", "")]
        for cells in [(name, describe_row_layout(row), row.runner, outcome, *numbers)]
    ]
