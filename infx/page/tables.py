"""The tables of a page with results, which say the same as its charts where scripts do not run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from infx.page.chart import AXES, ChartAxis, ChartLine, ChartPoint
from infx.page.facts import JudgedScore, PlannedResult
from infx.page.lines import MAX_TEXT, LineName
from infx.results.collect import RowState
from infx.results.compare import ComparedRow, RefusedResult

MAX_ERROR = 400  # characters
_POINT_HEADS = ("model", "lengths", "hardware", "deployment", "layout", "concurrency")
_MARKS = {RowState.FAILED: "✕ failed", RowState.MISSING: "○ missing"}


def render_table(identity: str, heads: Iterable[str], rows: Sequence[str]) -> str:
    """Return a table. rows: HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(identity)}"><table id="{escape(identity)}">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(text: str, kind: str = "") -> str:
    return f"<td{f' class={kind}' if kind else ''}>{escape(text)}</td>"


def list_point_heads() -> tuple[str, ...]:
    """Return the heads of the table of results."""
    numbers = [head for axis in AXES for head in (f"{axis.label} ({axis.unit})", "change")]
    return (*_POINT_HEADS, *numbers, "baseline")


def render_points(number: int, name: LineName, line: ChartLine, rows: Iterable[ComparedRow]) -> Iterator[str]:
    """Yield a row of HTML for each point of a line. number: of the line in its set, by which the script filters."""
    first = "".join(map(_cell, (name.model, name.lengths, name.hardware, name.words)))
    for point, row in zip(line.points, rows, strict=True):
        published = row.baseline
        baseline = "none" if published is None else f"run {published.run}, {published.measured_at:%Y-%m-%d}"
        numbers = "".join(_render_numbers(point, axis) for axis in AXES)
        yield (
            f"<tr data-line={number}>{first}{_cell(point.words)}{_cell(str(point.conc), 'n')}"
            f"{numbers}{_cell(baseline)}</tr>"
        )


def _render_numbers(point: ChartPoint, axis: ChartAxis) -> str:
    value, published = point.values.get(axis.key), point.baseline.get(axis.key)
    text = "" if value is None else f"{value:,.5g}" if value < 10_000 else f"{value:,.0f}"
    if value is None or not published:
        return _cell(text, "n") + "<td></td>"
    change = (value - published) / abs(published)
    kind = "n" if not change else "better" if (change > 0) is axis.is_higher_better else "worse"
    mark = {"better": "▲ ", "worse": "▼ "}.get(kind, "")
    return _cell(text, "n") + _cell(f"{mark}{change:+.1%}", kind)


def render_incomplete(rows: Iterable[PlannedResult]) -> Iterator[str]:
    """Yield a row of HTML for each planned row that failed or is missing, with its first error."""
    for row in rows:
        if row.state in _MARKS:
            cells = (row.words[:MAX_TEXT], row.error[:MAX_ERROR])
            yield f"<tr>{_cell(_MARKS[row.state], row.state.value)}{''.join(map(_cell, cells))}</tr>"


def render_refused(results: Iterable[RefusedResult]) -> Iterator[str]:
    """Yield a row of HTML for each result that cannot be compared."""
    for item in results:
        yield f"<tr>{_cell(item.where[:MAX_TEXT])}{_cell('; '.join(item.faults)[:MAX_ERROR])}</tr>"


def render_scores(scores: Iterable[JudgedScore]) -> Iterator[str]:
    """Yield a row of HTML for each accuracy result, with its bar."""
    for score in scores:
        verdict = _cell("✓ reached", "better") if score.has_passed else _cell("✕ not reached", "worse")
        value = "" if score.score is None else f"{score.score:.2%}"
        meter = (
            ""
            if score.score is None
            else f'<meter min=0 max=1 low="{score.bar.score:g}" optimum=1 value="{score.score:g}"></meter>'
        )
        words = (score.words[:MAX_TEXT], score.task[:MAX_TEXT])
        yield (
            f"<tr>{verdict}{''.join(map(_cell, words))}{_cell('' if score.conc is None else str(score.conc), 'n')}"
            f"{_cell(value, 'n')}<td>{meter}</td>{_cell(f'{score.bar.score:.2%}', 'n')}{_cell(score.fault[:MAX_ERROR])}</tr>"
        )
