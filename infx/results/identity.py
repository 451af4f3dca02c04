"""Compare the identity fields of a result with the row of the plan.

Throughput rows (`agg_*.json`) and accuracy results (`meta_env.json`) use the same names. `plan_identity` returns the
plan's values; every other field of a result is a metric or a note.
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

Accepted = tuple[object, ...]  # the values that match; empty: the plan has none


def find_mismatches(values: Mapping[str, Any], row: Row) -> list[str]:
    """Return a clause for each field of a throughput row that contradicts the plan."""
    return _compare(values, plan_identity(row), _is_same)


def find_eval_mismatches(meta: Mapping[str, Any], row: Row) -> list[str]:
    """Return a clause for each field of an accuracy result's metadata that contradicts the plan.

    Harnesses may write booleans and numbers as text, and null for unknown values.
    """
    accepted = plan_identity(row)
    # A set may have several concurrencies, so each result's is compared later. The fields of a single engine are
    # placeholders in the metadata of a multi-node deployment.
    for name in ("conc", *(ENGINE if row.recipe.is_multinode else ())):
        del accepted[name]
    return _compare(meta, accepted, _is_same_text)


def _compare(
    values: Mapping[str, Any], accepted: Mapping[str, Accepted], is_same: Callable[[object, object], bool]
) -> list[str]:
    mismatches = []
    for name in FIELDS:
        value = values.get(name)
        if value is None or name not in accepted:
            continue
        if len(accepted[name]) == 1 and type(value) is type(accepted[name][0]) and value == accepted[name][0]:
            continue  # nearly always, and several times faster
        if not any(is_same(value, planned) for planned in accepted[name]):
            plan = join_words([show_value(planned) for planned in dict.fromkeys(accepted[name])], last="or")
            mismatches.append(
                f"{name} is {show_value(value)}, the plan " + (f"says {plan}" if plan else "has none")
            )
    return mismatches


def plan_identity(row: Row) -> dict[str, Accepted]:
    """Return field → the values that a result of the row may have."""
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
        "kv_p2p_transfer": _accept_optional(recipe.kv_p2p_transfer),
        "router": _accept_optional(recipe.router),
        "recipe_fingerprint": _accept_optional(row.recipe_fingerprint),
        **_plan_workload(recipe),
        **_plan_layout(recipe),
    }
    # The profile may leave both to the harness.
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
        "kv_offload_backend": _accept_optional(workload.kv_offload_backend if workload.offloads else None),
    }


def _plan_layout(recipe: Recipe) -> dict[str, Accepted]:
    layout = recipe.layout
    if isinstance(layout, Parallelism):
        # Some results have fields for roles only, and repeat the single engine in both.
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
        # A result with a single value for both roles may report either role's.
        **{name: (*engines[0][name], *engines[1][name]) for name in ENGINE},
        **_plan_role("prefill", layout.prefill),
        **_plan_role("decode", layout.decode),
        "num_prefill_gpu": (prefill,),
        "num_decode_gpu": (decode,),
        "num_aggregate_gpu": (0 if decode else prefill,),
    }


def _plan_role(role: str, worker: Worker) -> dict[str, Accepted]:
    workers: dict[str, Accepted] = {f"{role}_num_workers": (worker.num_worker,)}
    if not worker.num_worker:  # a role without workers has no sizes, so a result's are not compared
        return workers
    engine = {f"{role}_{name}": value for name, value in _plan_engine(worker).items()}
    return {**workers, **engine, f"{role}_hardware": _accept_optional(worker.hardware)}


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


def _accept_optional(value: object) -> Accepted:
    return () if value is None else (value,)


def _is_same(value: object, planned: object) -> bool:
    if isinstance(planned, Component):
        return _is_component(value, planned)
    return isinstance(value, bool) is isinstance(planned, bool) and value == planned


def _is_same_text(value: object, planned: object) -> bool:
    """Compare like `_is_same`, but accept `"8"` for 8, `"true"` for true, and a component's name alone."""
    if isinstance(planned, Component) and isinstance(value, str):
        return value == planned.name
    if isinstance(value, str) and not isinstance(planned, str):
        return value.strip().lower() == show_value(planned)
    return _is_same(value, planned)


def _is_component(value: object, planned: Component) -> bool:
    """Return whether the names match, and the versions too if the value has a version."""
    return (
        isinstance(value, dict)
        and value.get("name") == planned.name
        and value.get("version") in (None, planned.version)
    )


def show_value(value: object) -> str:
    """Return a foreign value for a sentence: text as it is, other single values as JSON, and long values cut."""
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
