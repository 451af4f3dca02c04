"""Accuracy results: read the files of an evaluation harness into one row for each task.

A set is a folder with a `meta_env.json` and result files: one file for an ordinary run, or one for each concurrency
(`…_conc<N>….json`) of a batched run. If several files match, the newest counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from infx.bench.uploads import META
from infx.policy.results import ResultRules
from infx.records import record
from infx.results.artifact import ArtifactFile, JsonFaultError, read_json
from infx.results.identity import show_value
from infx.results.row import is_finite

FORMAT = "inferencex-eval-v1"
MAX_TASKS = 200
MAX_META = 100
_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d)-(\d\d)-(\d\d)(\.\d+)?", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,9}")
_CONC = re.compile(r"_conc(\d{1,9})(?!\d)", re.ASCII)


@record
class EvalRow:
    """The accuracy of one task at one concurrency. Scores are between 0 and 1."""

    task: str
    conc: int | None
    samples: int  # that were counted
    original: int | None = None  # samples of the task; None if the harness does not report them
    meta: Mapping[str, str | int | float | bool]  # the metadata of the run
    strict: float | None = None
    accuracy: float | None = None
    flexible: float | None = None
    fault: str | None = None  # a clause that says why the row cannot be trusted; then there are no scores

    @property
    def score(self) -> float | None:
        """Return the strict score, else the accuracy, else the flexible score."""
        return next((value for _, value in self._scores if value is not None), None)

    @property
    def score_name(self) -> str | None:
        return next((name for name, value in self._scores if value is not None), None)

    @property
    def _scores(self) -> tuple[tuple[str, float | None], ...]:
        return (("strict", self.strict), ("accuracy", self.accuracy), ("flexible", self.flexible))


def render_eval(row: EvalRow) -> dict[str, Any]:
    """Return the row as one flat mapping for `agg_eval_all.json`."""
    own = {
        "task": row.task,
        "conc": row.conc,
        "score": row.score,
        "score_name": row.score_name,
        "em_strict": row.strict,
        "acc": row.accuracy,
        "em_flexible": row.flexible,
        "n_eff": row.samples,
        "n_original": row.original,
        "infrastructure_success": row.fault is None,
    }
    return {**row.meta, **own, **({"error": row.fault} if row.fault else {})}


@record
class EvalReader:
    """A reader of the accuracy results of one planned row."""

    # Returns a clause for each field of a set's metadata that contradicts the plan; such a set is not published.
    check_meta: Callable[[Mapping[str, Any]], list[str]]
    rules: ResultRules  # decide which results can be trusted

    def read(self, files: Iterable[ArtifactFile]) -> tuple[list[EvalRow], list[tuple[str, str]]]:
        """Return the rows of every set in an artifact, and faults as (path, clause)."""
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
            siblings = [file for file in files if file.folder == meta.folder and file.name != META]
            rows_of_set, wrong_files = self._read_set(values, siblings)
            rows += rows_of_set
            no_file = [(meta.folder, "there is no result file in the folder of the metadata")]
            faults += wrong_files or ([] if rows_of_set else no_file)
        return rows, faults

    def _read_set(
        self, meta: dict[str, Any], files: list[ArtifactFile]
    ) -> tuple[list[EvalRow], list[tuple[str, str]]]:
        results, faults = find_results(meta, files)
        rows = []
        for conc, value in results:
            rows += _make_rows(value, EvalRow(task="", conc=conc, samples=0, meta=_flatten(meta)), self.rules)
        return rows, faults


def find_results(
    meta: Mapping[str, Any], files: Iterable[ArtifactFile]
) -> tuple[list[tuple[int | None, dict[str, Any]]], list[tuple[str, str]]]:
    """Return the newest result file of a set for each concurrency, and faults as (path, clause)."""
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
) -> list[tuple[int | None, dict[str, Any]]]:
    """Return the newest result, or for a batched set the newest result of each completed concurrency."""
    if not isinstance(meta.get("eval_concs"), list):
        return [(_read_conc(meta.get("conc")), candidates[-1][1])] if candidates else []
    completed = meta.get("completed_eval_concs")
    completed_concs = {str(conc) for conc in completed} if isinstance(completed, list) else set()
    newest: dict[int, dict[str, Any]] = {}
    for file, value in candidates:
        match = _CONC.search(file.name)
        if match and match[1] in completed_concs:
            newest[int(match[1])] = value
    return sorted(newest.items())


def _flatten(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata's single values, without those that a row has as fields."""
    own = {
        "task",
        "conc",
        "score",
        "score_name",
        "em_strict",
        "acc",
        "em_flexible",
        "n_eff",
        "n_original",
        "error",
    }
    values = {
        key: value
        for key, value in list(meta.items())[:MAX_META]
        if isinstance(value, str | int | float) and key not in own and len(str(value)) <= 1000
    }
    return MappingProxyType(values)


def _make_rows(value: dict[str, Any], draft: EvalRow, rules: ResultRules) -> list[EvalRow]:
    """Return one row for each task of a result file. draft: the values that all rows share."""
    results = value.get("results")
    if not isinstance(results, dict) or not results:
        return [replace(draft, task="(none)", fault="the file holds no task")]
    if len(results) > MAX_TASKS:
        fault = f"the file holds {len(results):,} tasks, more than the limit of {MAX_TASKS}"
        return [replace(draft, task="(many)", fault=fault)]
    return [
        _make_row(replace(draft, task=str(task)), scores, value, rules) for task, scores in results.items()
    ]


def _make_row(draft: EvalRow, scores: object, value: dict[str, Any], rules: ResultRules) -> EvalRow:
    if value.get("integration_error") or (isinstance(scores, dict) and scores.get("integration_error")):
        return replace(draft, fault="the harness reports an integration error")
    counts_by_task = value.get("n-samples")
    counts = counts_by_task.get(draft.task) if isinstance(counts_by_task, dict) else None
    counts = counts if isinstance(counts, dict) else {}
    samples = _read_count(counts.get("effective"))
    if not samples:
        shown = show_value(counts.get("effective"))
        return replace(
            draft, fault=f"the count of effective samples is invalid: {shown}, expected more than 0"
        )
    original = _read_count(counts.get("original"))
    draft = replace(draft, samples=samples, original=original)
    if original is None and counts.get("original") is not None:
        shown = show_value(counts["original"])
        return replace(draft, fault=f"the count of original samples is invalid: {shown}")
    if fault := rules.find_sample_fault(samples, original):
        return replace(draft, fault=fault)
    families = _find_scores(scores)
    bad = [name for name, score in families.items() if not _is_score(score)]
    if bad or not families:
        fault = f"{bad[0]} is not a number between 0 and 1" if bad else "it has no score"
        return replace(draft, fault=fault)
    return replace(
        draft,
        strict=families.get("strict"),
        accuracy=families.get("accuracy"),
        flexible=families.get("flexible"),
    )


def _read_count(value: object) -> int | None:
    """Return a count, or None for a value that is not a count."""
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None  # type: ignore[return-value]  # mypy does not see through `good`


def _find_scores(scores: object) -> dict[str, Any]:
    """Return strict, flexible, accuracy → score, by the filter after a metric's comma, without standard errors."""
    families: dict[str, Any] = {}
    for key, score in scores.items() if isinstance(scores, dict) else ():
        metric, _, kind = str(key).partition(",")
        if metric.endswith("_stderr"):
            continue
        if "strict" in kind:
            families.setdefault("strict", score)
        elif "flex" in kind or "extract" in kind:
            families.setdefault("flexible", score)
        elif metric == "acc":
            families.setdefault("accuracy", score)
    return families


def _is_score(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and is_finite(value)
        and 0 <= value <= 1
    )
