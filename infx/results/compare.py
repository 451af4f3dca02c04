"""Compare results with their baselines: the newest official rows of the same series and concurrency.

A store answers with the newest rows of some series; `list_series` says which, and `compare` does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from infx.policy.results import ResultRules
from infx.records import record, replace
from infx.results.artifact import JsonFaultError
from infx.results.compare_metrics import (
    AGENTIC_MEDIANS,
    AGENTIC_METRICS,
    METRICS,
    ComparedMetric,
    MetricChange,
    compare_metrics,
    find_numbers,
)
from infx.results.identity import ROLES
from infx.results.row import RowFaultError
from infx.results.series import Newest, Series, StoredRow, identify_series

COMPARISON = "results_compare"  # the artifact with the summary of a comparison


@record
class MeasuredRow:
    """A throughput result that can be compared.

    Attributes:
        values: the result as the tool wrote it.
        numbers: the metrics that are compared, by key.
        keys: those of the series whose rows may be its baseline; the first is its own.
    """

    values: Mapping[str, Any]
    series: Series
    conc: int
    numbers: Mapping[str, float]
    keys: tuple[str, ...]

    @property
    def metrics(self) -> tuple[ComparedMetric, ...]:
        """Return the metrics that are compared, in the order of the columns."""
        return AGENTIC_METRICS if self.series.is_agentic else METRICS

    @property
    def order(self) -> tuple[str, str, str, int, int, int]:
        """Return a sort key: model, hardware, framework, lengths and concurrency."""
        series = self.series
        return series.model_prefix, series.hardware, series.framework, series.isl, series.osl, self.conc


@record
class RefusedResult:
    """A result that cannot be compared."""

    where: str  # the file, and the number of the result in it
    faults: tuple[str, ...]  # clauses


@record
class ReadResults:
    """The results of some files, before they are compared."""

    rows: tuple[MeasuredRow, ...]
    refused: tuple[RefusedResult, ...] = ()
    left_out: int = 0  # AgentX results without a metric that is compared

    def list_series(self) -> frozenset[str]:
        """Return the keys of all series that may have a baseline."""
        return frozenset(key for row in self.rows for key in row.keys)


@record
class ComparedRow:
    """A result and its baseline, if there is one.

    Attributes:
        numbers: the metrics of the baseline, by key; None without a baseline.
        size: the largest change of a metric as a share of the baseline, without its sign; -1 if no change is known.
    """

    row: MeasuredRow
    baseline: StoredRow | None
    numbers: Mapping[str, float] | None
    size: float

    @property
    def changes(self) -> tuple[MetricChange, ...]:
        """Return the change of each metric, in the order of the columns."""
        return compare_metrics(self.row.numbers, self.numbers, self.row.metrics)

    @property
    def throughput(self) -> MetricChange:
        """Return the change of the throughput per GPU, the metric of the first column."""
        return compare_metrics(self.row.numbers, self.numbers, self.row.metrics[:1])[0]

    @property
    def largest(self) -> MetricChange | None:
        """Return the largest change in percent; None if no change is known."""
        known = [change for change in self.changes if change.share is not None]
        return max(known, key=lambda change: abs(change.share or 0.0), default=None)


@record
class ResultComparison:
    """All results of a sweep with their baselines.

    Attributes:
        rows: in the order in which tables show them.
        fault: a clause that says why no baseline was read; None if the store answered.
    """

    rows: tuple[ComparedRow, ...]
    refused: tuple[RefusedResult, ...] = ()
    left_out: int = 0
    fault: str | None = None

    @property
    def compared(self) -> tuple[ComparedRow, ...]:
        """Return the rows that have a baseline."""
        return tuple(row for row in self.rows if row.baseline is not None)

    def find_largest(self) -> list[ComparedRow]:
        """Return all rows, those with the largest changes first, and those without a known change last."""
        return sorted(self.rows, key=lambda row: -row.size)


def read_results(results: Iterable[tuple[str, Any]], rules: ResultRules) -> ReadResults:
    """Return the rows of JSON values.

    Args:
        results: where each value was found, and the value, or the fault of a file that is not JSON.
    """
    rows, refused, left_out = [], [], 0
    for where, value in results:
        try:
            row = _read_row(value, rules)
        except RowFaultError as error:
            refused.append(RefusedResult(where=where, faults=tuple(error.faults)))
            continue
        if row.series.is_agentic and not AGENTIC_MEDIANS & row.numbers.keys():
            left_out += 1
        else:
            rows.append(row)
    return ReadResults(rows=tuple(rows), refused=tuple(refused), left_out=left_out)


def compare(results: ReadResults, newest: Newest, *, fault: str | None = None) -> ResultComparison:
    """Return every row with its baseline.

    Args:
        newest: the newest official rows of the results' series.
        fault: why `newest` is empty, if the store could not be read.
    """
    rows = [_compare_row(row, newest) for row in results.rows]
    rows.sort(key=lambda compared: compared.row.order)
    return ResultComparison(rows=tuple(rows), refused=results.refused, left_out=results.left_out, fault=fault)


def _compare_row(row: MeasuredRow, newest: Newest) -> ComparedRow:
    candidates = [points[row.conc] for key in row.keys if (points := newest.get(key)) and row.conc in points]
    baseline = max(candidates, key=lambda stored: stored.age, default=None)
    numbers = None if baseline is None else find_numbers(baseline.values, row.metrics)
    return ComparedRow(
        row=row, baseline=baseline, numbers=numbers, size=_find_size(row.numbers, numbers or {})
    )


def _find_size(numbers: Mapping[str, float], baseline: Mapping[str, float]) -> float:
    shares = (
        abs(numbers[key] - value) / abs(value) for key, value in baseline.items() if value and key in numbers
    )
    return max((share for share in shares if isfinite(share)), default=-1.0)


def _read_row(value: Any, rules: ResultRules) -> MeasuredRow:
    if isinstance(value, JsonFaultError):
        raise RowFaultError([str(value)])
    if not isinstance(value, dict):
        raise RowFaultError(["it is not an object, expected a result row"])
    values = _complete(value)
    series = identify_series(values)
    if faults := [] if series.is_agentic else _find_missing(values, series):
        raise RowFaultError(faults)
    prefixes = rules.list_prefixes(series.model_prefix)
    return MeasuredRow(
        values=value,
        series=series,
        conc=int(values["conc"]),  # identify_series refuses a value that is not a whole number
        numbers=find_numbers(value, AGENTIC_METRICS if series.is_agentic else METRICS),
        keys=(series.key, *(replace(series, model_prefix=prefix).key for prefix in prefixes[1:])),
    )


_FLAGS = ("disagg", "is_multinode", *(f"{prefix}dp_attention" for prefix in ("", "prefill_", "decode_")))


def _complete(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with every text of a yes-or-no field as a boolean, and one worker for each role that names none."""
    completed = dict(values)
    for name in _FLAGS:
        if isinstance(text := values.get(name), str):
            completed[name] = text.strip().lower() == "true"
    for role in ROLES:
        if values.get(f"{role}_tp") is not None and values.get(f"{role}_num_workers") is None:
            completed[f"{role}_num_workers"] = 1
    return completed


def _find_missing(values: Mapping[str, Any], series: Series) -> list[str]:
    """Return a clause for each field that a table shows and the row does not have."""
    sizes = [f"{role}_ep" for role in ROLES] if series.is_multinode else ["ep"]
    return [f"{name} is missing" for name in ("model", *sizes) if values.get(name) in (None, "")]


def flatten_results(files: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the results of JSON files, each with its place; a file has one result or a list. files: path and value."""
    results: list[tuple[str, Any]] = []
    for path, value in files:
        if isinstance(value, list):
            results += [(f"{path}, result {number}", item) for number, item in enumerate(value, 1)]
        else:
            results.append((path, value))
    return results
