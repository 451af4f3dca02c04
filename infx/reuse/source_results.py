"""Read the artifacts of a source run into results that can be compared, whichever tools wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from infx.bench.uploads import ACCURACY, AGENTIC_THROUGHPUT, THROUGHPUT
from infx.errors import Problem
from infx.records import record
from infx.results.artifact import ArtifactFile, JsonFaultError, ReadArtifact, read_json
from infx.results.collect import EVALS, PLAN, POINTS
from infx.results.lenient import (
    REQUIRED,
    ResultIdentity,
    ResultKind,
    find_metrics,
    identify_eval,
    identify_point,
    is_result,
)
from infx.results.row import RowFaultError
from infx.reuse.raw_evals import RawEval, RawEvalFaultError, read_raw_evals

MAX_ROWS = 20_000  # results of one artifact
STATISTICS = "run-stats"
TRACES = "agentic_"  # raw data of an AgentX row: `agentic_X` of `bmk_agentic_X`
_LOGS = ("eval_server_logs_", "eval_gpu_metrics_")


@record
class SourceRow:
    """A result in a raw artifact or in an aggregate."""

    artifact: str
    path: str  # artifact and file
    identity: ResultIdentity
    metrics: tuple[tuple[str, float], ...]  # sorted by name
    task: str | None = None  # of an accuracy result
    row_id: str | None = None  # of the planned row, if the result says so
    origin: str = ""  # the result file from which an accuracy row was made
    values: dict[str, Any]  # the JSON of an accuracy row; empty for other results, to save memory


@record
class SourcePart:
    """One artifact of a source run."""

    artifact: str
    is_whole: bool = True  # False if a file could not be read, so that results may be missing here
    rows: tuple[SourceRow, ...] = ()
    raw_evals: tuple[RawEval, ...] = ()
    problems: tuple[Problem, ...] = ()


def has_results(name: str) -> bool:
    """Return whether an artifact of this name holds results; others count by their names only."""
    return name in {POINTS, EVALS} or is_raw_point(name) or is_raw_eval(name)


def is_raw_point(name: str) -> bool:
    return name.startswith(THROUGHPUT)


def is_raw_eval(name: str) -> bool:
    return name.startswith(ACCURACY) and name != EVALS and not name.startswith(_LOGS)


def is_trace(name: str) -> bool:
    return name.startswith(TRACES)


def name_trace(raw_point: str) -> str:
    """Return the name of the artifact with the raw data of an AgentX result."""
    return TRACES + raw_point.removeprefix(AGENTIC_THROUGHPUT)


def read_part(artifact: ReadArtifact) -> SourcePart:
    """Return the results of an artifact, with a problem for each file or row that cannot be used."""
    name = artifact.name
    if artifact.fault is not None:
        return SourcePart(artifact=name, is_whole=False, problems=(make_unreadable(name, artifact.fault),))
    if name in {POINTS, EVALS, STATISTICS} and not artifact.files:
        problem = make_unreadable(name, "it holds no JSON file")
        return SourcePart(artifact=name, is_whole=False, problems=(problem,))
    if not has_results(name):
        return SourcePart(artifact=name)
    return _read_raw_evals(artifact) if is_raw_eval(name) else _read_rows(artifact)


def make_unreadable(path: str, fault: str) -> Problem:
    return Problem(
        rule="source-unreadable",
        message=f"{fault}."[:1000],
        path=path,
        hint="Collect the results of the source run again, or name another run.",
    )


def _read_raw_evals(artifact: ReadArtifact) -> SourcePart:
    items = list(read_raw_evals(artifact))
    return SourcePart(
        artifact=artifact.name,
        raw_evals=tuple(item for item in items if isinstance(item, RawEval)),
        problems=tuple(_describe_raw_eval(item) for item in items if isinstance(item, RawEvalFaultError)),
    )


def _describe_raw_eval(fault: RawEvalFaultError) -> Problem:
    return Problem(
        rule=fault.rule,
        message=f"{fault.clause}."[:1000],
        path=fault.path,
        hint="Run the accuracy job again, or name another run.",
    )


def _read_rows(artifact: ReadArtifact) -> SourcePart:
    rows: list[SourceRow] = []
    problems: list[Problem] = []
    is_whole = True
    for file in artifact.files:
        path = f"{artifact.name}/{file.path}"
        try:
            for number, values in enumerate(_list_values(file), start=1):
                if len(rows) + len(problems) >= MAX_ROWS:
                    raise JsonFaultError(f"it holds more than {MAX_ROWS:,} results")
                try:
                    rows.append(_read_row(artifact.name, path, values))
                except RowFaultError as error:
                    fault = "; ".join(error.faults)
                    problems.append(make_unreadable(path, f"result {number}: {fault}"))
        except JsonFaultError as error:
            is_whole = False
            problems.append(make_unreadable(path, str(error)))
    return SourcePart(artifact=artifact.name, is_whole=is_whole, rows=tuple(rows), problems=tuple(problems))


def _list_values(file: ArtifactFile) -> Iterator[dict[str, Any]]:
    """Return the results of a file; aggregates may be lists of lists. Raises JsonFaultError."""
    waiting = [read_json(file)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        elif is_result(value):
            yield value


def _read_row(artifact: str, path: str, values: dict[str, Any]) -> SourceRow:
    is_eval = artifact == EVALS
    identity = identify_eval(values) if is_eval else identify_point(values)
    task, row_id, origin = (_read_text(values.get(name)) for name in ("task", "row_id", "source"))
    if is_eval and task is None:
        raise RowFaultError(["task is missing"])
    return SourceRow(
        artifact=artifact,
        path=path,
        identity=identity,
        metrics=find_metrics(values),
        task=task if is_eval else None,
        row_id=row_id if is_eval else None,
        origin=origin or "",
        values=values if is_eval else {},
    )


def _read_text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


@record
class SourceResults:
    """The results of a source run, by kind."""

    names: frozenset[str]  # of all artifacts
    whole: frozenset[str]  # names of the artifacts of which every file could be read
    raw_points: tuple[SourceRow, ...]
    points: tuple[SourceRow, ...]  # in the aggregate
    raw_evals: tuple[RawEval, ...]
    evals: tuple[SourceRow, ...]  # in the aggregate
    problems: tuple[Problem, ...]

    @property
    def is_infx(self) -> bool:
        """Return whether infx ran the sweep: then statistics are optional, and every kind of result has an aggregate."""
        return PLAN in self.names

    def has_rows(self, aggregate: str) -> bool:
        return bool(self.evals if aggregate == EVALS else self.points)

    def find_points(self, kind: ResultKind) -> list[SourceRow]:
        return [row for row in self.points if row.identity.kind is kind]

    def find_raw_points(self, kind: ResultKind) -> list[SourceRow]:
        return [row for row in self.raw_points if row.identity.kind is kind]


def join_parts(parts: Iterable[SourcePart]) -> SourceResults:
    parts = tuple(parts)
    rows = [row for part in parts for row in part.rows]
    return SourceResults(
        names=frozenset(part.artifact for part in parts),
        whole=frozenset(part.artifact for part in parts if part.is_whole),
        raw_points=tuple(row for row in rows if is_raw_point(row.artifact)),
        points=tuple(row for row in rows if row.artifact == POINTS),
        raw_evals=tuple(raw for part in parts for raw in part.raw_evals),
        evals=tuple(row for row in rows if row.artifact == EVALS),
        problems=tuple(problem for part in parts for problem in part.problems),
    )


def find_incomplete(rows: Iterable[SourceRow]) -> list[Problem]:
    """Return a problem for each result that does not say what was measured."""
    return [
        make_unreadable(
            row.path, f"{row.identity}: {', '.join(absent)} missing, expected {', '.join(REQUIRED)}"
        )
        for row in rows
        if (absent := row.identity.find_absent())
    ]
