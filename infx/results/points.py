"""Read the throughput results of one artifact, and compare each with the row of the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infx.bench.jobs import RowJob
from infx.records import record
from infx.results.artifact import ArtifactFile, JsonFaultError, ReadArtifact, read_json
from infx.results.identity import find_mismatches
from infx.results.job_records import is_record
from infx.results.normalize import Normalized, normalize
from infx.results.row import ResultRow, RowFaultError, find_faults, make_row

MAX_ROWS = 1000  # of one file
PATTERN = "agg*.json"


@record
class CollectedPoint:
    """A result that is published."""

    id: str  # the row's
    row: ResultRow
    values: dict[str, Any]  # the result in its one form


@record
class Rejected:
    """A file, or a row in a file, that is not published."""

    artifact: str
    path: str  # "" if the fault is not in one file
    faults: tuple[str, ...]  # clauses
    is_error: bool = True  # False for a file that is not meant as a result


def read_points(job: RowJob, artifact: ReadArtifact) -> tuple[list[CollectedPoint], list[Rejected]]:
    """Return the good results of an artifact, and what is rejected. A file may hold a list of results."""
    points: list[CollectedPoint] = []
    rejected: list[Rejected] = []
    for file in artifact.files:
        if is_record(file):
            continue
        if not is_result_file(file, job):
            fault = f"its name is not {PATTERN}, so it is not read as a result"
            rejected.append(Rejected(artifact=artifact.name, path=file.path, faults=(fault,), is_error=False))
            continue
        try:
            for values in _list_values(read_json(file)):
                try:
                    points.append(read_point(job, values))
                except RowFaultError as error:
                    rejected.append(
                        Rejected(artifact=artifact.name, path=file.path, faults=tuple(error.faults))
                    )
        except JsonFaultError as error:
            rejected.append(Rejected(artifact=artifact.name, path=file.path, faults=(str(error),)))
    return points, rejected


def is_result_file(file: ArtifactFile, job: RowJob) -> bool:
    """Return whether a file is named like a result; the existing tool gives the result of an AgentX row no `agg_`."""
    return file.name.startswith("agg") or (
        job.row.recipe.is_agentic and file.name == f"{job.result_name}.json"
    )


def _list_values(value: object) -> Iterator[object]:
    """Yield the results of a JSON value, also of a list of lists. Raises JsonFaultError if there are too many."""
    waiting, number = [value], 0
    while waiting:
        item = waiting.pop()
        number += 1
        if number > MAX_ROWS:
            raise JsonFaultError(f"it holds more than {MAX_ROWS:,} results")
        if isinstance(item, list):
            waiting += reversed(item)
        else:
            yield item


def read_point(job: RowJob, value: object) -> CollectedPoint:
    """Return a result of a job. Raises RowFaultError with every fault and every difference from the plan."""
    if not isinstance(value, dict):
        raise RowFaultError(["it is not a mapping"])
    values = normalize(value)
    faults = [*find_faults(values), *_find_readable_mismatches(values, job)]
    if faults:
        raise RowFaultError(faults)
    return CollectedPoint(id=job.id, row=make_row(values), values=values)


def _find_readable_mismatches(values: Normalized, job: RowJob) -> list[str]:
    if not values.faults:
        return find_mismatches(values, job.row)
    readable = {name: value for name, value in values.items() if name not in values.faults}
    return find_mismatches(readable, job.row)
