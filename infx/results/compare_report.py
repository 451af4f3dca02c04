"""The comparison as Markdown for a run's summary, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infx.escape import foreign, table, table_code
from infx.phrases import count, join_words
from infx.records import record
from infx.results.compare import ComparedRow, RefusedResult, ResultComparison
from infx.results.compare_digest import describe_digest, make_digest, render_change, render_large_changes
from infx.results.compare_metrics import MetricChange
from infx.results.compare_tables import ComparedTable, identify_cells, make_tables
from infx.shorten import count_bytes

TITLE = "## Comparison with published results"
MAX_REFUSED = 100  # lines
MAX_RUNS = 10  # runs whose rows are baselines
RESERVE = 4000  # bytes for the titles of tables, and for the sentence about what was cut
_HEADS = ("result", "metric", "this sweep", "baseline", "change")


def render_summary(comparison: ResultComparison, room: int) -> str:
    """Return the comparison as Markdown of at most `room` bytes.

    If not every row fits, the rows with the largest changes are shown, and the number of the other rows.
    """
    head = _render_head(comparison)
    if not comparison.rows or comparison.fault is not None:
        return head
    kept = _select_rows(comparison, room - count_bytes(head) - RESERVE)
    rows = list(comparison.rows) if len(kept) == len(comparison.rows) else [item.row for item in kept]
    lines = {id(item.row): item.line for item in kept}
    parts = [head, *(_render_table(table, lines) for table in make_tables(rows))]
    if cut := len(comparison.rows) - len(kept):
        parts.append(
            f"{count(cut, 'row')} with smaller changes did not fit; the tables start with the largest change.\n"
        )
    return "\n".join(parts)


def _render_head(comparison: ResultComparison) -> str:
    digest = make_digest(comparison)
    reason = [] if comparison.fault is None else ["", f"The reason: {foreign(comparison.fault)}."]
    parts = [TITLE, "", describe_digest(digest), *reason, *_describe_left_out(comparison), ""]
    if changes := render_large_changes(digest, _HEADS):
        parts += ["### Largest changes", "", changes, "", _describe_runs(comparison), ""]
    if comparison.refused:
        parts += [_render_refused(comparison.refused), ""]
    return "\n".join(parts)


def _describe_left_out(comparison: ResultComparison) -> list[str]:
    if not comparison.left_out:
        return []
    verb = "has" if comparison.left_out == 1 else "have"
    return ["", f"{count(comparison.left_out, 'AgentX result')} {verb} no metric that is compared."]


def _describe_runs(comparison: ResultComparison) -> str:
    """Return which runs measured the baselines, and on which days, newest first."""
    days = {row.baseline.run: row.baseline.measured_at for row in comparison.rows if row.baseline is not None}
    ordered = sorted(days, key=lambda run: (days[run], run), reverse=True)
    shown = [f"run {run} ({days[run]:%Y-%m-%d})" for run in ordered]
    return f"Baselines: {join_words(shown, limit=MAX_RUNS)}."


def _render_refused(refused: Sequence[RefusedResult]) -> str:
    lines = [
        f"- {table_code(item.where)}: {foreign('; '.join(item.faults))}" for item in refused[:MAX_REFUSED]
    ]
    if more := len(refused) - len(lines):
        lines.append(f"- … and {more:,} more")
    return "\n".join([f"### Not comparable ({len(refused):,})", "", *lines])


@record
class _RenderedRow:
    row: ComparedRow
    line: list[str]


def _select_rows(comparison: ResultComparison, room: int) -> list[_RenderedRow]:
    """Return the rows that fit, those with the largest changes first, with their cells."""
    kept: list[_RenderedRow] = []
    names: dict[str, str] = {}  # few names are in many rows
    for row in comparison.find_largest():
        cells = _render_cells(row, names)
        room -= count_bytes(" | ".join(cells)) + len("|  |\n")
        if room < 0:
            break
        kept.append(_RenderedRow(row=row, line=cells))
    return kept


def _render_cells(row: ComparedRow, names: dict[str, str]) -> list[str]:
    cells = []
    for text in identify_cells(row.row):
        if text not in names:
            names[text] = text if text.isdecimal() else table_code(text[:200])
        cells.append(names[text])
    for change in row.changes:
        cells += [change.value_text, render_change(change)]
    return cells


def _render_table(shown: ComparedTable, lines: dict[int, list[str]]) -> str:
    marks = [*(":--" for _ in shown.heads), *("--:" for _ in shown.columns[len(shown.heads) :])]
    rows = [lines[id(row)] for row in shown.rows]
    return f"### {shown.title}\n\n{table(list(map(foreign, shown.columns)), rows, marks)}\n"


def render_json(comparison: ResultComparison) -> dict[str, Any]:
    """Return the comparison as a JSON value; what is not known is null."""
    return {
        "fault": comparison.fault,
        "results": len(comparison.rows),
        "compared": len(comparison.compared),
        "left-out": comparison.left_out,
        "rows": [_render_row(row) for row in comparison.rows],
        "not-comparable": [{"where": item.where, "faults": list(item.faults)} for item in comparison.refused],
    }


def _render_row(row: ComparedRow) -> dict[str, Any]:
    baseline = row.baseline
    return {
        "series": row.row.series.key,
        "conc": row.row.conc,
        "image": row.row.values.get("image"),
        "baseline": None
        if baseline is None
        else {
            "series": baseline.series,
            "run": baseline.run,
            "attempt": baseline.attempt,
            "row-id": baseline.row_id,
            "commit": baseline.commit,
            "measured-at": baseline.measured_at.isoformat(),
            "image": baseline.values.get("image"),
        },
        "metrics": [_render_metric(change) for change in row.changes],
    }


def _render_metric(change: MetricChange) -> dict[str, Any]:
    return {
        "metric": change.metric.key,
        "value": change.value,
        "baseline": change.baseline,
        "difference": change.difference,
        "percent": None if change.share is None else 100 * change.share,
        "trend": change.trend,
    }
