"""Render the published results of the demo: what each merge stored, and the charts of all of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape

from infx.bench.words import describe_layout
from infx.demo.steps import PublishedMerge, SweepRecord
from infx.page.chart import (
    INTERACTIVITY,
    LATENCY,
    THROUGHPUT,
    ChartLine,
    ChartPoint,
    read_values,
    render_chart,
    render_legend,
)
from infx.phrases import count

SET = "published"
_COLUMNS = (INTERACTIVITY, THROUGHPUT, LATENCY)


def find_lines(merges: Sequence[PublishedMerge], sweeps: Iterable[SweepRecord]) -> tuple[ChartLine, ...]:
    """Return a line for each model, hardware and layout that was published."""
    layouts = {
        row.job.id: describe_layout(row.job.row.recipe)
        for sweep in sweeps
        for row in sweep.rows
        if sweep.run in {merge.run for merge in merges}
    }
    points: dict[str, list[ChartPoint]] = defaultdict(list)
    for merge in merges:
        for row in merge.rows:
            values = row.parse_result()
            name = f"{values['infmax_model_prefix']} {values['hw'].removeprefix('cluster:')} {layouts[row.row_id]} (#{merge.pull})"
            numbers = {key: value for key, value in values.items() if isinstance(value, int | float)}
            points[name].append(
                ChartPoint(conc=values["conc"], values=read_values(numbers), words=f"run {merge.run}")
            )
    return tuple(ChartLine(name=name, points=tuple(measured)) for name, measured in points.items())


def render_results(merges: Sequence[PublishedMerge], lines: Sequence[ChartLine]) -> str:
    """Return the section with the published results; the script of the page draws its charts."""
    stored = count(sum(len(merge.rows) for merge in merges), "result")
    items = "".join(
        f'<li><a href="#step-{merge.step}">#{merge.pull}: {count(len(merge.rows), "result")} of run {merge.run}</a></li>'
        for merge in merges
    )
    return (
        '<section id="results"><h2>Published results</h2>'
        "<p>Each merge starts the workflow <code>publish</code>. A job without a token that writes checks the artifacts of "
        "the reused sweep against the plan; a second job stores only what was checked, on a branch of the repository. "
        f"Later sweeps are compared with what is stored, here {stored}. The numbers were measured here, of a small "
        f'engine that needs no GPU.</p><ul class="stored">{items}</ul>{render_legend(SET)}<div class="charts">{render_chart(SET, INTERACTIVITY, legend=False)}'
        f"{render_chart(SET, LATENCY, legend=False)}</div><details><summary>All published results as a table</summary>"
        f'<div class="wide" tabindex="0">{_render_table(lines)}</div></details></section>'
    )


def _render_table(lines: Sequence[ChartLine]) -> str:
    heads = ("line", "sessions", *(f"{axis.label}, {axis.unit}" for axis in _COLUMNS))
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "".join(["<tr>", *(f"<td>{escape(cell)}</td>" for cell in _list_cells(line, point)), "</tr>"])
        for line in lines
        for point in line.points
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _list_cells(line: ChartLine, point: ChartPoint) -> list[str]:
    numbers = (point.values.get(axis.key) for axis in _COLUMNS)
    return [
        line.name,
        str(point.conc),
        *(
            "" if number is None else f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"
            for number in numbers
        ),
    ]
