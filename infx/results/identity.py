"""What a result says about where it comes from, set against the row of the plan that asked for it.

Throughput rows (`agg_*.json`) and accuracy results (`meta_env.json`) use the same names. The plan's side of the
comparison is `plan_identity`; a field that is missing there is a metric, or a note that nothing depends on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from infx.bench.config import Component, KvOffloading, Parallelism, ScenarioType, Worker
from infx.bench.row import FixedWorkload, Recipe, Roles, Row
from infx.phrases import join_words

ROLES = ("prefill", "decode")
ENGINE = ("tp", "pp", "ep", "dcp_size", "pcp_size", "dp_attention")
# Every field that is compared, in the order in which mismatches are listed.
FIELDS = (
    "hw", "conc", "image", "model", "infmax_model_prefix", "framework", "precision", "spec_decoding", "disagg",
    "isl", "osl", "scenario_type", "is_multinode", *ENGINE,
    *(f"{role}_{name}" for role in ROLES for name in (*ENGINE, "num_workers", "hardware")),
    "num_prefill_gpu", "num_decode_gpu", "num_aggregate_gpu",
    "kv_offloading", "kv_offload_backend", "kv_p2p_transfer", "router", "recipe_fingerprint",
    "eval_framework", "eval_suite",
)  # fmt: skip
MAX_SHOWN = 200  # characters of a value in a message

Accepted = tuple[object, ...]  # the values that fit; empty: the plan has none


def find_mismatches(values: Mapping[str, Any], row: Row) -> list[str]:
    """Return a clause for each field of a throughput row that contradicts the plan."""
    return _compare(values, plan_identity(row), _is_same)


def find_eval_mismatches(meta: Mapping[str, Any], row: Row) -> list[str]:
    """Return a clause for each field of an accuracy result's metadata that contradicts the plan.

    Harnesses write booleans and numbers as text, and null for what they do not know. The concurrency is compared
    for each result, because one set may have several; and what a single engine would have is a placeholder in the
    metadata of a multi-node deployment, whose roles are compared.
    """
    accepted = plan_identity(row)
    for name in ("conc", *(ENGINE if row.recipe.is_multinode else ())):
        del accepted[name]
    return _compare(meta, accepted, _is_same_text)


def _compare(
    values: Mapping[str, Any], accepted: Mapping[str, Accepted], is_same: Callable[[object, object], bool]
) -> list[str]:
    found = []
    for name in FIELDS:
        value = values.get(name)
        if value is None or name not in accepted:
            continue
        if not any(is_same(value, planned) for planned in accepted[name]):
            plan = join_words([show_value(planned) for planned in dict.fromkeys(accepted[name])], last="or")
            found.append(
                f"{name} is {show_value(value)}, the plan " + (f"says {plan}" if plan else "has none")
            )
    return found


def plan_identity(row: Row) -> dict[str, Accepted]:
    """Return the values of the plan that a result of the row may have, by field."""
    recipe = row.recipe
    identity: dict[str, Accepted] = {
        "hw": (recipe.runner,),
        "conc": row.conc,
        "image": (recipe.image,),
        "model": (recipe.model,),
        "infmax_model_prefix": (recipe.model_prefix,),
        "framework": (recipe.framework,),
        "precision": (recipe.precision,),
        "spec_decoding": (recipe.spec_decoding.value,),
        "disagg": (recipe.disagg,),
        "is_multinode": (recipe.is_multinode,),
        "kv_p2p_transfer": _optional(recipe.kv_p2p_transfer),
        "router": _optional(recipe.router),
        "recipe_fingerprint": _optional(row.recipe_fingerprint),
        **_plan_workload(recipe),
        **_plan_layout(recipe),
    }
    # The profile may leave both to the harness; then nothing is planned that could be contradicted.
    if row.eval_framework:
        identity["eval_framework"] = (row.eval_framework,)
    if row.eval_suite:
        identity["eval_suite"] = (row.eval_suite,)
    return identity


def _plan_workload(recipe: Recipe) -> dict[str, Accepted]:
    workload = recipe.workload
    if isinstance(workload, FixedWorkload):
        return {
            "isl": (workload.isl,),
            "osl": (workload.osl,),
            "scenario_type": (ScenarioType.FIXED.value,),
            "kv_offloading": (KvOffloading.NONE.value,),
            "kv_offload_backend": (),
        }
    return {
        "isl": (0,),
        "osl": (0,),
        "scenario_type": (ScenarioType.AGENTIC.value,),
        "kv_offloading": (workload.kv_offloading.value,),
        "kv_offload_backend": _optional(workload.kv_offload_backend if workload.offloads else None),
    }


def _plan_layout(recipe: Recipe) -> dict[str, Accepted]:
    layout = recipe.layout
    if isinstance(layout, Parallelism):
        # Results that know only roles repeat the one engine in both.
        roles = {f"{role}_{name}": value for role in ROLES for name, value in _plan_engine(layout).items()}
        workers: dict[str, Accepted] = {f"{role}_num_workers": (1,) for role in ROLES}
        none: tuple[str, ...] = (
            *(f"{role}_hardware" for role in ROLES),
            "num_prefill_gpu", "num_decode_gpu", "num_aggregate_gpu",
        )  # fmt: skip
        return {**_plan_engine(layout), **roles, **workers, **dict.fromkeys(none, ())}
    return _plan_roles(layout)


def _plan_roles(layout: Roles) -> dict[str, Accepted]:
    prefill, decode = (worker.num_worker * worker.gpus for worker in (layout.prefill, layout.decode))
    engines = [_plan_engine(layout.prefill), _plan_engine(layout.decode)]
    return {
        # One value for both roles can only be that of one of them.
        **{name: (*engines[0][name], *engines[1][name]) for name in ENGINE},
        **_plan_role("prefill", layout.prefill),
        **_plan_role("decode", layout.decode),
        "num_prefill_gpu": (prefill,),
        "num_decode_gpu": (decode,),
        "num_aggregate_gpu": (0 if decode else prefill,),
    }


def _plan_role(role: str, worker: Worker) -> dict[str, Accepted]:
    """Without workers a role has no sizes, and what a result says about them means nothing."""
    workers: dict[str, Accepted] = {f"{role}_num_workers": (worker.num_worker,)}
    if not worker.num_worker:
        return workers
    engine = {f"{role}_{name}": value for name, value in _plan_engine(worker).items()}
    return {**workers, **engine, f"{role}_hardware": _optional(worker.hardware)}


def _plan_engine(engine: Parallelism) -> dict[str, Accepted]:
    engine = engine.filled()
    return {
        "tp": (engine.tp,),
        "pp": (engine.pp,),
        "ep": (engine.ep,),
        "dcp_size": (engine.dcp_size,),
        "pcp_size": (engine.pcp_size,),
        "dp_attention": (engine.dp_attn,),
    }


def _optional(value: object) -> Accepted:
    return () if value is None else (value,)


def _is_same(value: object, planned: object) -> bool:
    if isinstance(planned, Component):
        return _is_component(value, planned)
    return isinstance(value, bool) is isinstance(planned, bool) and value == planned


def _is_same_text(value: object, planned: object) -> bool:
    """Like `_is_same`, with `"8"` for 8 and `"true"` for true; a component may be its name alone."""
    if isinstance(planned, Component) and isinstance(value, str):
        return value == planned.name
    if isinstance(value, str) and not isinstance(planned, str):
        return value.strip().lower() == show_value(planned)
    return _is_same(value, planned)


def _is_component(value: object, planned: Component) -> bool:
    """The version may be left out, but not be another one."""
    return (
        isinstance(value, dict)
        and value.get("name") == planned.name
        and value.get("version") in (None, planned.version)
    )


def show_value(value: object) -> str:
    """A foreign value as it stands in a sentence: text bare, other single values as JSON, and never much of it."""
    if isinstance(value, Component):
        value = {"name": value.name, "version": value.version}
    if isinstance(value, dict):
        parts = [value.get("name"), value.get("version")]
        if not isinstance(parts[0], str):
            return "a mapping"
        value = " ".join(part for part in parts if isinstance(part, str))
    if isinstance(value, list):
        return "a list"
    text = value if isinstance(value, str) and value.strip() else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
