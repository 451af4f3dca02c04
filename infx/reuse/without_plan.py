"""Compare the raw results of a source run with its aggregates; without a plan, nothing tells which rows are missing."""

from __future__ import annotations

from collections.abc import Mapping

from infx.bench.uploads import AGENTIC_THROUGHPUT
from infx.errors import Problem
from infx.results.collect import EVALS, POINTS
from infx.results.lenient import ResultKind
from infx.reuse.compare import compare_evals, compare_rows, find_absent_aggregates, find_repeated
from infx.reuse.reruns import select_newest
from infx.reuse.source_results import STATISTICS, SourceResults, find_incomplete, is_trace, name_trace
from infx.reuse.verdict import Validation, conclude


def judge_without_plan(source: SourceResults) -> Validation:
    """Compare raw results with the aggregates, and look for what existing tools upload along with them."""
    newest = select_newest(source.raw_evals, source.evals, are_distinct=source.is_infx)
    problems = [*source.problems, *newest.problems]
    problems += find_incomplete([*source.points, *source.raw_points, *source.evals])
    for kind in (ResultKind.FIXED, ResultKind.AGENTIC):
        problems += _compare_points(source, kind)
    if EVALS in source.whole and source.evals:
        problems += find_repeated(ResultKind.ACCURACY, newest.evals)
        problems += compare_evals(newest.raw_evals, newest.evals)
    find_fixed = source.find_raw_points if source.is_infx else source.find_points
    counts = {
        ResultKind.FIXED: len(find_fixed(ResultKind.FIXED)),
        ResultKind.AGENTIC: len(source.find_raw_points(ResultKind.AGENTIC)),
        ResultKind.ACCURACY: len(newest.raw_evals),
    }
    required = counts if source.is_infx else {ResultKind.ACCURACY: counts[ResultKind.ACCURACY]}
    problems += find_absent_aggregates(source, required)
    if not source.is_infx:
        problems += [*_find_trace_problems(source), *_find_absent_statistics(source, counts)]
    return conclude(
        has_plan=False, counts=counts, evals=newest.evals, problems=problems, superseded=newest.superseded
    )


def _compare_points(source: SourceResults, kind: ResultKind) -> list[Problem]:
    """Compare throughput results of one kind. Raw results of fixed lengths may be absent from what was downloaded."""
    raw, aggregate = source.find_raw_points(kind), source.find_points(kind)
    # Each artifact of infx is another row, even if the results do not say what distinguishes two rows.
    repeated = [] if source.is_infx else find_repeated(kind, raw) or find_repeated(kind, aggregate)
    is_comparable = bool(source.points) if source.is_infx else bool(raw) or kind is ResultKind.AGENTIC
    if POINTS not in source.whole or not is_comparable:
        return repeated
    return [*repeated, *compare_rows(kind, raw, aggregate)]


def _find_trace_problems(source: SourceResults) -> list[Problem]:
    """Return a problem for each AgentX result without raw data, and for raw data without a result."""
    wanted = {name_trace(name): name for name in source.names if name.startswith(AGENTIC_THROUGHPUT)}
    existing = {name for name in source.names if is_trace(name)}
    missing = [
        Problem(
            rule="agentic-raw-missing",
            message=f"The artifact {trace} with the raw data of this result is missing.",
            path=name,
            hint="Run the row again, or name another run.",
        )
        for trace, name in sorted(wanted.items())
        if trace not in existing
    ]
    unexpected = [
        Problem(
            rule="agentic-raw-unexpected",
            message="These raw data belong to no AgentX result.",
            path=trace,
            hint="Run the row again, or name another run.",
        )
        for trace in sorted(existing - wanted.keys())
    ]
    return [*missing, *unexpected]


def _find_absent_statistics(source: SourceResults, counts: Mapping[ResultKind, int]) -> list[Problem]:
    if not counts[ResultKind.FIXED] or STATISTICS in source.names:
        return []
    return [
        Problem(
            rule="statistics-missing",
            message=f"There is no artifact {STATISTICS}.",
            path=STATISTICS,
            hint="Run the statistics job of the source run again, or name another run.",
        )
    ]
