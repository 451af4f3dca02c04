"""Read raw accuracy artifacts: which concurrencies were measured, and with which tasks.

A batched run measures several concurrencies. Its metadata lists what was requested, completed and failed; every
requested concurrency must be in one of the other two lists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infx.bench.uploads import META
from infx.phrases import join_some
from infx.records import record
from infx.results.artifact import ArtifactFile, JsonFaultError, ReadArtifact, read_json
from infx.results.eval_row import MAX_TASKS
from infx.results.evals import find_moment, find_results
from infx.results.identity import show_value
from infx.results.job_records import is_record
from infx.results.lenient import ResultIdentity, identify_eval
from infx.results.normalize import parse_number
from infx.results.row import RowFaultError

MAX_CONCS = 1000  # of one batch
_RESULT_FILE = re.compile(r"results[^/]*\.json")


@record
class RawEval:
    """An accuracy run at one concurrency."""

    artifact: str
    path: str  # artifact and metadata file
    identity: ResultIdentity
    tasks: frozenset[str] | None = None  # None: there is no result file to read them from
    moment: float | None = None  # when it was measured, in seconds since 1970, if a file name says so


class RawEvalFaultError(ValueError):
    """A reason why an accuracy run cannot be used, or only in part."""

    def __init__(self, *, rule: str, path: str, clause: str) -> None:
        super().__init__(clause)
        self.rule = rule
        self.path = path
        self.clause = clause


def read_raw_evals(artifact: ReadArtifact) -> Iterator[RawEval | RawEvalFaultError]:
    """Return each measured concurrency of an artifact, and each fault."""
    if artifact.files and all(map(is_record, artifact.files)):
        return  # a job that failed leaves its record, and no result
    metas = [file for file in artifact.files if file.name == META and "/" not in file.folder]
    if not metas:
        yield _fail(artifact, "", f"There is no {META}")
    for meta in metas:
        siblings = [
            file
            for file in artifact.files
            if file.folder == meta.folder and file.name != META and not is_record(file)
        ]
        try:
            values = read_json(meta)
            if not isinstance(values, dict):
                raise JsonFaultError("it is not a mapping")
            identify_eval(values)
        except (JsonFaultError, RowFaultError) as error:
            yield _fail(artifact, meta.path, str(error))
            continue
        yield from _read_set(artifact, meta, values, siblings)


def _fail(
    artifact: ReadArtifact, path: str, clause: str, rule: str = "accuracy-metadata"
) -> RawEvalFaultError:
    return RawEvalFaultError(rule=rule, path="/".join(filter(None, (artifact.name, path))), clause=clause)


def _read_set(
    artifact: ReadArtifact, meta: ArtifactFile, values: dict[str, Any], files: Sequence[ArtifactFile]
) -> Iterator[RawEval | RawEvalFaultError]:
    concs, faults = _find_concs(values)
    yield from (_fail(artifact, meta.path, fault, "accuracy-batch") for fault in faults)
    results, file_faults = find_results(values, files)
    for path, clause in file_faults:
        yield _fail(artifact, path, clause, "source-unreadable")
    tasks: dict[int | None, frozenset[str]] = {}
    for conc, _, result in results:
        listed = result.get("results")
        tasks[conc] = frozenset(map(str, listed)) if isinstance(listed, dict) else frozenset()
        if len(tasks[conc]) > MAX_TASKS:
            yield _fail(artifact, meta.path, f"There are more than {MAX_TASKS} tasks", "accuracy-batch")
            return
    if results and (without_file := [conc for conc in concs if conc not in tasks and conc is not None]):
        clause = f"There is no result file for concurrency {join_some(list(map(str, without_file)), 20)}"
        yield _fail(artifact, meta.path, clause, "accuracy-batch")
    for conc in concs:
        yield RawEval(
            artifact=artifact.name,
            path=f"{artifact.name}/{meta.path}",
            identity=identify_eval({**values, "conc": conc}),
            tasks=tasks.get(conc) if results else None,
            moment=_find_moment(files, conc),
        )


def _find_concs(meta: Mapping[str, Any]) -> tuple[list[int | None], list[str]]:
    """Return the concurrencies that were measured, and a clause for each fault of a batch."""
    if meta.get("eval_concs") is None:
        return [parse_number(meta.get("conc"))], []
    lists: dict[str, list[int]] = {}
    for name in ("eval_concs", "completed_eval_concs", "failed_eval_concs"):
        numbers = _parse_concs(meta.get(name, [] if name.startswith("failed") else None))
        if numbers is None:
            shown = show_value(meta.get(name))
            return [], [f"{name} is {shown}, expected a list of positive whole numbers"]
        lists[name] = numbers
    requested, completed, failed = lists.values()
    return list(dict.fromkeys(completed)), _compare_concs(requested, completed, failed)


def _parse_concs(value: object) -> list[int] | None:
    if not isinstance(value, list) or len(value) > MAX_CONCS:
        return None
    numbers = [number for item in value if (number := parse_number(item)) is not None and number > 0]
    return numbers if len(numbers) == len(value) else None


def _compare_concs(requested: list[int], completed: list[int], failed: list[int]) -> list[str]:
    accounted = {*completed, *failed}
    groups = (
        ("has no result", [conc for conc in requested if conc not in accounted]),
        ("was not requested", sorted(accounted - set(requested))),
        ("is in a list twice", sorted(_find_repeated(requested) | _find_repeated(completed))),
        ("is both completed and failed", sorted({*completed} & {*failed})),
    )
    return [f"Concurrency {join_some(list(map(str, concs)), 20)} {words}" for words, concs in groups if concs]


def _find_repeated(concs: list[int]) -> set[int]:
    return {conc for conc, times in Counter(concs).items() if times > 1}


def _find_moment(files: Sequence[ArtifactFile], conc: int | None) -> float | None:
    """Return the newest time in the names of result files, of this concurrency if the names have one."""
    names = [file.name for file in files if _RESULT_FILE.fullmatch(file.name)]
    own = [name for name in names if conc is not None and re.search(rf"_conc{conc}(?!\d)", name)]
    moments = [moment for name in own or names if (moment := find_moment(name)) is not None]
    return max(moments, default=None)
