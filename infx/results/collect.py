"""Compare a plan with the artifacts of its jobs: find the rows that are present, missing or failed, and why.

A good row is published even if other rows are bad; a bad row is reported with its fault and not published.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from infx.bench.follow_up import RowOrigin
from infx.bench.jobs import RowJob
from infx.bench.row import render_row
from infx.bench.uploads import artifact_name
from infx.bench.words import describe_row
from infx.errors import Level, Problem
from infx.phrases import count
from infx.policy.results import ResultRules
from infx.records import record
from infx.results.artifact import ReadArtifact
from infx.results.eval_row import EvalRow, render_eval
from infx.results.evals import EvalReader
from infx.results.identity import find_eval_mismatches
from infx.results.job_records import JobError, JobEvent, find_event, render_events
from infx.results.normalize import normalize
from infx.results.points import CollectedPoint, Rejected, read_points

POINTS, EVALS = (
    "results_bmk",
    "eval_results_all",
)  # infx's own artifacts; an earlier attempt may have uploaded them
PAGE = "results_page.html"  # the artifact with the page, which is called like its only file
PLAN = "sweep-plan"  # the artifact that a sweep starts with
POINTS_FILE, EVALS_FILE = f"{POINTS}/agg_bmk.json", f"{EVALS}/agg_eval_all.json"
# Line N belongs to result N of the file in the same folder. Readers of the results take every *.json, so this is not one.
COVERAGE_FILE = "coverage.json"  # every planned row, and whether it has results
EVENTS_FILE = "job_events/events.jsonl"
POINT_ORIGINS_FILE, EVAL_ORIGINS_FILE = f"{POINTS}/origins.jsonl", f"{EVALS}/origins.jsonl"


class RowState(StrEnum):
    """The state of a planned row."""

    PRESENT = "present"  # every planned result exists
    MISSING = "missing"  # there is no artifact
    FAILED = "failed"  # results are bad or incomplete, or the job says that it failed


@record
class RowCoverage:
    """The state of one job's row."""

    job: RowJob
    state: RowState
    faults: tuple[str, ...] = ()  # clauses; empty if the row is present
    error: JobError | None = None  # the first error of its job, if the job left a record


@record
class Collection:
    """The results of a sweep, compared with its plan."""

    points: tuple[CollectedPoint, ...]
    evals: tuple[tuple[str, EvalRow], ...]  # a row's id, and its accuracy result
    rejected: tuple[Rejected, ...]
    coverage: tuple[RowCoverage, ...]  # in the order of the plan
    unexpected: tuple[str, ...]  # names of artifacts that match no planned row; their contents were not read
    origins: tuple[
        RowOrigin, ...
    ] = ()  # of a follow-up sweep: the run and the attempt that measured each row
    events: tuple[JobEvent, ...] = ()  # the records of jobs, in the order of the plan

    def find_rows(self, state: RowState) -> tuple[RowCoverage, ...]:
        return tuple(item for item in self.coverage if item.state is state)


def collect(jobs: Sequence[RowJob], artifacts: Iterable[ReadArtifact], rules: ResultRules) -> Collection:
    """Return the results of the jobs; artifacts are read one after another and not kept in memory."""
    by_artifact = {artifact_name(job): job for job in jobs}
    parts: dict[str, _Part] = {}
    unexpected: set[str] = set()
    for artifact in artifacts:
        if job := by_artifact.get(artifact.name):
            parts[artifact.name] = _add_event(_collect_job(job, artifact, rules), artifact)
        else:
            unexpected.add(artifact.name)
    ordered = [parts.get(name) or _Part(coverage=_make_missing(job)) for name, job in by_artifact.items()]
    return Collection(
        points=tuple(point for part in ordered for point in part.points),
        evals=tuple(row for part in ordered for row in part.evals),
        rejected=tuple(rejected for part in ordered for rejected in part.rejected),
        coverage=tuple(part.coverage for part in ordered),
        unexpected=tuple(sorted(unexpected - {POINTS, EVALS})),
        events=tuple(part.event for part in ordered if part.event),
    )


@record
class _Part:
    coverage: RowCoverage
    points: tuple[CollectedPoint, ...] = ()
    evals: tuple[tuple[str, EvalRow], ...] = ()
    rejected: tuple[Rejected, ...] = ()
    event: JobEvent | None = None


def _add_event(part: _Part, artifact: ReadArtifact) -> _Part:
    """Add the record of the job. A job that failed has no good row, even if its results are complete."""
    event = find_event(artifact)
    if event is None:
        return part
    state = RowState.FAILED if event.error else part.coverage.state
    return replace(part, event=event, coverage=replace(part.coverage, state=state, error=event.error))


def _make_missing(job: RowJob) -> RowCoverage:
    return RowCoverage(job=job, state=RowState.MISSING, faults=(f"no artifact {artifact_name(job)}",))


def _collect_job(job: RowJob, artifact: ReadArtifact, rules: ResultRules) -> _Part:
    if artifact.fault is not None:
        rejected = Rejected(artifact=artifact.name, path="", faults=(artifact.fault,))
        return _Part(
            coverage=RowCoverage(job=job, state=RowState.FAILED, faults=(artifact.fault,)),
            rejected=(rejected,),
        )
    if job.row.eval_only:
        return _collect_evals(job, artifact, rules)
    return _collect_points(job, artifact, rules)


def _collect_points(job: RowJob, artifact: ReadArtifact, rules: ResultRules) -> _Part:
    points, rejected = read_points(job, artifact)
    counts = Counter(point.row.conc for point in points)
    repeated = {conc for conc, count in counts.items() if count > 1}
    if repeated:
        rejected += [_reject_repeated(artifact.name, conc) for conc in sorted(repeated)]
        points = [point for point in points if point.row.conc not in repeated]
    faults = [fault for item in rejected if item.is_error for fault in item.faults]
    if absent := [conc for conc in job.row.conc if conc not in counts]:
        faults.append(f"no result for concurrency {', '.join(map(str, absent))}")
    limit = rules.find_failure_limit(is_agentic=job.row.recipe.is_agentic)
    faults += [
        f"too many requests failed at concurrency {point.row.conc}: {outcome.describe(limit)}"
        for point in points
        if (outcome := point.row.outcome) and (point.row.has_failed or outcome.exceeds(limit))
    ]
    return _Part(coverage=_judge(job, faults), points=tuple(points), rejected=tuple(rejected))


def _reject_repeated(artifact: str, conc: int) -> Rejected:
    return Rejected(
        artifact=artifact, path="", faults=(f"several results for concurrency {conc}, expected one",)
    )


def _collect_evals(job: RowJob, artifact: ReadArtifact, rules: ResultRules) -> _Part:
    reader = EvalReader(check_meta=lambda meta: find_eval_mismatches(normalize(meta), job.row), rules=rules)
    rows, wrong = reader.read(artifact.files, artifact.name)
    row = job.row
    if len(row.conc) == 1:  # a result may leave out the concurrency if there is only one
        rows = [replace(result, conc=row.conc[0]) if result.conc is None else result for result in rows]
    concs = {result.conc for result in rows}
    planned = row.eval_concs
    required = row.required_concs
    unplanned = sorted(conc for conc in concs if conc is not None and conc not in planned)
    wrong += [("", f"conc is {conc}, the plan says {', '.join(map(str, planned))}") for conc in unplanned]
    counts = Counter((result.task, result.conc) for result in rows)
    repeated = {key for key, number in counts.items() if number > 1}
    wrong += [
        ("", f"several results of {task} at concurrency {conc}, expected one")
        for task, conc in sorted(repeated, key=str)
    ]
    rejected = tuple(Rejected(artifact=artifact.name, path=path, faults=(fault,)) for path, fault in wrong)
    faults = [fault for _, fault in wrong]
    faults += [f"{result.task}: {result.fault}" for result in rows if result.fault]
    if absent := [conc for conc in required if conc not in concs]:
        faults.append(f"no accuracy result for concurrency {', '.join(map(str, absent))}")
    if not rows and not faults:
        faults.append("no accuracy result")
    published = tuple(
        (job.id, result)
        for result in rows
        if result.conc not in unplanned and (result.task, result.conc) not in repeated
    )
    return _Part(coverage=_judge(job, faults), evals=published, rejected=rejected)


def _judge(job: RowJob, faults: Iterable[str]) -> RowCoverage:
    unique = tuple(dict.fromkeys(faults))
    return RowCoverage(job=job, state=RowState.FAILED if unique else RowState.PRESENT, faults=unique)


def list_problems(collection: Collection) -> list[Problem]:
    """Return a problem for each rejected file, failed row and missing row, even if the row's job succeeded."""
    rejected = [
        Problem(
            rule="result-rejected",
            message=f"{'; '.join(item.faults)[:1000]}.",
            path="/".join(filter(None, (item.artifact, item.path))),
            hint="This result is not published; the others are.",
        )
        for item in collection.rejected
        if item.is_error
    ]
    reported = {item.artifact for item in collection.rejected if item.is_error}
    failed = [
        Problem(
            rule="result-failed",
            message=f"The row {item.job.id} failed: {'; '.join(explain(item))[:1000]}.",
            path=artifact_name(item.job),
        )
        for item in collection.find_rows(RowState.FAILED)
        if artifact_name(item.job) not in reported
    ]
    missing = [
        Problem(
            rule="result-missing",
            message=f"The row {item.job.id} has no result ({describe_row(item.job.row)}): "
            f"{'; '.join(item.faults)}.",
            hint="See the log of the row's job, then re-run the job.",
        )
        for item in collection.find_rows(RowState.MISSING)
    ]
    return [*rejected, *failed, *missing, *_list_uncounted(collection)]


def explain(item: RowCoverage) -> list[str]:
    """Return why a row has no good result: the first error of its job, then the faults of its results."""
    return [*([str(item.error)] if item.error else []), *item.faults]


def _list_uncounted(collection: Collection) -> list[Problem]:
    jobs = {item.job.id: item.job for item in collection.coverage}
    return [
        Problem(
            rule="samples-unknown",
            level=Level.WARNING,
            message=f"{row.task[:200]} counted {_show_count(row.samples)} samples, but the number of its samples is unknown.",
            path=artifact_name(jobs[row_id]),
            hint="Write n-samples with original and effective.",
        )
        for row_id, row in collection.evals
        if row.original is None and row.fault is None
    ]


def _show_count(samples: int | None) -> str:
    return "an unknown number of" if samples is None else f"{samples:,}"


def describe_collection(collection: Collection) -> str:
    """Return one sentence about all planned rows."""
    if not collection.coverage:
        return "No rows were planned, so there is nothing to collect."
    counts = {state: len(collection.find_rows(state)) for state in RowState}
    return (
        f"{counts[RowState.PRESENT]} of {count(len(collection.coverage), 'planned row')} complete, "
        f"{counts[RowState.FAILED]} failed, {counts[RowState.MISSING]} missing; {count(len(collection.points), 'throughput result')} "
        f"and {count(len(collection.evals), 'accuracy result')} published."
    )


def render_files(collection: Collection) -> dict[str, str]:
    """Return path below the output folder → text; a later step uploads each folder as an artifact."""
    rejected = [
        {"artifact": item.artifact, "path": item.path, "faults": list(item.faults)}
        for item in collection.rejected
    ]
    files = {"rejected_rows.json": _dump(rejected), COVERAGE_FILE: _dump(_render_coverage(collection))}
    if collection.events:
        files[EVENTS_FILE] = render_events(collection.events)
    if collection.points or collection.evals:  # an artifact would mean that the run has results
        files[POINTS_FILE] = _dump([point.values for point in collection.points])
        files[EVALS_FILE] = _dump(render_evals(collection))
        if collection.origins:
            points = [point.id for point in collection.points]
            files[POINT_ORIGINS_FILE] = _render_origins(points, collection.origins)
            evals = [row_id for row_id, _ in collection.evals]
            files[EVAL_ORIGINS_FILE] = _render_origins(evals, collection.origins)
    return files


def render_evals(collection: Collection) -> list[dict[str, Any]]:
    """Return the published accuracy results, each with the id of its planned row."""
    return [{**render_eval(row), "row_id": row_id} for row_id, row in collection.evals]


def _render_origins(ids: Iterable[str], origins: Iterable[RowOrigin]) -> str:
    """Return a line of JSON for each result, in the order of the results."""
    by_id = {origin.id: origin for origin in origins}
    lines = ({"row_id": row_id, "run": by_id[row_id].run, "attempt": by_id[row_id].attempt} for row_id in ids)
    return "".join(json.dumps(line) + "\n" for line in lines)


def _render_coverage(collection: Collection) -> dict[str, Any]:
    rows = [
        {
            "id": item.job.id,
            "family": item.job.family,
            "state": item.state.value,
            "faults": explain(item),
            "row": render_row(item.job.row),
        }
        for item in collection.coverage
    ]
    counts = {state.value: len(collection.find_rows(state)) for state in RowState}
    return {"planned": len(rows), **counts, "unexpected": list(collection.unexpected), "rows": rows}


def _dump(value: object) -> str:
    """Return a value as JSON; a list has an item on each line. Indentation would cost several times as much."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n]\n"
    return json.dumps(value, ensure_ascii=False) + "\n"
