"""The facts of a page with results, read from the files that `infx results collect` writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from infx.bench.row import Row
from infx.bench.words import describe_row
from infx.errors import UsageError
from infx.policy.model import ResultLink
from infx.records import record
from infx.results.collect import RowState
from infx.results.compare import ResultComparison
from infx.results.row import RowFaultError, is_finite
from infx.results.series import Series, identify_planned
from infx.rowfile.thresholds import UNKNOWN, Bar, ScoreBars


@record
class PlannedResult:
    """A planned row, and whether it has results.

    Attributes:
        error: the first reason why the row is not complete; "" if it is.
        series: of its points; None for an accuracy run.
    """

    words: str
    state: RowState
    error: str
    series: Series | None
    concs: tuple[int, ...]


@record
class JudgedScore:
    """The accuracy of one task at one concurrency, and the score that it must reach."""

    words: str
    task: str
    conc: int | None
    score: float | None
    bar: Bar
    fault: str

    @property
    def has_passed(self) -> bool:
        return not self.fault and self.score is not None and self.score >= self.bar.score


@record
class PageFacts:
    """Everything that a page with results shows.

    Attributes:
        run: its number; None if the results are not those of a run on GitHub.
        links: of the policy, each with `{run}` for the number.
    """

    comparison: ResultComparison
    planned: tuple[PlannedResult, ...]
    scores: tuple[JudgedScore, ...]
    run: int | None = None
    links: tuple[ResultLink, ...] = ()

    def count(self, state: RowState) -> int:
        """Return the number of planned rows in a state."""
        return sum(row.state is state for row in self.planned)

    def count_incomplete(self) -> int:
        """Return the number of planned rows that failed or are missing."""
        return self.count(RowState.FAILED) + self.count(RowState.MISSING)


def parse_coverage(value: Any, path: str) -> tuple[PlannedResult, ...]:
    """Return the planned rows of the file. Raises UsageError if another tool wrote it.

    value: the file as JSON.
    """
    try:
        return tuple(_parse_row(row) for row in value["rows"])
    except (LookupError, TypeError, ValueError):
        raise UsageError(
            f"{path} does not have the planned rows in the form that infx results collect writes.",
            hint="Collect the results again with this version of infx.",
        ) from None


def _parse_row(value: Any) -> PlannedResult:
    row = Row.from_saved(value["row"])
    faults = value["faults"]
    try:
        series = None if row.eval_only else identify_planned(row)
    except RowFaultError:
        series = None
    return PlannedResult(
        words=describe_row(row),
        state=RowState(value["state"]),
        error=str(faults[0]) if faults else "",
        series=series,
        concs=row.eval_concs if row.eval_only else row.conc,
    )


def judge_scores(rows: Iterable[Any], bars: ScoreBars) -> tuple[JudgedScore, ...]:
    """Return the accuracy results with their bars, those below their bar first. rows: of the aggregate."""
    scores = [_judge(row, bars) for row in rows if isinstance(row, dict)]
    return tuple(
        sorted(scores, key=lambda score: (score.has_passed, score.words, score.task, score.conc or 0))
    )


_WORDS = ("hw", "framework", "precision", "spec_decoding")


def _judge(row: dict[str, Any], bars: ScoreBars) -> JudgedScore:
    prefix = str(row.get("model_prefix") or row.get("infmax_model_prefix") or UNKNOWN)
    task, conc, score = str(row.get("task")), row.get("conc"), row.get("score")
    words = [str(row[name]) for name in _WORDS if row.get(name) not in (None, "", "none")]
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and is_finite(score)
    return JudgedScore(
        words=" ".join([prefix, *words, *_spell_sizes(row)]),
        task=task,
        conc=conc if isinstance(conc, int) else None,
        score=float(score) if is_number else None,  # type: ignore[arg-type]  # it is a number
        bar=bars.find(prefix, task),
        fault=str(row.get("error") or ""),
    )


def _spell_sizes(row: dict[str, Any]) -> Sequence[str]:
    return [f"{name}{row[name]}" for name in ("tp", "ep") if isinstance(row.get(name), int)]
