"""The summary of a comparison: counts and the largest changes. A sweep uploads it, and the comment with results shows it.

Any job of a run can replace an artifact, so a digest is foreign data. It has no texts of changes: these are computed
again from its numbers.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from infx import saved
from infx.errors import UsageError
from infx.escape import table, table_code
from infx.phrases import count, join_words
from infx.records import record
from infx.results.artifact import ArtifactFile, JsonFaultError, ReadArtifact, read_json
from infx.results.compare import COMPARISON, ComparedRow, ResultComparison
from infx.results.compare_metrics import AGENTIC_METRICS, METRICS, MetricChange, Trend
from infx.results.row import is_finite

DIGEST_FILE = f"{COMPARISON}/comparison.json"
MAX_LARGEST = 10  # rows with the largest changes
MAX_TEXT = 160  # characters of a row's name
MAX_NUMBER = 1e15  # a larger number was not measured
_MARKS = {Trend.BETTER: "🟢 ", Trend.WORSE: "🔴 ", Trend.EQUAL: "", None: ""}
_METRICS = {
    metric.label: metric for metric in (*METRICS, *AGENTIC_METRICS)
}  # an equal label has an equal form


@record
class SavedChange:
    """The numbers of a change, in the unit of the metric's label."""

    metric: str  # its label
    value: float
    baseline: float

    def restore(self) -> MetricChange:
        """Return the change. Raises ValueError if the numbers or the metric cannot be right."""
        numbers = (self.value, self.baseline)
        if self.metric not in _METRICS or not all(is_finite(n) and abs(n) < MAX_NUMBER for n in numbers):
            raise ValueError("not a change of a compared metric")
        return MetricChange(metric=_METRICS[self.metric], value=self.value, baseline=self.baseline)


@record
class LargeChange:
    """A row with a large change.

    Attributes:
        row: the key of its series, and its concurrency.
        changes: of the throughput if it is known, and of the metric that changed most.
    """

    row: str
    changes: tuple[SavedChange, ...]


@record
class ComparisonDigest:
    """The counts of a comparison, and its rows with the largest changes.

    Attributes:
        rows: the number of results that could be compared.
        compared: the number of them that have a baseline.
        refused: the number of results that cannot be compared.
        better, worse, equal: numbers of rows, by the change of their throughput.
        store_failed: whether no baseline could be read. The reason is not here, because it may name hosts and paths.
    """

    rows: int
    compared: int
    refused: int = 0
    better: int = 0
    worse: int = 0
    equal: int = 0
    store_failed: bool = False
    largest: tuple[LargeChange, ...] = ()


def make_digest(comparison: ResultComparison) -> ComparisonDigest:
    """Return the summary of a comparison."""
    trends = Counter(row.throughput.trend for row in comparison.rows)
    large = [row for row in comparison.find_largest()[:MAX_LARGEST] if row.size > 0]
    return ComparisonDigest(
        rows=len(comparison.rows),
        compared=len(comparison.compared),
        refused=len(comparison.refused),
        better=trends[Trend.BETTER],
        worse=trends[Trend.WORSE],
        equal=trends[Trend.EQUAL],
        store_failed=comparison.fault is not None,
        largest=tuple(_save_row(row) for row in large),
    )


def _save_row(row: ComparedRow) -> LargeChange:
    shown = dict.fromkeys(
        change for change in (row.throughput, row.largest) if change is not None and change.trend
    )
    return LargeChange(
        row=f"{row.row.series.key} c{row.row.conc}"[:MAX_TEXT],
        changes=tuple(
            SavedChange(metric=change.metric.label, value=change.value, baseline=change.baseline)
            for change in shown
            if change.value is not None and change.baseline is not None
        ),
    )


def read_digest(artifact: ReadArtifact) -> ComparisonDigest | None:
    """Return the digest in an artifact; None if it has none that can be shown."""
    name = DIGEST_FILE.rpartition("/")[2]
    file = next((file for file in artifact.files if file.path == name), None)
    return None if file is None else parse_digest(file)


def parse_digest(file: ArtifactFile) -> ComparisonDigest | None:
    """Return the digest in a file; None if it cannot be shown."""
    try:
        digest = saved.parse_value(ComparisonDigest, read_json(file), file.path)
        for item in digest.largest:
            for change in item.changes:
                change.restore()
    except (JsonFaultError, UsageError, ValueError):
        return None
    texts = [item.row for item in digest.largest]
    numbers = (digest.rows, digest.compared, digest.refused, digest.better, digest.worse, digest.equal)
    is_bounded = (
        len(digest.largest) <= MAX_LARGEST
        and all(len(item.changes) <= 2 for item in digest.largest)
        and all(len(text) <= MAX_TEXT for text in texts)
        and all(0 <= number < MAX_NUMBER for number in numbers)
    )
    return digest if is_bounded else None


def render_digest(digest: ComparisonDigest) -> dict[str, Any]:
    """Return the digest as a JSON value."""
    value: dict[str, Any] = saved.to_json(digest)
    return value


def describe_digest(digest: ComparisonDigest) -> str:
    """Return the counts as Markdown: how many rows have a baseline, and how their throughput changed."""
    if digest.store_failed:
        return "No baseline could be read from the store of published results."
    if not digest.rows:
        return f"There is nothing to compare.{_describe_refused(digest)}"
    if not digest.compared:
        return f"No result of {digest.rows:,} has a published baseline.{_describe_refused(digest)}"
    verb = "has" if digest.rows == 1 else "have"
    clauses = [f"{digest.compared:,} of {count(digest.rows, 'result')} {verb} a published baseline"]
    trends = [(digest.better, "better"), (digest.worse, "worse"), (digest.equal, "equal")]
    if words := [f"{number:,} {word}" for number, word in trends if number]:
        clauses.append(f"throughput per GPU: {join_words(words)}")
    if absent := digest.rows - digest.compared:
        clauses.append(f"{absent:,} without a baseline")
    return "; ".join(clauses) + f".{_describe_refused(digest)}"


def _describe_refused(digest: ComparisonDigest) -> str:
    if not digest.refused:
        return ""
    return f" {count(digest.refused, 'result')} cannot be compared."


def render_large_changes(digest: ComparisonDigest, heads: tuple[str, str, str, str, str]) -> str:
    """Return a table of the largest changes. heads: of the row, the metric, the value, the baseline and the change."""
    lines = []
    for item in digest.largest:
        for number, change in enumerate(saved_change.restore() for saved_change in item.changes):
            row = "" if number else table_code(item.row)
            lines.append(
                [row, change.metric.label, change.value_text, change.baseline_text, render_change(change)]
            )
    return table(heads, lines, [":--", ":--", "--:", "--:", ":--"]) if lines else ""


def render_change(change: MetricChange) -> str:
    """Return the cell of a change, with a mark for better or worse."""
    if change.trend is None:
        return change.difference_text
    return f"{_MARKS[change.trend]}{change.difference_text} ({change.percent_text})"
