"""The page with the results of a sweep: charts, rows without results, accuracy, and a table of everything."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import islice
from pathlib import Path

from infx.page.chart import (
    FIRST_TOKEN,
    INTERACTIVITY,
    LATENCY,
    ChartLine,
    embed_json,
    render_chart,
    render_legend,
    render_line,
)
from infx.page.document import MAX_BYTES, ChartPage, render_chart_page
from infx.page.facts import PageFacts
from infx.page.lines import LineName, make_lines
from infx.page.tables import (
    list_point_heads,
    render_incomplete,
    render_points,
    render_refused,
    render_scores,
    render_table,
)
from infx.phrases import count
from infx.records import record
from infx.results.collect import RowState
from infx.results.compare import ComparedRow
from infx.results.compare_digest import describe_digest, make_digest

SET = "results"
_RESERVE = 100_000  # bytes of everything that does not grow with the results
_DATA = Path(__file__).with_name("data")
_Lines = dict[LineName, tuple[ChartLine, tuple[ComparedRow, ...]]]


@record
class Fitted:
    """The rows of a table that have room, and the number of the others."""

    rows: tuple[str, ...]
    left_out: int

    @property
    def note(self) -> str:
        return (
            f"<p>{count(self.left_out, 'more row')} did not fit into this page.</p>" if self.left_out else ""
        )


@record
class PageTables:
    """The tables of a page, cut to the room that its charts leave."""

    incomplete: Fitted
    refused: Fitted
    scores: Fitted
    points: Fitted


def render_results_page(facts: PageFacts, library: str) -> str:
    """Return the page as one HTML file of at most `MAX_BYTES`. library: from `read_library`.

    If not everything fits, tables are cut, then charts, and the page says so.
    """
    room = MAX_BYTES - len(library.encode()) - _RESERVE
    lines = make_lines(facts.comparison.rows, facts.planned)
    shown = _select_lines(lines, room * 3 // 5)
    tables = _fit_tables(facts, lines, room - sum(_measure_line(line) for line, _ in shown.values()))
    body = (
        _render_header(facts),
        _render_charts(shown, len(lines) - len(shown)),
        _render_incomplete(facts, tables.incomplete),
        _render_refused(tables.refused),
        _render_scores(facts, tables.scores),
        _render_points(tables.points),
    )
    style, script = ((_DATA / f"results.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    page = ChartPage(
        title=_make_title(facts),
        body=f"<main>{''.join(body)}</main>",
        sets={SET: [line for line, _ in shown.values()]},
        style=style,
        script=script,
    )
    return render_chart_page(page, library)


def _fit_tables(facts: PageFacts, lines: _Lines, room: int) -> PageTables:
    incomplete = _fit(render_incomplete(facts.planned), room // 3)
    refused = _fit(render_refused(facts.comparison.refused), room // 6)
    scores = _fit(render_scores(facts.scores), room // 4)
    room -= sum(len(row.encode()) for part in (incomplete, refused, scores) for row in part.rows)
    points = (
        row
        for number, (name, (line, rows)) in enumerate(lines.items())
        for row in render_points(number, name, line, rows)
    )
    return PageTables(incomplete=incomplete, refused=refused, scores=scores, points=_fit(points, room))


def _select_lines(lines: _Lines, room: int) -> _Lines:
    """Return the first lines whose data has room."""
    shown: _Lines = {}
    for name, item in lines.items():
        room -= _measure_line(item[0])
        if room < 0:
            break
        shown[name] = item
    return shown


def _measure_line(line: ChartLine) -> int:
    """Return the bytes of a line: its data, and the choices that it may add to the filters."""
    choices = "".join(_render_choice(value) for value in line.groups.values())
    return len(embed_json(render_line(line))) + len(choices.encode()) + 1


def _fit(rows: Iterable[str], room: int) -> Fitted:
    every = tuple(rows)
    sizes = (len(row.encode()) for row in every)
    kept = 0
    for size in sizes:
        room -= size
        if room < 0:
            break
        kept += 1
    return Fitted(rows=tuple(islice(every, kept)), left_out=len(every) - kept)


def _make_title(facts: PageFacts) -> str:
    return "Results" if facts.run is None else f"Results of run {facts.run}"


def _render_header(facts: PageFacts) -> str:
    planned = len(facts.planned)
    complete = planned - facts.count_incomplete()
    counts = [f"{complete:,} of {count(planned, 'planned row')} complete"]
    counts += [
        f"{number:,} {state}"
        for state in (RowState.FAILED, RowState.MISSING)
        if (number := facts.count(state))
    ]
    links = [
        f'<a rel="noopener noreferrer" href="{escape(url)}">{escape(link.short or link.text)}</a>'
        for link in facts.links
        if facts.run is not None and (url := link.url.format(run=facts.run)).startswith("https://")
    ]
    compared = describe_digest(make_digest(facts.comparison))
    linked = f"<p>{' · '.join(links)}</p>" if links else ""
    return (
        f'<header><h1>{escape(_make_title(facts))}</h1><button type="button" id="theme" class="scripted">Dark or light</button>'
        f"<p>{escape(', '.join(counts))}. {escape(compared)}</p>{linked}</header>"
    )


def _render_charts(lines: _Lines, left_out: int) -> str:
    names = list(lines)
    selects = "".join(
        _render_select(
            kind, label, dict.fromkeys(getattr(name, kind) for name in names), has_all=kind == "hardware"
        )
        for kind, label in (("model", "Model"), ("lengths", "Lengths"), ("hardware", "Hardware"))
    )
    note = f"<p>{count(left_out, 'more line')} did not fit into this page.</p>" if left_out else ""
    return (
        '<section><h2 id="charts">Throughput, interactivity and latency</h2>'
        f'<form id="filters" class="scripted">{selects}{_render_latencies()}'
        '<label>Contains <input name="words" type="search" placeholder="framework, precision …"></label>'
        '<label><input name="baseline" type="checkbox" checked> baseline (hollow, dotted)</label>'
        '<label><input name="dominated" type="checkbox" checked> points below the frontier</label></form>'
        '<p class="about scripted">A line is the Pareto frontier of a deployment: no other of its points is better in both numbers. A line '
        "ends where a planned row did not run. Choose a chart and use the arrow keys to read its points.</p>"
        "<noscript><p>The charts need scripts, which do not run here. The tables below have all numbers.</p></noscript>"
        f'{render_legend(SET)}<div class="charts">{render_chart(SET, INTERACTIVITY, legend=False)}'
        f"{render_chart(SET, LATENCY, legend=False)}</div>{note}</section>"
    )


def _render_select(name: str, label: str, values: Iterable[str], *, has_all: bool) -> str:
    choices = map(_render_choice, values)
    every = ['<option value="">all</option>'] if has_all else []
    return f'<label>{label} <select name="{name}">{"".join([*every, *choices])}</select></label>'


def _render_choice(value: str) -> str:
    return f'<option value="{escape(value)}">{escape(value)}</option>'


def _render_latencies() -> str:
    """Return the choice of the second chart's axis."""
    choices = "".join(
        f'<option value="{axis.key}">{escape(axis.label)}</option>' for axis in (LATENCY, FIRST_TOKEN)
    )
    return f'<label>Latency <select name="latency">{choices}</select></label>'


def _render_incomplete(facts: PageFacts, fitted: Fitted) -> str:
    number = facts.count_incomplete()
    if not number:
        return ""
    table = render_table("incomplete", ("state", "row", "first error"), fitted.rows)
    return f'<section><h2 id="failed">Failed and missing rows ({number:,})</h2>{table}{fitted.note}</section>'


def _render_refused(fitted: Fitted) -> str:
    if not fitted.rows:
        return ""
    table = render_table("refused", ("result", "reason"), fitted.rows)
    return f"<section><h2>Results that cannot be compared</h2>{table}{fitted.note}</section>"


def _render_scores(facts: PageFacts, fitted: Fitted) -> str:
    if not facts.scores:
        return ""
    failed = sum(not score.has_passed for score in facts.scores)
    heads = ("verdict", "deployment", "task", "concurrency", "score", "", "bar", "error")
    words = f"{count(failed, 'score')} below the bar" if failed else "all reached their bar"
    return f'<section><h2 id="accuracy">Accuracy: {words}</h2>{render_table("scores", heads, fitted.rows)}{fitted.note}</section>'


def _render_points(fitted: Fitted) -> str:
    """Return the table of all results. Where scripts run, the browser reads it only when it is opened."""
    table = render_table("points", list_point_heads(), fitted.rows)
    number = len(fitted.rows) + fitted.left_out
    return (
        f'<section><details id="all"><summary><h2>Results (<span id="shown">{number:,}</span>)</h2></summary></details>'
        f"<noscript>{table}</noscript>{fitted.note}</section>"
    )
