"""Rows and configurations as the checks need them: flat, and so easy to save and compare."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from infx.bench.config import AgenticScenario, Config, FixedScenario, KvOffloading, SearchRow, SpecDecoding
from infx.bench.family import family_of
from infx.bench.jobs import describe_row
from infx.bench.names import AGENTIC, name_sequence
from infx.bench.row import AgenticWorkload, FixedWorkload, Roles, Row, render_recipe

_RECIPE_SETTINGS = ("CONFIG_FILE=", "EVAL_CONFIG_FILE=")


@dataclass(frozen=True, kw_only=True)
class PlannedRow:
    """One job of a plan. scenario: `8k1k`, `agentic`, …. recipe: digest of all it has but the concurrency.

    evaluated: concurrencies whose accuracy is measured, empty for a throughput row. hardware: of the prefill and
    decode roles where they name one.
    """

    id: str
    family: str
    text: str
    image: str
    model: str
    model_prefix: str
    precision: str
    framework: str
    runner: str
    scenario: str
    spec_decoding: str
    conc: tuple[int, ...]
    recipe: str
    disagg: bool = False
    offload: bool = False
    evaluated: tuple[int, ...] = ()
    hardware: tuple[str, ...] = ()

    @property
    def is_agentic(self) -> bool:
        return self.scenario == AGENTIC

    @property
    def series(self) -> tuple[object, ...]:
        """The curve in a chart that the row is a point of."""
        spec = "" if self.is_agentic else self.spec_decoding
        return (
            self.model, self.model_prefix, self.precision, self.runner, self.framework, self.disagg,
            self.scenario, self.offload, spec, self.hardware,
        )  # fmt: skip


def describe_planned(row_id: str, row: Row) -> PlannedRow:
    recipe = row.recipe
    workload = recipe.workload
    return PlannedRow(
        id=row_id,
        family=family_of(row),
        text=describe_row(row),
        image=recipe.image,
        model=recipe.model,
        model_prefix=recipe.model_prefix,
        precision=recipe.precision,
        framework=recipe.framework,
        runner=recipe.runner,
        scenario=name_sequence(workload.isl, workload.osl)
        if isinstance(workload, FixedWorkload)
        else AGENTIC,
        spec_decoding=recipe.spec_decoding.value,
        conc=row.conc,
        recipe=_digest(render_recipe(recipe)),
        disagg=recipe.disagg,
        offload=_offloads(workload),
        evaluated=_evaluated(row),
        hardware=_hardware(recipe.layout),
    )


def _offloads(workload: FixedWorkload | AgenticWorkload) -> bool:
    return isinstance(workload, AgenticWorkload) and workload.kv_offloading is not KvOffloading.NONE


def _evaluated(row: Row) -> tuple[int, ...]:
    if not row.eval_only:
        return ()
    return (row.eval_conc,) if row.eval_conc is not None and not row.eval_all_concs else row.conc


def _hardware(layout: object) -> tuple[str, ...]:
    if not isinstance(layout, Roles):
        return ()
    return tuple(worker.hardware for worker in (layout.prefill, layout.decode) if worker.hardware)


@dataclass(frozen=True, kw_only=True)
class KnownConfig:
    """A configuration of the target branch, as far as the order of engines needs it."""

    key: str
    model_prefix: str
    framework: str
    runner: str

    @property
    def hardware(self) -> str:
        return hardware_of(self.runner)


@dataclass(frozen=True, kw_only=True)
class ConfigState:
    """One configuration at one revision. line: of its key; where it stands makes no difference.

    settings: digest of everything but the concurrencies. points: digest of those. recipes: recipe files that it names.
    speculative, agentic_speculative: whether any search space, or any AgentX one, drafts tokens.
    """

    path: str
    line: int = field(compare=False)
    image: str
    model: str
    model_prefix: str
    precision: str
    framework: str
    runner: str
    settings: str
    points: str = ""
    multinode: bool = False
    disagg: bool = False
    scenarios: tuple[str, ...] = ()
    speculative: bool = False
    agentic_speculative: bool = False
    recipes: tuple[str, ...] = ()

    @property
    def hardware(self) -> str:
        return hardware_of(self.runner)

    @property
    def is_agentic(self) -> bool:
        return AGENTIC in self.scenarios


@dataclass(frozen=True, kw_only=True)
class ConfigChange:
    """A configuration that the pull request changes or that its changelog entries name.

    before: on the target branch, after: at the head; None where it does not exist.
    """

    key: str
    before: ConfigState | None = None
    after: ConfigState | None = None

    @property
    def adds_points_only(self) -> bool:
        """Nothing but concurrencies differ."""
        return (
            self.before is not None and self.after is not None and self.before.settings == self.after.settings
        )


def describe_config(config: Config) -> ConfigState:
    drafting = [scenario for scenario, row in _searches(config) if row.spec_decoding is not SpecDecoding.NONE]
    return ConfigState(
        path=config.path,
        line=config.line,
        image=config.image,
        model=config.model,
        model_prefix=config.model_prefix,
        precision=config.precision,
        framework=config.framework,
        runner=config.runner,
        settings=_digest(_settings(config)),
        points=_digest([dataclasses.asdict(row.concurrency) for _, row in _searches(config)]),
        multinode=config.multinode,
        disagg=config.disagg,
        scenarios=_scenarios(config),
        speculative=bool(drafting),
        agentic_speculative=any(isinstance(scenario, AgenticScenario) for scenario in drafting),
        recipes=tuple(sorted(_recipes(config))),
    )


def hardware_of(runner: str) -> str:
    """`b200` of `cluster:b200-nv`, `h200` of `h200-dgxc`."""
    return runner.removeprefix("cluster:").partition("-")[0].lower()


def _scenarios(config: Config) -> tuple[str, ...]:
    fixed = [name_sequence(scenario.isl, scenario.osl) for scenario in config.fixed]
    return tuple(dict.fromkeys([*fixed, *([AGENTIC] if config.agentic else [])]))


def _recipes(config: Config) -> set[str]:
    """Files by their path in the repository, without the selector behind a colon."""
    found: set[str] = set()
    folder = f"{config.srt_recipe_dir.rstrip('/')}/" if config.srt_recipe_dir else ""
    for _, row in _searches(config):
        for name in (row.srt_recipe, row.eval_srt_recipe):
            if name:
                found.add(folder + name.partition(":")[0])
        for worker in (row.worker, row.prefill, row.decode):
            for setting in (worker.additional_settings or ()) if worker else ():
                if setting.startswith(_RECIPE_SETTINGS):
                    found.add(setting.partition("=")[2].partition(":")[0])
    return found


def _searches(config: Config) -> list[tuple[FixedScenario | AgenticScenario, SearchRow]]:
    fixed = [(scenario, row) for scenario in config.fixed for row in scenario.search_space]
    return [*fixed, *((scenario, row) for scenario in config.agentic for row in scenario.search_space)]


def _settings(config: Config) -> Any:
    """Everything that a configuration says, without concurrencies and places."""
    values = dataclasses.asdict(config)
    for name in ("path", "line", "key"):
        values.pop(name)
    for scenario in (*values["fixed"], *values["agentic"]):
        scenario.pop("line")
        for row in scenario["search_space"]:
            for name in ("line", "index", "concurrency"):
                row.pop(name)
    return values


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
