"""Compare a source run with its plan, and what `collect` accepts for the planned rows with the aggregates."""

from __future__ import annotations

from infx.errors import Problem
from infx.results.collect import EVALS, POINTS, Collection, list_problems, render_evals
from infx.results.lenient import ResultKind, find_metrics, identify_eval, identify_point
from infx.results.row import RowFaultError
from infx.reuse.compare import compare_rows, find_absent_aggregates
from infx.reuse.source_results import SourceResults, SourceRow, is_raw_eval, is_raw_point, make_unreadable
from infx.reuse.verdict import Validation, conclude


def judge_with_plan(source: SourceResults, collection: Collection) -> Validation:
    """Compare the results of planned rows with the plan, and then with the aggregates."""
    problems = [*list_problems(collection), *source.problems, *_find_unplanned(collection)]
    points, faults = _read_points(collection)
    evals, eval_faults = _read_evals(collection)
    problems += [*faults, *eval_faults]
    kinds = {kind: [row for row in points if row.identity.kind is kind] for kind in ResultKind}
    kinds[ResultKind.ACCURACY] = evals
    problems += find_absent_aggregates(source, {kind: len(rows) for kind, rows in kinds.items()})
    if POINTS in source.whole and source.points:
        for kind in (ResultKind.FIXED, ResultKind.AGENTIC):
            problems += compare_rows(kind, kinds[kind], source.find_points(kind))
    if EVALS in source.whole and source.evals:
        problems += compare_rows(ResultKind.ACCURACY, evals, source.evals)
    return conclude(
        has_plan=True,
        counts={kind: len(rows) for kind, rows in kinds.items()},
        evals=source.evals,
        problems=problems,
    )


def _read_points(collection: Collection) -> tuple[list[SourceRow], list[Problem]]:
    rows, problems = [], []
    for point in collection.points:
        try:
            rows.append(
                SourceRow(
                    artifact="",
                    path=f"row {point.id}",
                    identity=identify_point(point.values),
                    metrics=find_metrics(point.values),
                    values={},
                )
            )
        except RowFaultError as error:
            problems.append(make_unreadable(f"row {point.id}", "; ".join(error.faults)))
    return rows, problems


def _read_evals(collection: Collection) -> tuple[list[SourceRow], list[Problem]]:
    rows, problems = [], []
    for values in render_evals(collection):
        path = f"row {values['row_id']}"
        try:
            rows.append(
                SourceRow(
                    artifact="",
                    path=path,
                    identity=identify_eval(values),
                    metrics=find_metrics(values),
                    task=values["task"],
                    row_id=values["row_id"],
                    values=values,
                )
            )
        except RowFaultError as error:
            problems.append(make_unreadable(path, "; ".join(error.faults)))
    return rows, problems


def _find_unplanned(collection: Collection) -> list[Problem]:
    return [
        Problem(
            rule="source-unplanned",
            message=f"{name} holds results of no planned row.",
            path=name,
            hint="Give the plan of the source run; it must not have run anything else.",
        )
        for name in collection.unexpected
        if is_raw_point(name) or is_raw_eval(name)
    ]
