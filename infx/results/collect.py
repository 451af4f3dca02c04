"""A plan set against what its jobs uploaded: which rows are there, which are missing, which failed, and why.

A good row is published whatever happens to its neighbours; a bad one is named with its fault and kept apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from infx.bench.jobs import RowJob
from infx.bench.uploads import artifact_name
from infx.bench.words import describe_row
from infx.errors import Level, Problem
from infx.phrases import count
from infx.policy.results import ResultRules
from infx.results.artifact import ArtifactFile, JsonFaultError, ReadArtifact, read_json
from infx.results.evals import EvalReader, EvalRow, render_eval
from infx.results.identity import find_eval_mismatches, find_mismatches
from infx.results.row import ResultRow, RowFaultError, parse_row

POINTS, EVALS = "results_bmk", "eval_results_all"  # artifacts of ours, which an earlier attempt may have left
POINTS_FILE, EVALS_FILE = f"{POINTS}/agg_bmk.json", f"{EVALS}/agg_eval_all.json"


class RowState(StrEnum):
    """present: everything the row was to bring is there. failed: it brought something else, or less."""

    PRESENT = "present"
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class CollectedPoint:
    """A result that is published, with the file it came from and its JSON as the script wrote it."""

    id: str
    row: ResultRow
    values: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """A file, or a row in it, that is not published. faults: clauses."""

    artifact: str
    path: str
    faults: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RowCoverage:
    """How one job of the plan fared. faults: clauses, empty if it is present."""

    job: RowJob
    state: RowState
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Collection:
    """unexpected: artifacts of no job of the plan; their contents were not looked at."""

    points: tuple[CollectedPoint, ...]
    evals: tuple[tuple[str, EvalRow], ...]
    rejected: tuple[Rejected, ...]
    coverage: tuple[RowCoverage, ...]
    unexpected: tuple[str, ...]

    def of_state(self, state: RowState) -> tuple[RowCoverage, ...]:
        return tuple(item for item in self.coverage if item.state is state)


def collect(jobs: Sequence[RowJob], artifacts: Iterable[ReadArtifact], rules: ResultRules) -> Collection:
    """Return what the jobs brought. Every artifact is looked at when it comes and not kept."""
    by_artifact = {artifact_name(job): job for job in jobs}
    parts: dict[str, _Part] = {}
    unexpected: set[str] = set()
    for artifact in artifacts:
        if job := by_artifact.get(artifact.name):
            parts[artifact.name] = _collect_job(job, artifact, rules)
        else:
            unexpected.add(artifact.name)
    found = [parts.get(name) or _Part(coverage=_missing(job)) for name, job in by_artifact.items()]
    return Collection(
        points=tuple(point for part in found for point in part.points),
        evals=tuple(row for part in found for row in part.evals),
        rejected=tuple(rejected for part in found for rejected in part.rejected),
        coverage=tuple(part.coverage for part in found),
        unexpected=tuple(sorted(unexpected - {POINTS, EVALS})),
    )


@dataclass(frozen=True, kw_only=True)
class _Part:
    coverage: RowCoverage
    points: tuple[CollectedPoint, ...] = ()
    evals: tuple[tuple[str, EvalRow], ...] = ()
    rejected: tuple[Rejected, ...] = ()


def _missing(job: RowJob) -> RowCoverage:
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
    points, rejected = [], []
    for file in artifact.files:
        try:
            points.append(_read_point(job, file))
        except RowFaultError as error:
            rejected.append(Rejected(artifact=artifact.name, path=file.path, faults=tuple(error.faults)))
    counts = Counter(point.row.conc for point in points)
    twice = {conc for conc, count in counts.items() if count > 1}
    if twice:
        rejected += [_repeated(artifact.name, conc) for conc in sorted(twice)]
        points = [point for point in points if point.row.conc not in twice]
    faults = [fault for item in rejected for fault in item.faults]
    if absent := [conc for conc in job.row.conc if conc not in counts]:
        faults.append(f"no result for concurrency {', '.join(map(str, absent))}")
    faults += [
        f"too many requests failed at concurrency {point.row.conc}: {outcome.describe(rules.failed_requests)}"
        for point in points
        if (outcome := point.row.outcome) and (point.row.has_failed or outcome.exceeds(rules.failed_requests))
    ]
    return _Part(coverage=_judge(job, faults), points=tuple(points), rejected=tuple(rejected))


def _repeated(artifact: str, conc: int) -> Rejected:
    return Rejected(
        artifact=artifact, path="", faults=(f"several results for concurrency {conc}; which one counts?",)
    )


def _read_point(job: RowJob, file: ArtifactFile) -> CollectedPoint:
    try:
        values = read_json(file)
    except JsonFaultError as error:
        raise RowFaultError([str(error)]) from None
    row = parse_row(values)
    if mismatches := find_mismatches(values, job.row):
        raise RowFaultError(mismatches)
    return CollectedPoint(id=job.id, row=row, values=values)


def _collect_evals(job: RowJob, artifact: ReadArtifact, rules: ResultRules) -> _Part:
    reader = EvalReader(check_meta=lambda meta: find_eval_mismatches(meta, job.row), rules=rules)
    rows, wrong = reader.read(artifact.files)
    row = job.row
    if len(row.conc) == 1:  # which concurrency was measured may be left out
        rows = [replace(found, conc=row.conc[0]) if found.conc is None else found for found in rows]
    concs = {found.conc for found in rows}
    asked = row.eval_concs
    wanted = asked if row.eval_all_concs or row.eval_conc is not None else ()
    strange = sorted(conc for conc in concs if conc is not None and conc not in asked)
    wrong += [("", f"conc is {conc}, the plan says {', '.join(map(str, asked))}") for conc in strange]
    counts = Counter((found.task, found.conc) for found in rows)
    twice = {key for key, number in counts.items() if number > 1}
    wrong += [
        ("", f"several results of {task} at concurrency {conc}; which one counts?")
        for task, conc in sorted(twice, key=str)
    ]
    rejected = tuple(Rejected(artifact=artifact.name, path=path, faults=(fault,)) for path, fault in wrong)
    faults = [fault for _, fault in wrong] + [f"{found.task}: {found.fault}" for found in rows if found.fault]
    if absent := [conc for conc in wanted if conc not in concs]:
        faults.append(f"no accuracy result for concurrency {', '.join(map(str, absent))}")
    if not rows and not faults:
        faults.append("no accuracy result")
    kept = tuple(
        (job.id, found)
        for found in rows
        if found.conc not in strange and (found.task, found.conc) not in twice
    )
    return _Part(coverage=_judge(job, faults), evals=kept, rejected=rejected)


def _judge(job: RowJob, faults: Iterable[str]) -> RowCoverage:
    found = tuple(dict.fromkeys(faults))
    return RowCoverage(job=job, state=RowState.FAILED if found else RowState.PRESENT, faults=found)


def list_problems(collection: Collection) -> list[Problem]:
    """Return what keeps the sweep from being complete: what was rejected, rows that failed, and rows that are missing.
    A row's own job may have succeeded.
    """
    rejected = [
        Problem(
            rule="result-rejected",
            message=f"{'; '.join(item.faults)[:1000]}.",
            path="/".join(filter(None, (item.artifact, item.path))),
            hint="It is not published; the rest is.",
        )
        for item in collection.rejected
    ]
    named = {item.artifact for item in collection.rejected}
    failed = [
        Problem(
            rule="result-failed",
            message=f"The row {item.job.id} has failed: {'; '.join(item.faults)[:1000]}.",
            path=artifact_name(item.job),
        )
        for item in collection.of_state(RowState.FAILED)
        if artifact_name(item.job) not in named
    ]
    missing = [
        Problem(
            rule="result-missing",
            message=f"The row {item.job.id} has no result ({describe_row(item.job.row)}): "
            f"{'; '.join(item.faults)}.",
            hint="The job of the row says why; run it again.",
        )
        for item in collection.of_state(RowState.MISSING)
    ]
    return [*rejected, *failed, *missing, *_list_uncounted(collection)]


def _list_uncounted(collection: Collection) -> list[Problem]:
    jobs = {item.job.id: item.job for item in collection.coverage}
    return [
        Problem(
            rule="samples-unknown",
            level=Level.WARNING,
            message=f"{row.task[:200]} counted {row.samples:,} samples, and does not say of how many.",
            path=artifact_name(jobs[row_id]),
            hint="Write n-samples with original and effective.",
        )
        for row_id, row in collection.evals
        if row.original is None and row.fault is None
    ]


def describe_collection(collection: Collection) -> str:
    """Return one sentence about all planned rows."""
    if not collection.coverage:
        return "No rows were planned, so there is nothing to collect."
    counts = {state: len(collection.of_state(state)) for state in RowState}
    return (
        f"{counts[RowState.PRESENT]} of {count(len(collection.coverage), 'planned row')} brought everything, "
        f"{counts[RowState.FAILED]} failed, {counts[RowState.MISSING]} missing; {count(len(collection.points), 'result')} "
        f"and {count(len(collection.evals), 'accuracy row')} published."
    )


def render_files(collection: Collection) -> dict[str, str]:
    """Path below the output folder → text. The folders are the artifacts that a later step uploads; where nothing came
    there are none, because an artifact would say that the run has results.
    """
    rejected = [
        {"artifact": item.artifact, "path": item.path, "faults": list(item.faults)}
        for item in collection.rejected
    ]
    files = {"rejected_rows.json": _dump(rejected), "coverage.json": _dump(_render_coverage(collection))}
    if collection.points or collection.evals:
        evals = [{**render_eval(row), "row_id": row_id} for row_id, row in collection.evals]
        files[POINTS_FILE] = _dump([point.values for point in collection.points])
        files[EVALS_FILE] = _dump(evals)
    return files


def _render_coverage(collection: Collection) -> dict[str, Any]:
    rows = [
        {"id": item.job.id, "family": item.job.family, "state": item.state.value, "faults": list(item.faults)}
        for item in collection.coverage
    ]
    counts = {state.value: len(collection.of_state(state)) for state in RowState}
    return {"planned": len(rows), **counts, "unexpected": list(collection.unexpected), "rows": rows}


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
