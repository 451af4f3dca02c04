"""Check the rows of a plan by the rules of configurations, because another program may have made the plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from infx.bench.config import (
    AgenticScenario,
    Concurrency,
    Config,
    FixedScenario,
    Parallelism,
    Runners,
    SearchRow,
)
from infx.bench.family import places_of
from infx.bench.row import AgenticWorkload, FixedWorkload, Recipe, Row
from infx.errors import Problem
from infx.matrix.inventory import UNKNOWN_RUNNER, check_inventory
from infx.matrix.rules import check_config
from infx.rules import Finding, Path


def check_rows(rows: Sequence[Row], runners: Runners, path: str) -> list[Problem]:
    """Return what `infx config check` would refuse in the configurations of these rows, once for each recipe.

    Rows with a label that no runner has pass, because the planner only warns about them.
    """
    first: dict[Recipe, tuple[str, Row]] = {}
    for place, row in zip(places_of(rows), rows, strict=True):
        first.setdefault(row.recipe, (place, row))
    return [
        Problem(
            rule=found.rule,
            message=f"{place}: {found.message}.",
            path=path,
            hint=found.hint,
        )
        for recipe, (place, row) in first.items()
        for found in _check_recipe(recipe, row.conc, runners)
    ]


def _check_recipe(recipe: Recipe, conc: tuple[int, ...], runners: Runners) -> Iterator[Finding[Path]]:
    config = _as_config(recipe, conc)
    yield from check_config(config)
    yield from (found for found in check_inventory(config, runners) if found.rule != UNKNOWN_RUNNER)


def _as_config(recipe: Recipe, conc: tuple[int, ...]) -> Config:
    """Return the configuration that has only this row."""
    workload = recipe.workload
    fixed: tuple[FixedScenario, ...] = ()
    agentic: tuple[AgenticScenario, ...] = ()
    if isinstance(workload, FixedWorkload):
        row = _as_search_row(recipe, conc)
        fixed = (
            FixedScenario(
                isl=workload.isl,
                osl=workload.osl,
                search_space=(row,),
                line=1,
                require_power=workload.require_power,
            ),
        )
    else:
        share = Decimal(1)  # any valid share: the row's budget already includes the original one
        agentic = (
            AgenticScenario(search_space=(_as_search_row(recipe, conc),), line=1, dram_utilization=share),
        )
    return Config(
        key="row",
        image=recipe.image,
        model=recipe.model,
        model_prefix=recipe.model_prefix,
        precision=recipe.precision,
        framework=recipe.framework,
        runner=recipe.runner,
        multinode=recipe.is_multinode,
        path="",
        line=1,
        disagg=recipe.disagg,
        fixed=fixed,
        agentic=agentic,
    )


def _as_search_row(recipe: Recipe, conc: tuple[int, ...]) -> SearchRow:
    layout = recipe.layout
    workload = recipe.workload if isinstance(recipe.workload, AgenticWorkload) else None
    return SearchRow(
        index=0,
        line=1,
        concurrency=Concurrency(values=conc),
        spec_decoding=recipe.spec_decoding,
        engine=layout if isinstance(layout, Parallelism) else None,
        prefill=None if isinstance(layout, Parallelism) else layout.prefill,
        decode=None if isinstance(layout, Parallelism) else layout.decode,
        router=recipe.router,
        kv_p2p_transfer=recipe.kv_p2p_transfer,
        kv_offloading=workload.kv_offloading if workload else None,
        kv_offload_backend=workload.kv_offload_backend if workload else None,
        srt_recipe=recipe.srt_recipe,
        eval_srt_recipe=recipe.eval_srt_recipe,
        power=recipe.power,
    )
