"""Describe configurations for the checks: flat values that are easy to save and compare."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Any

from infx.bench.config import AgenticScenario, Config, FixedScenario, SearchRow, SpecDecoding
from infx.bench.identity import digest, hardware_of
from infx.bench.names import AGENTIC, scenarios_of
from infx.records import record

_RECIPE_SETTINGS = ("CONFIG_FILE=", "EVAL_CONFIG_FILE=")


@record
class KnownConfig:
    """A configuration of the base branch, with the fields that decide the order of engines."""

    key: str
    model_prefix: str
    framework: str
    runner: str

    @property
    def hardware(self) -> str:
        return hardware_of(self.runner)


@record
class ConfigState:
    """One configuration at one revision."""

    path: str
    line: int = field(compare=False)  # of its key; a moved configuration is unchanged
    image: str
    model: str
    model_prefix: str
    precision: str
    framework: str
    runner: str
    settings: str  # digest of everything but the concurrencies
    points: str = ""  # digest of the concurrencies
    multinode: bool = False
    disagg: bool = False
    scenarios: tuple[str, ...] = ()
    speculative: bool = False  # some search space drafts tokens
    agentic_speculative: bool = False  # some AgentX search space drafts tokens
    recipes: tuple[str, ...] = ()  # recipe files that it names

    @property
    def hardware(self) -> str:
        return hardware_of(self.runner)

    @property
    def is_agentic(self) -> bool:
        return AGENTIC in self.scenarios


@record
class ConfigChange:
    """A configuration that the pull request changes or that its changelog entries name."""

    key: str
    before: ConfigState | None = None  # on the base branch; None if it does not exist there
    after: ConfigState | None = None  # at the head; None if it does not exist there

    @property
    def adds_points_only(self) -> bool:
        """Return whether only concurrencies differ."""
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
        settings=digest(_settings(config)),
        points=digest([dataclasses.asdict(row.concurrency) for _, row in _searches(config)]),
        multinode=config.multinode,
        disagg=config.disagg,
        scenarios=scenarios_of(config),
        speculative=bool(drafting),
        agentic_speculative=any(isinstance(scenario, AgenticScenario) for scenario in drafting),
        recipes=tuple(sorted(_find_recipes(config))),
    )


def _find_recipes(config: Config) -> set[str]:
    """Return the paths of the recipe files in the repository, without the selector after a colon."""
    paths: set[str] = set()
    folder = f"{config.srt_recipe_dir.rstrip('/')}/" if config.srt_recipe_dir else ""
    for _, row in _searches(config):
        for name in (row.srt_recipe, row.eval_srt_recipe):
            if name:
                paths.add(folder + name.partition(":")[0])
        for worker in (row.worker, row.prefill, row.decode):
            for setting in (worker.additional_settings or ()) if worker else ():
                if setting.startswith(_RECIPE_SETTINGS):
                    paths.add(setting.partition("=")[2].partition(":")[0])
    return paths


def _searches(config: Config) -> list[tuple[FixedScenario | AgenticScenario, SearchRow]]:
    fixed = [(scenario, row) for scenario in config.fixed for row in scenario.search_space]
    return [*fixed, *((scenario, row) for scenario in config.agentic for row in scenario.search_space)]


def _settings(config: Config) -> Any:
    """Return all settings of a configuration without concurrencies and places."""
    values = dataclasses.asdict(config)
    for name in ("path", "line", "key", "silenced"):
        values.pop(name)
    for scenario in (*values["fixed"], *values["agentic"]):
        scenario.pop("line")
        for row in scenario["search_space"]:
            for name in ("line", "index", "concurrency"):
                row.pop(name)
    return values
