"""The run summary of a sweep: counts, failed rows, missing rows and results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from infx.bench.follow_up import RowOrigin
from infx.bench.words import describe_row
from infx.escape import foreign, table, table_code
from infx.phrases import count, join_some, join_words
from infx.results.collect import Collection, RowCoverage, RowState, describe_collection, explain
from infx.results.eval_row import EvalRow
from infx.results.eval_tables import make_tables
from infx.results.points import CollectedPoint
from infx.results.row import ResultRow

MAX_LINES = 2000  # of one table; the limit of summaries may cut more

# Column, its metrics in order of preference, and the factor for its unit.
_COLUMNS = (
    ("tok/s/GPU", ("tput_per_gpu",), 1),
    ("out tok/s/GPU", ("output_tput_per_gpu",), 1),
    ("TTFT ms", ("median_ttft", "p50_ttft"), 1000),
    ("TPOT ms", ("median_tpot", "p50_tpot"), 1000),
    ("tok/s/user", ("median_intvty", "p50_intvty"), 1),
    ("E2E s", ("median_e2el", "p50_e2el"), 1),
)


def render_report(collection: Collection) -> str:
    """Return the summary as Markdown."""
    parts = [
        _render_counts(collection),
        _render_coverage("Failed", collection.find_rows(RowState.FAILED)),
        _render_coverage("Missing", collection.find_rows(RowState.MISSING)),
        _render_rejected(collection),
        _render_points(collection.points),
        _render_evals(collection.evals),
    ]
    return "\n".join(part for part in parts if part)


def _render_counts(collection: Collection) -> str:
    total = len(collection.coverage)
    if not total:
        text = f"## Sweep: nothing planned\n\n{describe_collection(collection)}\n"
        return text + _render_unexpected(collection.unexpected)
    counts = {state: len(collection.find_rows(state)) for state in RowState}
    head = (
        f"## Sweep: {counts[RowState.PRESENT]} of {count(total, 'row')}\n\n"
        f"{counts[RowState.FAILED]} failed, {counts[RowState.MISSING]} missing, "
        f"{count(len(collection.points), 'throughput result')} and {count(len(collection.evals), 'accuracy result')} published.\n"
    )
    return head + _render_origins(collection.origins) + _render_unexpected(collection.unexpected)


def _render_origins(origins: Sequence[RowOrigin]) -> str:
    """Return how many rows each run of a follow-up sweep has measured."""
    numbers = Counter(origin.run for origin in origins)
    if not numbers:
        return ""
    parts = [f"{count(number, 'row')} by run {run}" for run, number in sorted(numbers.items(), reverse=True)]
    return f"\nMeasured: {join_words(parts)}.\n"


def _render_unexpected(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"\nIgnored (matches no planned row): {join_some([table_code(name) for name in names], 20)}.\n"


def _render_coverage(title: str, items: Sequence[RowCoverage]) -> str:
    if not items:
        return ""
    rows = []
    for item in items[:MAX_LINES]:
        job = item.job
        why = "; ".join(foreign(fault) for fault in explain(item)) or "see the job"
        rows.append((f"`{job.id}`", job.family, table_code(describe_row(job.row)), why.replace("|", "")))
    return _render_section(title, items, table(("id", "family", "row", "why"), rows))


def _render_section(title: str, items: Sequence[object], content: str, shown: int = MAX_LINES) -> str:
    """Return a section: a title with the number of items, the content, and the number of items that it leaves out."""
    more = [f"\n… and {len(items) - shown} more."] if len(items) > shown else []
    return "\n".join([f"### {title} ({len(items)})", "", content, *more, ""])


def _render_rejected(collection: Collection) -> str:
    rejected = [item for item in collection.rejected if item.is_error]
    if not rejected:
        return ""
    lines = []
    for item in rejected[:100]:
        where = "/".join(filter(None, (item.artifact, item.path)))
        lines.append(f"- {table_code(where)}: {foreign('; '.join(item.faults))}")
    return _render_section("Rejected", rejected, "\n".join(lines), 100)


def _render_points(points: Sequence[CollectedPoint]) -> str:
    if not points:
        return ""
    heads = (
        "id",
        "model",
        "hw",
        "framework",
        "precision",
        "isl/osl",
        "conc",
        *(name for name, _, _ in _COLUMNS),
    )
    lines = []
    ordered = sorted(points, key=lambda point: (_make_sort_key(point.row), point.id))
    for point in ordered[:MAX_LINES]:
        row = point.row
        names = [row.infmax_model_prefix, row.hw, row.framework, row.precision]
        cells = [
            f"`{point.id}`",
            *(table_code(name) for name in names),
            f"{row.isl}/{row.osl}",
            str(row.conc),
        ]
        lines.append([*cells, *(_render_number(row, names, factor) for _, names, factor in _COLUMNS)])
    return _render_section("Results", points, table(heads, lines))


def _make_sort_key(row: ResultRow) -> tuple[str | int, ...]:
    return (row.infmax_model_prefix, row.hw, row.framework, row.isl, row.osl, row.conc)


def _render_number(row: ResultRow, names: Sequence[str], factor: int) -> str:
    value = next((row.metrics[name] for name in names if name in row.metrics), None)
    return "" if value is None else f"{value * factor:,.4g}" if abs(value) < 1e12 else f"{value:.3g}"


def _render_evals(rows: Sequence[tuple[str, EvalRow]]) -> str:
    """Return a table for each kind of deployment; faults of rows are in the sections above it."""
    parts = []
    for part in make_tables(rows):
        lines = [
            [f"`{row_id}`", *(table_code(cell[:200]) if cell else "" for cell in cells)]
            for row_id, cells in part.lines[:MAX_LINES]
        ]
        parts.append(_render_section(part.title, part.lines, table(("id", *part.headers), lines)))
    return "\n".join(parts)
