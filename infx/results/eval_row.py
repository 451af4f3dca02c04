"""The accuracy of one task: read from a result file, and rendered for the aggregate of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from infx.policy.results import ResultRules
from infx.records import record
from infx.results.identity import ROLES, show_value
from infx.results.normalize import Normalized, is_multinode
from infx.results.row import is_finite

MAX_TASKS = 200
MAX_META = 100
MAX_NAME = 1000  # characters
RESOLVED = "resolved"  # filter of a task that is solved or not
# Fields of the aggregate that come from the result file; metadata with such a name is dropped.
_OWN = frozenset(
    {
        "task", "conc", "score", "score_name", "score_se", "em_strict", "em_strict_se", "acc", "acc_se", "em_flexible",
        "em_flexible_se", "n_eff", "n_original", "error", "infrastructure_success", "source", "served_model", "row_id",
        "model_prefix",
    }
)  # fmt: skip


@record
class EvalScoreValue:
    """A score from 0 to 1, with its standard error if the harness reports one."""

    value: float
    error: float | None = None


@record
class EvalRow:
    """The accuracy of one task at one concurrency."""

    task: str
    conc: int | None
    samples: int | None  # that were counted; None if the harness does not report any counts
    original: int | None = None  # samples of the task; None if the harness does not report them
    meta: Mapping[str, str | int | float | bool]  # the metadata of the run
    layout: Normalized  # the metadata in its one form
    served: str | None = None  # the model's name on the server
    source: str = ""  # path of the result file, with its artifact
    strict: EvalScoreValue | None = None
    accuracy: EvalScoreValue | None = None
    flexible: EvalScoreValue | None = None
    fault: str | None = None  # a clause that says why the row cannot be trusted; then there are no scores

    @property
    def best(self) -> tuple[str, EvalScoreValue] | None:
        """Return the name and the score that counts: the strict score, else the accuracy, else the flexible score."""
        scores = (("em_strict", self.strict), ("accuracy", self.accuracy), ("em_flexible", self.flexible))
        return next(((name, score) for name, score in scores if score is not None), None)

    @property
    def score(self) -> float | None:
        return self.best[1].value if self.best else None

    @property
    def score_name(self) -> str | None:
        return self.best[0] if self.best else None


def render_eval(row: EvalRow) -> dict[str, Any]:
    """Return the row as one flat mapping for `agg_eval_all.json`."""
    scores = {
        "score": row.best[1] if row.best else None,
        "em_strict": row.strict,
        "acc": row.accuracy,
        "em_flexible": row.flexible,
    }
    return {
        **row.meta,
        **_render_layout(row.layout),
        "served_model": row.served,
        "task": row.task,
        "conc": row.conc,
        "score_name": row.score_name,
        **{name: score.value if score else None for name, score in scores.items()},
        **{f"{name}_se": score.error if score else None for name, score in scores.items()},
        "n_eff": row.samples,
        "n_original": row.original,
        "source": row.source,
        "infrastructure_success": row.fault is None,
        **({"error": row.fault} if row.fault else {}),
    }


def _render_layout(values: Normalized) -> dict[str, Any]:
    """Return the deployment in the fields of the aggregate, which has those of one engine and those of both roles.

    A field that the metadata does not have is left out, so that the row keeps the identity of its metadata.
    """
    if any(name in values.faults for name in values):
        return {}
    fields: dict[str, Any] = {"is_multinode": is_multinode(values)}
    if "infmax_model_prefix" in values:
        fields["model_prefix"] = values["infmax_model_prefix"]
    fields |= {name: values[name] for name in ("isl", "osl") if name in values}
    if fields["is_multinode"]:
        fields |= {name: values[f"prefill_{name}"] for name in ("tp", "ep") if f"prefill_{name}" in values}
        names = ("tp", "pp", "ep", "dcp_size", "pcp_size", "num_workers")
        fields |= {f"{r}_{n}": values[f"{r}_{n}"] for r in ROLES for n in names if f"{r}_{n}" in values}
        flags = {role: values.get(f"{role}_dp_attention") for role in ROLES}
    else:
        sizes = {name: values[name] for name in ("tp", "ep") if name in values}
        fields |= sizes | {name: values[name] for name in ("pp", "dcp_size", "pcp_size") if name in values}
        fields |= {f"{role}_{name}": value for role in ROLES for name, value in sizes.items()}
        fields |= {f"{role}_num_workers": 1 for role in ROLES}
        flags = dict.fromkeys(ROLES, values.get("dp_attention"))
    if None not in flags.values():
        fields |= {f"{role}_dp_attention": show_value(flag) for role, flag in flags.items()}
        fields["dp_attention"] = describe_attention(values)
    return fields


def describe_attention(values: Normalized) -> str:
    """Return `true`, `false`, `none` without a value, or both roles' if they differ."""
    if not is_multinode(values):
        return show_value(values["dp_attention"]) if "dp_attention" in values else "none"
    flags = [show_value(values.get(f"{role}_dp_attention", "none")) for role in ROLES]
    return flags[0] if flags[0] == flags[1] else f"prefill={flags[0]},decode={flags[1]}"


def flatten(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata's single values, without those that a row has as fields."""
    values = {
        key: value
        for key, value in list(meta.items())[:MAX_META]
        if isinstance(value, str | int | float) and key not in _OWN and len(str(value)) <= MAX_NAME
    }
    return MappingProxyType(values)


def make_rows(value: dict[str, Any], draft: EvalRow, rules: ResultRules) -> list[EvalRow]:
    """Return one row for each task of a result file. draft: the values that all rows share."""
    results = value.get("results")
    if not isinstance(results, dict) or not results:
        return [replace(draft, task="(none)", fault="the file holds no task")]
    if len(results) > MAX_TASKS:
        fault = f"the file holds {len(results):,} tasks, more than the limit of {MAX_TASKS}"
        return [replace(draft, task="(many)", fault=fault)]
    return [
        _make_row(
            replace(draft, task=str(task), served=_find_served(value, str(task), draft)), scores, value, rules
        )
        for task, scores in results.items()
    ]


def _find_served(value: dict[str, Any], task: str, draft: EvalRow) -> str | None:
    """Return the model's name on the server, by the result file, or by the metadata."""
    configs = value.get("configs")
    config = configs.get(task) if isinstance(configs, dict) else None
    own = config.get("metadata") if isinstance(config, dict) else None
    names = (
        value.get("model_name"),
        own.get("model") if isinstance(own, dict) else None,
        draft.meta.get("model"),
    )
    return next((name for name in names if isinstance(name, str) and 0 < len(name) <= MAX_NAME), None)


def _make_row(draft: EvalRow, scores: object, value: dict[str, Any], rules: ResultRules) -> EvalRow:
    if value.get("integration_error") or (isinstance(scores, dict) and scores.get("integration_error")):
        return replace(draft, samples=0, fault="the harness reports an integration error")
    counted = _count_samples(draft, value.get("n-samples"))
    if counted.fault or (fault := rules.find_sample_fault(counted.samples or 0, counted.original)):
        return counted if counted.fault else replace(counted, fault=fault)
    families = _find_scores(scores)
    bad = [name for name, (score, _) in families.items() if not _is_score(score)]
    if bad or not families:
        fault = f"{bad[0]} is not a number between 0 and 1" if bad else "it has no score"
        return replace(counted, fault=fault)
    judged = {name: _make_score(score, error) for name, (score, error) in families.items()}
    return replace(
        counted,
        strict=judged.get("strict"),
        accuracy=judged.get("accuracy"),
        flexible=judged.get("flexible"),
    )


def _make_score(value: float, error: object) -> EvalScoreValue:
    return EvalScoreValue(value=value, error=float(error) if _is_score(error) else None)  # type: ignore[arg-type]  # a number


def _count_samples(draft: EvalRow, counts_by_task: object) -> EvalRow:
    """Return the row with its counts of samples, or with a fault. A harness that counts nothing leaves them unknown."""
    if counts_by_task is None:
        return draft
    counts = counts_by_task.get(draft.task) if isinstance(counts_by_task, dict) else None
    counts = counts if isinstance(counts, dict) else {}
    samples = _read_count(counts.get("effective"))
    if not samples:
        shown = show_value(counts.get("effective"))
        fault = f"the count of effective samples is invalid: {shown}, expected more than 0"
        return replace(draft, samples=0, fault=fault)
    original = _read_count(counts.get("original"))
    if original is None and counts.get("original") is not None:
        shown = show_value(counts["original"])
        return replace(draft, samples=samples, fault=f"the count of original samples is invalid: {shown}")
    return replace(draft, samples=samples, original=original)


def _read_count(value: object) -> int | None:
    """Return a count, or None for a value that is not a count."""
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None  # type: ignore[return-value]  # mypy does not see through `good`


def _find_scores(scores: object) -> dict[str, tuple[Any, Any]]:
    """Return strict, accuracy, flexible → score and standard error, by the filter after a metric's comma."""
    families: dict[str, tuple[Any, Any]] = {}
    for key, score in scores.items() if isinstance(scores, dict) else ():
        metric, _, kind = str(key).partition(",")
        if metric.endswith("_stderr"):
            continue
        error = scores.get(f"{metric}_stderr,{kind}" if kind else f"{metric}_stderr")  # type: ignore[attr-defined]  # a mapping
        if "strict" in kind or kind == RESOLVED:
            families.setdefault("strict", (score, error))
        elif "flex" in kind or "extract" in kind:
            families.setdefault("flexible", (score, error))
        elif metric == "acc":
            families.setdefault("accuracy", (score, error))
    return families


def _is_score(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and is_finite(value)
        and 0 <= value <= 1
    )
