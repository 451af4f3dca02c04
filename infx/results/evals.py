"""Accuracy results: from what an evaluation harness leaves behind to one row for each task.

A set is a folder with a `meta_env.json`. Beside it lie result files, one for an ordinary run, one for each
concurrency (`…_conc<N>….json`) for a batched one; of several that could be meant the newest counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from infx.bench.uploads import META
from infx.policy.results import ResultRules
from infx.results.artifact import ArtifactFile, JsonFaultError, read_json
from infx.results.identity import show_value
from infx.results.row import is_finite

FORMAT = "inferencex-eval-v1"
MAX_TASKS = 200
MAX_META = 100
_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d)-(\d\d)-(\d\d)(\.\d+)?", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,9}")
_CONC = re.compile(r"_conc(\d{1,9})(?!\d)", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class EvalRow:
    """One task at one concurrency. Scores are between 0 and 1; `score` is the first there is of strict, accuracy
    and flexible. samples: that counted. original: samples of the task, None where the harness does not say.
    fault: why it cannot be trusted, a clause; then there are no scores. meta: what the run said about itself.
    """

    task: str
    conc: int | None
    samples: int
    original: int | None = None
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
        "n_original": row.original,
        "infrastructure_success": row.fault is None,
    }
    return {**row.meta, **own, **({"error": row.fault} if row.fault else {})}


@dataclass(frozen=True, kw_only=True)
class EvalReader:
    """Reads the accuracy results of one planned row.

    check_meta: returns clauses about what a set's metadata says of itself and should not; such a set is not
    published. rules: which results may be trusted.
    """

    check_meta: Callable[[Mapping[str, Any]], list[str]]
    rules: ResultRules

    def read(self, files: Iterable[ArtifactFile]) -> tuple[list[EvalRow], list[tuple[str, str]]]:
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
            if wrong := [*self.check_meta(found), *_find_failed_concs(found), *_find_conc_fault(found)]:
                faults += [(meta.path, fault) for fault in wrong]
                continue
            siblings = [file for file in files if file.folder == meta.folder and file.name != META]
            of_set, wrong_files = self._read_set(found, siblings)
            rows += of_set
            none = [(meta.folder, "there is no result file beside the metadata")]
            faults += wrong_files or ([] if of_set else none)
        return rows, faults

    def _read_set(
        self, meta: dict[str, Any], files: list[ArtifactFile]
    ) -> tuple[list[EvalRow], list[tuple[str, str]]]:
        faults: list[tuple[str, str]] = []
        candidates: list[tuple[ArtifactFile, dict[str, Any]]] = []
        for file in files:
            try:
                value = read_json(file)
            except JsonFaultError as error:
                faults.append((file.path, str(error)))
                continue
            if isinstance(value, dict) and (
                "lm_eval_version" in value or value.get("result_format") == FORMAT
            ):
                candidates.append((file, value))
        candidates.sort(key=lambda item: _age(item[0]))
        rows = []
        for conc, value in _choose(meta, candidates):
            rows += _rows_of(value, EvalRow(task="", conc=conc, samples=0, meta=_flat(meta)), self.rules)
        return rows, faults


def _find_failed_concs(meta: Mapping[str, Any]) -> list[str]:
    failed = meta.get("failed_eval_concs")
    shown = ", ".join(map(show_value, failed[:10])) if isinstance(failed, list) else show_value(failed)
    return [f"failed_eval_concs is {shown}, expected none"] if failed else []


def _find_conc_fault(meta: Mapping[str, Any]) -> list[str]:
    """A concurrency that cannot be read is not one that was left out."""
    conc = meta.get("conc")
    if conc in (None, "") or isinstance(meta.get("eval_concs"), list) or _read_conc(conc) is not None:
        return []
    return [f"conc is {show_value(conc)}, expected a whole number"]


def _read_conc(value: object) -> int | None:
    """A whole number, also as text, which harnesses write; None for anything else."""
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value.strip()) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


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
        return [(_read_conc(meta.get("conc")), candidates[-1][1])] if candidates else []
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
    kept = {
        key: value
        for key, value in list(meta.items())[:MAX_META]
        if isinstance(value, str | int | float) and key not in own and len(str(value)) <= 1000
    }
    return MappingProxyType(kept)


def _rows_of(value: dict[str, Any], draft: EvalRow, rules: ResultRules) -> list[EvalRow]:
    """One row for each task; what all of them have in common is in `draft`."""
    results = value.get("results")
    if not isinstance(results, dict) or not results:
        return [replace(draft, task="(none)", fault="the file holds no task")]
    if len(results) > MAX_TASKS:
        fault = f"the file holds {len(results):,} tasks; {MAX_TASKS} are the most"
        return [replace(draft, task="(many)", fault=fault)]
    return [_row_of(replace(draft, task=str(task)), scores, value, rules) for task, scores in results.items()]


def _row_of(draft: EvalRow, scores: object, value: dict[str, Any], rules: ResultRules) -> EvalRow:
    if value.get("integration_error") or (isinstance(scores, dict) and scores.get("integration_error")):
        return replace(draft, fault="the harness reports an integration error")
    counts = value.get("n-samples")
    found = counts.get(draft.task) if isinstance(counts, dict) else None
    found = found if isinstance(found, dict) else {}
    samples = _whole(found.get("effective"))
    if not samples:
        shown = show_value(found.get("effective"))
        return replace(
            draft, fault=f"the count of effective samples is invalid: {shown}, expected more than 0"
        )
    original = _whole(found.get("original"))
    draft = replace(draft, samples=samples, original=original)
    if original is None and found.get("original") is not None:
        shown = show_value(found["original"])
        return replace(draft, fault=f"the count of original samples is invalid: {shown}")
    if fault := rules.find_sample_fault(samples, original):
        return replace(draft, fault=fault)
    families = _families(scores)
    bad = [name for name, score in families.items() if not _is_score(score)]
    if bad or not families:
        fault = f"{bad[0]} is no number between 0 and 1" if bad else "it has no score"
        return replace(draft, fault=fault)
    return replace(
        draft,
        strict=families.get("strict"),
        accuracy=families.get("accuracy"),
        flexible=families.get("flexible"),
    )


def _whole(value: object) -> int | None:
    """A count; None for whatever is not one."""
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None  # type: ignore[return-value]  # mypy does not see through `good`


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
