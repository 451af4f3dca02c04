"""Expand a configuration to rows: every point of every search row, on each of its runners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from infx.bench.config import (
    AgenticScenario,
    Config,
    FixedScenario,
    KvOffloading,
    Parallelism,
    Runners,
    ScenarioType,
    SearchRow,
)
from infx.bench.names import SEQUENCES, name_agentic, name_fixed
from infx.bench.row import AgenticWorkload, FixedWorkload, Recipe, Roles, Row
from infx.errors import Problem, ProblemsError
from infx.matrix import dram
from infx.matrix.concurrency import Bounds, expand_capped, expand_clipped, expand_filtered
from infx.records import record, replace

# Tokens by which a request may exceed isl + osl.
SPARE_TOKENS = 256
_POWER_SEQUENCE = SEQUENCES["8k1k"]


@record
class ExpansionLimits:
    """The part of a configuration that the options select."""

    bounds: Bounds = field(default_factory=Bounds)
    max_tp: int | None = None  # single-node fixed rows only
    max_ep: int | None = None  # single-node fixed rows only
    sequences: frozenset[tuple[int, int]] = frozenset()  # (isl, osl) of fixed scenarios; empty for all
    scenario_types: frozenset[ScenarioType] = frozenset()  # empty for all

    def include(self, scenario_type: ScenarioType) -> bool:
        return not self.scenario_types or scenario_type in self.scenario_types


NO_LIMITS = ExpansionLimits()


def expand_config(
    config: Config, inventory: Runners, limits: ExpansionLimits = NO_LIMITS, on: Sequence[str] | None = None
) -> list[Row]:
    """Return the rows of one configuration, fixed scenarios first.

    on: runner labels or names that replace the configuration's label. Raises ProblemsError if a memory budget
    cannot be computed, even for points that the limits exclude.
    """
    rows: list[Row] = []
    problems: list[Problem] = []
    runners = (config.runner,) if on is None else on
    scenarios: tuple[FixedScenario | AgenticScenario, ...] = (*config.fixed, *config.agentic)
    for scenario in scenarios:
        for search in scenario.search_space:
            try:
                rows.extend(_expand_search(config, scenario, search, runners, inventory, limits))
            except ProblemsError as error:
                problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return rows


def _expand_search(
    config: Config,
    scenario: FixedScenario | AgenticScenario,
    search: SearchRow,
    runners: Sequence[str],
    inventory: Runners,
    limits: ExpansionLimits,
) -> Iterator[Row]:
    if isinstance(scenario, FixedScenario):
        wanted = not limits.sequences or (scenario.isl, scenario.osl) in limits.sequences
        if wanted and limits.include(ScenarioType.FIXED):
            yield from _expand_fixed(config, scenario, search, runners, limits)
    elif limits.include(ScenarioType.AGENTIC):
        budget = _find_budget(config, scenario, search, inventory)
        yield from _expand_agentic(config, search, budget, runners, limits)


def _expand_fixed(
    config: Config,
    scenario: FixedScenario,
    search: SearchRow,
    runners: Sequence[str],
    limits: ExpansionLimits,
) -> Iterator[Row]:
    """Yield single-node rows by concurrency, then by runner; multi-node rows by runner, with all points."""
    _check_power(config, scenario)
    layout = _limit_layout(_build_layout(search), limits)
    if layout is None:
        return
    workload = FixedWorkload(
        isl=scenario.isl,
        osl=scenario.osl,
        max_model_len=scenario.isl + scenario.osl + SPARE_TOKENS,
        require_power=scenario.require_power,
    )
    name = name_fixed(config.model_prefix, scenario.isl, scenario.osl)
    recipes = _build_recipes(config, search, layout, workload, runners)
    if isinstance(layout, Roles):
        if points := expand_capped(search.concurrency, limits.bounds):
            for recipe in recipes:
                yield Row(recipe=recipe, conc=points, exp_name=name, run_eval=False)
    else:
        for conc in expand_clipped(search.concurrency, limits.bounds):
            for recipe in recipes:
                yield Row(recipe=recipe, conc=(conc,), exp_name=name, run_eval=False)


def _expand_agentic(
    config: Config, search: SearchRow, budget: int, runners: Sequence[str], limits: ExpansionLimits
) -> Iterator[Row]:
    """Yield a row for every point: single-node by concurrency, then by runner; multi-node in reverse."""
    layout = _build_layout(search)
    workload = AgenticWorkload(
        kv_offloading=search.kv_offloading or KvOffloading.NONE,
        total_cpu_dram_gb=budget,
        kv_offload_backend=search.kv_offload_backend,
    )
    recipes = _build_recipes(config, search, layout, workload, runners)
    points = expand_filtered(search.concurrency, limits.bounds)
    names = {
        conc: name_agentic(config.model_prefix, layout, conc, search.spec_decoding, workload)
        for conc in points
    }
    if isinstance(layout, Roles):
        pairs = [(conc, recipe) for recipe in recipes for conc in points]
    else:
        pairs = [(conc, recipe) for conc in points for recipe in recipes]
    for conc, recipe in pairs:
        yield Row(recipe=recipe, conc=(conc,), exp_name=names[conc])


def _build_layout(search: SearchRow) -> Parallelism | Roles:
    """Return the engine, with defaults for omitted fields, or the two roles."""
    if search.engine is not None:
        return search.engine.filled()
    if search.worker is not None:
        idle = replace(search.worker, num_worker=0, additional_settings=None)
        return Roles(prefill=search.worker, decode=idle)
    assert search.prefill is not None
    assert search.decode is not None
    return Roles(prefill=search.prefill, decode=search.decode)


def _limit_layout(layout: Parallelism | Roles, limits: ExpansionLimits) -> Parallelism | Roles | None:
    """Return None for an engine larger than max_tp; reduce expert parallelism to max_ep."""
    if isinstance(layout, Roles):
        return layout
    if limits.max_tp is not None and layout.tp > limits.max_tp:
        return None
    if limits.max_ep is None:
        return layout
    if limits.max_ep <= 0:
        return None
    return replace(layout, ep=min(layout.ep or 1, limits.max_ep))


def _build_recipes(
    config: Config,
    search: SearchRow,
    layout: Parallelism | Roles,
    workload: FixedWorkload | AgenticWorkload,
    runners: Sequence[str],
) -> list[Recipe]:
    recipe = Recipe(
        image=config.image,
        model=config.model,
        model_prefix=config.model_prefix,
        precision=config.precision,
        framework=config.framework,
        runner=config.runner,
        spec_decoding=search.spec_decoding,
        layout=layout,
        workload=workload,
        disagg=config.disagg,
        router=search.router or config.router,
        kv_p2p_transfer=search.kv_p2p_transfer or config.kv_p2p_transfer,
        srt_recipe=_join_recipe(config, search.srt_recipe),
        eval_srt_recipe=_join_recipe(config, search.eval_srt_recipe),
        node_count=search.num_nodes,
        power=search.power,
    )
    return [recipe if runner == config.runner else replace(recipe, runner=runner) for runner in runners]


def _join_recipe(config: Config, name: str | None) -> str | None:
    return f"{config.srt_recipe_dir.rstrip('/')}/{name}" if name and config.srt_recipe_dir else name


def _check_power(config: Config, scenario: FixedScenario) -> None:
    if scenario.require_power and (scenario.isl, scenario.osl) != _POWER_SEQUENCE:
        message = (
            f"{config.key}: require-power is for 8192/1024 tokens, not for {scenario.isl}/{scenario.osl}."
        )
        raise ProblemsError(
            [Problem(rule="require-power", message=message, path=config.path, line=scenario.line)]
        )


def _find_budget(config: Config, scenario: AgenticScenario, search: SearchRow, inventory: Runners) -> int:
    """Return the DRAM per node for KV offload, in GB; 0 without offload."""
    if search.kv_offloading is not KvOffloading.DRAM:
        return 0
    hardware = inventory.hardware.get(config.runner)
    try:
        if scenario.dram_utilization is None:
            raise dram.BudgetError("dram-utilization is missing")
        if hardware is None:
            raise dram.BudgetError(f"{inventory.path} has no hardware record for {config.runner}")
        layout = _build_layout(search)
        if isinstance(layout, Roles):
            gpus = dram.count_per_node(layout.prefill, hardware)
        else:
            gpus = dram.count_single_node(layout, hardware)
        return dram.compute_budget(hardware, scenario.dram_utilization, gpus)
    except dram.BudgetError as error:
        message, hint = f"{config.key}: the DRAM budget cannot be computed. {error}.", None
        if scenario.dram_utilization is not None and (hardware is None or hardware.dram_mib is None):
            from infx.matrix.inventory import suggest_hardware

            hint = suggest_hardware(inventory)
        raise ProblemsError(
            [Problem(rule="dram-budget", message=message, path=config.path, line=search.line, hint=hint)]
        ) from None
