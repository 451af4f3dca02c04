"""Accuracy results: read the files of an evaluation harness into one row for each task.

A set is a folder with a `meta_env.json` and result files: one file for an ordinary run, or one for each concurrency
(`…_conc<N>….json`) of a batched run. If several files match, the newest counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from infx.bench.uploads import META
from infx.policy.results import ResultRules
from infx.records import record
from infx.results.artifact import ArtifactFile, JsonFaultError, read_json
from infx.results.eval_row import EvalRow, flatten, make_rows
from infx.results.identity import show_value
from infx.results.job_records import is_record
from infx.results.normalize import normalize

FORMAT = "inferencex-eval-v1"
_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d)-(\d\d)-(\d\d)(\.\d+)?", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,9}")
_CONC = re.compile(r"_conc(\d{1,9})(?!\d)", re.ASCII)


@record
class EvalReader:
    """A reader of the accuracy results of one planned row."""

    # Returns a clause for each field of a set's metadata that contradicts the plan; such a set is not published.
    check_meta: Callable[[Mapping[str, Any]], list[str]]
    rules: ResultRules  # decide which results can be trusted

    def read(
        self, files: Iterable[ArtifactFile], artifact: str = ""
    ) -> tuple[list[EvalRow], list[tuple[str, str]]]:
        """Return the rows of every set in an artifact, and faults as (path, clause). artifact: its name."""
        files = tuple(files)
        metas = [file for file in files if file.name == META and "/" not in file.folder]
        rows: list[EvalRow] = []
        faults: list[tuple[str, str]] = [] if metas else [("", f"it holds no {META}")]
        for meta in metas:
            try:
                values = read_json(meta)
                if not isinstance(values, dict):
                    raise JsonFaultError("it is not a mapping")
            except JsonFaultError as error:
                faults.append((meta.path, str(error)))
                continue
            if wrong := [*self.check_meta(values), *_find_failed_concs(values), *_find_conc_fault(values)]:
                faults += [(meta.path, fault) for fault in wrong]
                continue
            siblings = [
                file
                for file in files
                if file.folder == meta.folder and file.name != META and not is_record(file)
            ]
            rows_of_set, wrong_files = self._read_set(values, siblings, artifact)
            rows += rows_of_set
            no_file = [(meta.folder, "there is no result file in the folder of the metadata")]
            faults += wrong_files or ([] if rows_of_set else no_file)
        return rows, faults

    def _read_set(
        self, meta: dict[str, Any], files: list[ArtifactFile], artifact: str
    ) -> tuple[list[EvalRow], list[tuple[str, str]]]:
        results, faults = find_results(meta, files)
        rows = []
        layout = normalize(meta)
        for conc, path, value in results:
            source = "/".join(filter(None, (artifact, path)))
            draft = EvalRow(
                task="", conc=conc, samples=None, meta=flatten(meta), layout=layout, source=source
            )
            rows += make_rows(value, draft, self.rules)
        return rows, faults


def find_results(
    meta: Mapping[str, Any], files: Iterable[ArtifactFile]
) -> tuple[list[tuple[int | None, str, dict[str, Any]]], list[tuple[str, str]]]:
    """Return concurrency, path and value of a set's newest result files, and faults as (path, clause)."""
    faults: list[tuple[str, str]] = []
    candidates: list[tuple[ArtifactFile, dict[str, Any]]] = []
    for file in files:
        try:
            value = read_json(file)
        except JsonFaultError as error:
            faults.append((file.path, str(error)))
            continue
        if isinstance(value, dict) and ("lm_eval_version" in value or value.get("result_format") == FORMAT):
            candidates.append((file, value))
    candidates.sort(key=lambda item: _find_age(item[0]))
    return _choose(meta, candidates), faults


def _find_failed_concs(meta: Mapping[str, Any]) -> list[str]:
    failed = meta.get("failed_eval_concs")
    shown = ", ".join(map(show_value, failed[:10])) if isinstance(failed, list) else show_value(failed)
    return [f"failed_eval_concs is {shown}, expected none"] if failed else []


def _find_conc_fault(meta: Mapping[str, Any]) -> list[str]:
    """Return a clause if the concurrency is present and not a whole number."""
    conc = meta.get("conc")
    if conc in (None, "") or isinstance(meta.get("eval_concs"), list) or _read_conc(conc) is not None:
        return []
    return [f"conc is {show_value(conc)}, expected a whole number"]


def _read_conc(value: object) -> int | None:
    """Return a whole number, which harnesses may write as text, or None for another value."""
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value.strip()) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _find_age(file: ArtifactFile) -> tuple[float, str]:
    """Return a key that is larger for a newer file: the time in its name, else its own time; then its name."""
    moment = find_moment(file.name)
    return file.modified if moment is None else moment, file.name


def find_moment(name: str) -> float | None:
    """Return the time in the name of a result file, in seconds since 1970, or None if there is no valid time."""
    match = _STAMP.search(name)
    if match is None:
        return None
    try:
        moment = datetime(*(int(part) for part in match.groups()[:6]), tzinfo=UTC)  # type: ignore[arg-type, misc]  # six numbers
    except ValueError:
        return None
    return moment.timestamp() + float(match[7] or 0)


def _choose(
    meta: Mapping[str, Any], candidates: list[tuple[ArtifactFile, dict[str, Any]]]
) -> list[tuple[int | None, str, dict[str, Any]]]:
    """Return the newest result, or for a batched set the newest result of each completed concurrency."""
    if not isinstance(meta.get("eval_concs"), list):
        if not candidates:
            return []
        file, value = candidates[-1]
        return [(_read_conc(meta.get("conc")), file.path, value)]
    completed = meta.get("completed_eval_concs")
    completed_concs = {str(conc) for conc in completed} if isinstance(completed, list) else set()
    newest: dict[int, tuple[str, dict[str, Any]]] = {}
    for file, value in candidates:
        match = _CONC.search(file.name)
        if match and match[1] in completed_concs:
            newest[int(match[1])] = (file.path, value)
    return [(conc, *newest[conc]) for conc in sorted(newest)]
