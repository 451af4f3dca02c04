"""A row: one job of a sweep, and the recipe that it shares with other rows.

The `Recipe` holds everything except the concurrency and the accuracy run. The planner groups rows by equal
recipes: for trimming, accuracy selection of multi-node rows, fingerprints and append-only deltas.

In JSON a row is one flat mapping with kebab-case keys (schemas/matrix-row.json). A field that is None is
omitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from operator import attrgetter
from typing import Any

from infx.bench.config import Component, KvOffloading, Parallelism, ScenarioType, SpecDecoding, Worker
from infx.records import record

# Seconds of one AgentX replay, and the warm-up requests per lane for each duration.
AGENTIC_DURATION = 3600
FAST_DURATION = 1200
WARMUP_REQUESTS = {AGENTIC_DURATION: 10, FAST_DURATION: 1}


@record
class FixedWorkload:
    """Requests of fixed length; all three numbers are tokens."""

    isl: int
    osl: int
    max_model_len: int
    require_power: bool | None = None


@record
class AgenticWorkload:
    """Replayed coding sessions."""

    kv_offloading: KvOffloading
    total_cpu_dram_gb: int  # decimal GB per node for the KV cache
    duration: int = AGENTIC_DURATION  # seconds
    kv_offload_backend: Component | None = None

    @property
    def offloads(self) -> bool:
        return self.kv_offloading is not KvOffloading.NONE

    @property
    def warmup_requests(self) -> int:
        """Return the warm-up requests per lane."""
        return WARMUP_REQUESTS.get(self.duration, WARMUP_REQUESTS[AGENTIC_DURATION])


@record
class Roles:
    """The workers of a multi-node deployment."""

    prefill: Worker  # all workers of an aggregated deployment
    decode: Worker  # without workers in an aggregated deployment


@record
class Recipe:
    """Everything about a measurement except the number of clients."""

    image: str
    model: str
    model_prefix: str
    precision: str
    framework: str
    runner: str
    spec_decoding: SpecDecoding
    layout: Parallelism | Roles
    workload: FixedWorkload | AgenticWorkload
    disagg: bool = False
    router: Component | None = None
    kv_p2p_transfer: str | None = None
    srt_recipe: str | None = None
    eval_srt_recipe: str | None = None
    node_count: int | None = None
    power: bool | None = None

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """The hash, computed once, because the planner often groups by recipe."""
        return hash(_read_fields(self))

    @property
    def is_multinode(self) -> bool:
        return isinstance(self.layout, Roles)

    @property
    def is_agentic(self) -> bool:
        return isinstance(self.workload, AgenticWorkload)

    @property
    def offloads(self) -> bool:
        return isinstance(self.workload, AgenticWorkload) and self.workload.offloads


_read_fields = attrgetter(*(field.name for field in fields(Recipe)))


@record
class Row:
    """One job of a sweep: a recipe at some concurrencies, with or without an accuracy run."""

    recipe: Recipe
    conc: tuple[int, ...]  # simultaneous clients; exactly one value in a single-node row
    exp_name: str
    run_eval: bool | None = None  # whether the row has an accuracy run
    eval_only: bool | None = None  # whether the row has nothing but the accuracy run
    eval_conc: int | None = None  # the evaluated concurrency of a multi-node row
    eval_all_concs: bool | None = None  # whether all concurrencies are evaluated (multi-node)
    eval_framework: str | None = None
    eval_suite: str | None = None
    recipe_fingerprint: str | None = None

    @property
    def eval_concs(self) -> tuple[int, ...]:
        """Return the concurrencies that an accuracy run of this row measures."""
        return self.conc if self.eval_all_concs or self.eval_conc is None else (self.eval_conc,)

    @property
    def required_concs(self) -> tuple[int, ...]:
        """Return the concurrencies that an accuracy run must measure; empty if its command chooses."""
        return self.eval_concs if self.eval_all_concs or self.eval_conc is not None else ()

    def to_saved(self) -> dict[str, Any]:
        return render_row(self)

    @classmethod
    def from_saved(cls, value: Any) -> Row:
        """Read a saved row. Raises ValueError that names the expected value."""
        from infx import schema

        if not schema.is_valid("matrix-row", value):
            raise ValueError("a row of a plan, as schemas/matrix-row.json has it")
        return RowReader().read(value)


def render_row(row: Row) -> dict[str, Any]:
    """Render the row as a flat mapping for JSON."""
    return render_recipe(row.recipe) | render_point(row)


def render_point(row: Row) -> dict[str, Any]:
    """Render the fields of a row that are not part of its recipe."""
    values: dict[str, Any] = {
        "conc": list(row.conc) if row.recipe.is_multinode else row.conc[0],
        "exp-name": row.exp_name,
    }
    own = (
        ("run-eval", row.run_eval),
        ("eval-only", row.eval_only),
        ("eval-conc", row.eval_conc),
        ("eval-all-concs", row.eval_all_concs),
        ("eval-framework", row.eval_framework),
        ("eval-suite", row.eval_suite),
        ("recipe-fingerprint", row.recipe_fingerprint),
    )
    values.update((key, value) for key, value in own if value is not None)
    return values


def render_recipe(recipe: Recipe) -> dict[str, Any]:
    """Render the recipe: all keys of a row except conc, exp-name, the eval keys and the fingerprint."""
    values: dict[str, Any] = {
        "image": recipe.image,
        "model": recipe.model,
        "model-prefix": recipe.model_prefix,
        "precision": recipe.precision,
        "framework": recipe.framework,
        "runner": recipe.runner,
        "spec-decoding": recipe.spec_decoding.value,
        **_render_workload(recipe.workload),
    }
    if isinstance(recipe.layout, Roles):
        values["prefill"] = _render_worker(recipe.layout.prefill)
        values["decode"] = _render_worker(recipe.layout.decode)
    else:
        values.update(_render_parallelism(recipe.layout))
    if recipe.is_multinode or not recipe.is_agentic:
        values["disagg"] = recipe.disagg
    optional = (
        ("router", _render_component(recipe.router)),
        ("kv-p2p-transfer", recipe.kv_p2p_transfer),
        ("srt-recipe", recipe.srt_recipe),
        ("eval-srt-recipe", recipe.eval_srt_recipe),
        ("node-count", recipe.node_count),
        ("power", recipe.power),
    )
    values.update((key, value) for key, value in optional if value is not None)
    return values


def _render_workload(workload: FixedWorkload | AgenticWorkload) -> dict[str, Any]:
    if isinstance(workload, FixedWorkload):
        fixed = {"isl": workload.isl, "osl": workload.osl, "max-model-len": workload.max_model_len}
        if workload.require_power is not None:
            fixed["require-power"] = workload.require_power
        return fixed
    agentic: dict[str, Any] = {
        "scenario-type": ScenarioType.AGENTIC.value,
        "duration": workload.duration,
        "kv-offloading": workload.kv_offloading.value,
        "total-cpu-dram-gb": workload.total_cpu_dram_gb,
    }
    if workload.kv_offload_backend is not None:
        agentic["kv-offload-backend"] = _render_component(workload.kv_offload_backend)
    return agentic


def _render_parallelism(engine: Parallelism) -> dict[str, Any]:
    values: dict[str, Any] = {
        "tp": engine.tp,
        "pp": engine.pp,
        "dcp-size": engine.dcp_size,
        "pcp-size": engine.pcp_size,
    }
    if engine.ep is not None:
        values["ep"] = engine.ep
    if engine.dp_attn is not None:
        values["dp-attn"] = engine.dp_attn
    return values


def _render_worker(worker: Worker) -> dict[str, Any]:
    values = {"num-worker": worker.num_worker, **_render_parallelism(worker)}
    if worker.hardware is not None:
        values["hardware"] = worker.hardware
    if worker.additional_settings is not None:
        values["additional-settings"] = list(worker.additional_settings)
    return values


def _render_component(component: Component | None) -> dict[str, str] | None:
    if component is None:
        return None
    if component.version is None:
        return {"name": component.name}
    return {"name": component.name, "version": component.version}


class RowReader:
    """A reader of rows from JSON that fits schemas/matrix-row.json; equal recipes share one object."""

    def __init__(self) -> None:
        self._recipes: dict[Recipe, Recipe] = {}

    def read(self, values: Mapping[str, Any]) -> Row:
        recipe = _read_recipe(values)
        conc = values["conc"]
        return Row(
            recipe=self._recipes.setdefault(recipe, recipe),
            conc=tuple(conc) if isinstance(conc, list) else (conc,),
            exp_name=values["exp-name"],
            run_eval=values.get("run-eval"),
            eval_only=values.get("eval-only"),
            eval_conc=values.get("eval-conc"),
            eval_all_concs=values.get("eval-all-concs"),
            eval_framework=values.get("eval-framework"),
            eval_suite=values.get("eval-suite"),
            recipe_fingerprint=values.get("recipe-fingerprint"),
        )


def _read_recipe(values: Mapping[str, Any]) -> Recipe:
    layout: Parallelism | Roles
    if "prefill" in values:
        layout = Roles(prefill=read_worker(values["prefill"]), decode=read_worker(values["decode"]))
    else:
        layout = read_parallelism(values)
    return Recipe(
        image=values["image"],
        model=values["model"],
        model_prefix=values["model-prefix"],
        precision=values["precision"],
        framework=values["framework"],
        runner=values["runner"],
        spec_decoding=SpecDecoding(values["spec-decoding"]),
        layout=layout,
        workload=_read_workload(values),
        disagg=values.get("disagg", False),
        router=read_component(values.get("router")),
        kv_p2p_transfer=values.get("kv-p2p-transfer"),
        srt_recipe=values.get("srt-recipe"),
        eval_srt_recipe=values.get("eval-srt-recipe"),
        node_count=values.get("node-count"),
        power=values.get("power"),
    )


def _read_workload(values: Mapping[str, Any]) -> FixedWorkload | AgenticWorkload:
    if "scenario-type" not in values:
        return FixedWorkload(
            isl=values["isl"],
            osl=values["osl"],
            max_model_len=values["max-model-len"],
            require_power=values.get("require-power"),
        )
    return AgenticWorkload(
        kv_offloading=KvOffloading(values["kv-offloading"]),
        total_cpu_dram_gb=values["total-cpu-dram-gb"],
        duration=values["duration"],
        kv_offload_backend=read_component(values.get("kv-offload-backend")),
    )


def read_parallelism(values: Mapping[str, Any]) -> Parallelism:
    return Parallelism(**_read_degrees(values))


def read_worker(values: Mapping[str, Any]) -> Worker:
    """Read a worker from a configuration or a row."""
    settings = values.get("additional-settings")
    return Worker(
        num_worker=values.get("num-worker", 1),  # optional only in configurations
        hardware=values.get("hardware"),
        additional_settings=None if settings is None else tuple(settings),
        **_read_degrees(values),
    )


def _read_degrees(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tp": values["tp"],
        "pp": values.get("pp", 1),
        "dcp_size": values.get("dcp-size", 1),
        "pcp_size": values.get("pcp-size", 1),
        "ep": values.get("ep"),
        "dp_attn": values.get("dp-attn"),
    }


def read_component(values: Mapping[str, str] | None) -> Component | None:
    return None if values is None else Component(name=values["name"], version=values.get("version"))
