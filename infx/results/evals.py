"""Accuracy results: from what an evaluation harness leaves behind to one row for each task.

A set is a folder with a `meta_env.json`. Beside it lie result files, one for an ordinary run, one for each
concurrency (`…_conc<N>….json`) for a batched one; of several that could be meant the newest counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from infx.results.artifact import ArtifactFile, JsonFaultError, read_json
from infx.results.row import is_finite

META = "meta_env.json"
FORMAT = "inferencex-eval-v1"
MAX_TASKS = 200
MAX_META = 100
_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d)-(\d\d)-(\d\d)(\.\d+)?", re.ASCII)
_CONC = re.compile(r"_conc(\d{1,9})(?!\d)", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class EvalRow:
    """One task at one concurrency. Scores are between 0 and 1; `score` is the first there is of strict, accuracy
    and flexible. samples: that counted. fault: why it cannot be trusted, a clause; then there are no scores.
    meta: what the run said about itself.
    """

    task: str
    conc: int | None
    samples: int
    meta: Mapping[str, str | int | float | bool]
    strict: float | None = None
    accuracy: float | None = None
    flexible: float | None = None
    fault: str | None = None

    @property
    def score(self) -> float | None:
        return next((value for _, value in self._scores if value is not None), None)

    @property
    def score_name(self) -> str | None:
        return next((name for name, value in self._scores if value is not None), None)

    @property
    def _scores(self) -> tuple[tuple[str, float | None], ...]:
        return (("strict", self.strict), ("accuracy", self.accuracy), ("flexible", self.flexible))


def render_eval(row: EvalRow) -> dict[str, Any]:
    """The row as one flat mapping for `agg_eval_all.json`."""
    own = {
        "task": row.task,
        "conc": row.conc,
        "score": row.score,
        "score_name": row.score_name,
        "em_strict": row.strict,
        "acc": row.accuracy,
        "em_flexible": row.flexible,
        "n_eff": row.samples,
        "infrastructure_success": row.fault is None,
    }
    return {**row.meta, **own, **({"error": row.fault} if row.fault else {})}


def read_eval_rows(files: Iterable[ArtifactFile]) -> tuple[list[EvalRow], list[tuple[str, str]]]:
    """Rows of every set in an artifact, and faults as (path, clause)."""
    files = tuple(files)
    metas = [file for file in files if file.name == META and "/" not in file.folder]
    rows: list[EvalRow] = []
    faults: list[tuple[str, str]] = [] if metas else [("", f"it holds no {META}")]
    for meta in metas:
        try:
            found = read_json(meta)
            if not isinstance(found, dict):
                raise JsonFaultError("it is no mapping")
        except JsonFaultError as error:
            faults.append((meta.path, str(error)))
            continue
        siblings = [file for file in files if file.folder == meta.folder and file.name != META]
        of_set, wrong = _read_set(found, siblings)
        rows += of_set
        faults += wrong or ([] if of_set else [(meta.folder, "there is no result file beside the metadata")])
    return rows, faults


def _read_set(meta: dict[str, Any], files: list[ArtifactFile]) -> tuple[list[EvalRow], list[tuple[str, str]]]:
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
    candidates.sort(key=lambda item: _age(item[0]))
    rows = []
    for conc, value in _choose(meta, candidates):
        rows += _rows_of(value, conc, _flat(meta))
    return rows, faults


def _age(file: ArtifactFile) -> tuple[float, str]:
    """Later is newer: the time in the name, else that of the file, then the name."""
    match = _STAMP.search(file.name)
    if match is None:
        return file.modified, file.name
    try:
        moment = datetime(*(int(part) for part in match.groups()[:6]), tzinfo=UTC)  # type: ignore[arg-type, misc]  # six numbers
    except ValueError:
        return file.modified, file.name
    return moment.timestamp() + float(match[7] or 0), file.name


def _choose(
    meta: Mapping[str, Any], candidates: list[tuple[ArtifactFile, dict[str, Any]]]
) -> list[tuple[int | None, dict[str, Any]]]:
    """The newest result; for a batched set the newest of each concurrency that was completed."""
    if not isinstance(meta.get("eval_concs"), list):
        conc = meta.get("conc")
        whole = conc if isinstance(conc, int) and not isinstance(conc, bool) else None
        return [(whole, candidates[-1][1])] if candidates else []
    completed = meta.get("completed_eval_concs")
    wanted = {str(conc) for conc in completed} if isinstance(completed, list) else set()
    newest: dict[int, dict[str, Any]] = {}
    for file, value in candidates:
        match = _CONC.search(file.name)
        if match and match[1] in wanted:
            newest[int(match[1])] = value
    return sorted(newest.items())


def _flat(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Single values only, and not the ones that a row has of its own."""
    own = {"task", "conc", "score", "score_name", "em_strict", "acc", "em_flexible", "n_eff", "error"}
    kept = {
        key: value
        for key, value in list(meta.items())[:MAX_META]
        if isinstance(value, str | int | float) and key not in own and len(str(value)) <= 1000
    }
    return MappingProxyType(kept)


def _rows_of(value: dict[str, Any], conc: int | None, meta: Mapping[str, Any]) -> list[EvalRow]:
    results = value.get("results")
    if not isinstance(results, dict) or not results:
        return [EvalRow(task="(none)", conc=conc, samples=0, meta=meta, fault="the file holds no task")]
    tasks = list(results.items())[:MAX_TASKS]
    return [_row_of(str(task), scores, value, conc, meta) for task, scores in tasks]


def _row_of(
    task: str, scores: object, value: dict[str, Any], conc: int | None, meta: Mapping[str, Any]
) -> EvalRow:
    if value.get("integration_error") or (isinstance(scores, dict) and scores.get("integration_error")):
        return EvalRow(
            task=task, conc=conc, samples=0, meta=meta, fault="the harness reports an integration error"
        )
    samples = _effective_samples(value, task)
    if samples is None:
        return EvalRow(
            task=task, conc=conc, samples=0, meta=meta, fault="the count of effective samples is invalid"
        )
    families = _families(scores)
    bad = [name for name, score in families.items() if not _is_score(score)]
    if bad or not families:
        fault = f"{bad[0]} is no number between 0 and 1" if bad else "it has no score"
        return EvalRow(task=task, conc=conc, samples=samples, meta=meta, fault=fault)
    return EvalRow(
        task=task,
        conc=conc,
        samples=samples,
        meta=meta,
        strict=families.get("strict"),
        accuracy=families.get("accuracy"),
        flexible=families.get("flexible"),
    )


def _effective_samples(value: Mapping[str, Any], task: str) -> int | None:
    counts = value.get("n-samples")
    found = counts.get(task) if isinstance(counts, dict) else None
    effective = found.get("effective") if isinstance(found, dict) else None
    good = isinstance(effective, int) and not isinstance(effective, bool) and effective > 0
    return effective if good else None


def _families(scores: object) -> dict[str, Any]:
    """strict, flexible, accuracy → score, by the filter behind the comma; standard errors are no scores."""
    found: dict[str, Any] = {}
    for key, score in scores.items() if isinstance(scores, dict) else ():
        metric, _, kind = str(key).partition(",")
        if metric.endswith("_stderr"):
            continue
        if "strict" in kind:
            found.setdefault("strict", score)
        elif "flex" in kind or "extract" in kind:
            found.setdefault("flexible", score)
        elif metric == "acc":
            found.setdefault("accuracy", score)
    return found


def _is_score(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and is_finite(value)
        and 0 <= value <= 1
    )
