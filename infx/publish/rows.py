"""Select the results of a source run that are published: rows of the merge's plan whose artifacts hold what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from infx.bench.family import family_of
from infx.bench.identity import row_ids
from infx.bench.jobs import RowJob
from infx.bench.row import Row
from infx.bench.uploads import artifact_name
from infx.errors import Level, Problem, has_errors
from infx.policy.results import ResultRules
from infx.publish.handover import ValidatedRow
from infx.records import record
from infx.results.artifact import ReadArtifact
from infx.results.collect import Collection, list_problems
from infx.results.points import CollectedPoint
from infx.results.row import RowFaultError
from infx.results.series import identify_series
from infx.reuse.validate import collect_source
from infx.reuse.with_plan import judge_with_plan

# Rules of problems that concern one row. Those of rows that are not published do not matter.
_ROW_RULES = frozenset({"result-rejected", "result-failed", "result-missing", "samples-unknown"})


@record
class MeasuredBy:
    """Where and when a row was measured."""

    run: int
    attempt: int
    commit: str
    at: datetime


@record
class RowSelection:
    """The rows of a merge's plan that a source run and the runs that it completes have measured.

    Attributes:
        jobs: the source run's own plan, recomputed from git.
        holders: row id → the run whose artifact holds the row's raw result, for every row that a run has.
        measured: row id → measurement, for rows of the merge's plan that succeeded.
        missing: ids of the other rows of the merge's plan.
    """

    jobs: tuple[RowJob, ...]
    holders: Mapping[str, int]
    measured: Mapping[str, MeasuredBy]
    missing: tuple[str, ...] = ()

    def find_names(self, run: int) -> frozenset[str]:
        """Return the names of the artifacts with raw results that are read from a run."""
        return frozenset(artifact_name(job) for job in self.jobs if self.holders.get(job.id) == run)

    def find_foreign(self, run: int) -> frozenset[str]:
        """Return the names of artifacts whose rows another run holds."""
        return frozenset(artifact_name(job) for job in self.jobs if self.holders.get(job.id, run) != run)

    @property
    def runs(self) -> tuple[int, ...]:
        """Return the runs that hold raw results, in the order of their ids."""
        return tuple(sorted(set(self.holders.values())))


@record
class ValidatedResults:
    """The results that are published, and what is wrong with the artifacts; with an error, nothing is published."""

    rows: tuple[ValidatedRow, ...] = ()
    accuracy: int = 0  # validated accuracy results, which are not stored
    problems: tuple[Problem, ...] = ()

    @property
    def is_valid(self) -> bool:
        return not has_errors(self.problems)


def make_jobs(rows: Sequence[Row]) -> tuple[RowJob, ...]:
    """Return the jobs of rows, as far as their artifacts are named after them."""
    return tuple(
        RowJob(
            id=row_id,
            row=row,
            family=family_of(row),
            name=row_id,
            priority=Decimal(0),
            queue_token="",
            shard=0,
        )
        for row_id, row in zip(row_ids(rows), rows, strict=True)
    )


def validate_results(
    selection: RowSelection, artifacts: Iterable[ReadArtifact], rules: ResultRules, *, is_whole: bool
) -> ValidatedResults:
    """Compare artifacts with the recomputed plan and with each other, and return the rows of the merge.

    Args:
        artifacts: raw results of every run of the selection, and the aggregates of the source run.
        is_whole: every row of the merge's plan must have been measured; else some may be missing.
    """
    source, collection = collect_source(artifacts, selection.jobs, rules)
    validation = judge_with_plan(source, collection)
    problems = [problem for problem in validation.problems if problem.rule not in _ROW_RULES]
    problems += list_problems(_limit(collection, selection.measured.keys()))
    if is_whole:
        problems += [_describe_missing(row_id) for row_id in selection.missing]
    if not selection.measured:
        problems.append(_describe_empty())
    points = [point for point in collection.points if point.id in selection.measured]
    problems += [problem for point in points if (problem := _check_series(point))]
    rows = tuple(_make_row(point.id, point.values, selection.measured[point.id]) for point in points)
    accuracy = sum(row_id in selection.measured for row_id, _ in collection.evals)
    return ValidatedResults(rows=rows, accuracy=accuracy, problems=tuple(problems))


def _check_series(point: CollectedPoint) -> Problem | None:
    """Return why a result cannot be stored, or None."""
    try:
        identify_series(point.values)
    except RowFaultError as error:
        return Problem(
            rule="publish-unreadable",
            message=f"The result of row {point.id} belongs to no series: {'; '.join(error.faults)[:1000]}.",
            hint="Correct the script that writes the result, and run the row again.",
        )
    return None


def _limit(collection: Collection, ids: Set[str]) -> Collection:
    """Return the part of a collection that belongs to some rows."""
    coverage = tuple(item for item in collection.coverage if item.job.id in ids)
    names = {artifact_name(item.job) for item in coverage}
    return replace(
        collection,
        coverage=coverage,
        rejected=tuple(item for item in collection.rejected if item.artifact in names),
        evals=tuple((row_id, row) for row_id, row in collection.evals if row_id in ids),
    )


def _make_row(row_id: str, values: Mapping[str, object], where: MeasuredBy) -> ValidatedRow:
    return ValidatedRow(
        row_id=row_id,
        run=where.run,
        attempt=where.attempt,
        commit=where.commit,
        measured_at=where.at,
        result=json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":")),
    )


def _describe_missing(row_id: str) -> Problem:
    return Problem(
        rule="publish-missing-row",
        message=f"The merge plans the row {row_id}, which did not succeed in its sweep.",
        hint="Run the failed jobs of the sweep again.",
    )


def _describe_empty() -> Problem:
    return Problem(
        rule="publish-no-row",
        level=Level.ERROR,
        message="No row that the merge plans succeeded in the run.",
        hint="Name another run, or sweep the merge.",
    )
