"""Configurations as the checks need them: flat, and so easy to save and compare."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from infx.bench.config import AgenticScenario, Config, FixedScenario, SearchRow, SpecDecoding
from infx.bench.identity import digest, hardware_of
from infx.bench.names import AGENTIC, scenarios_of

_RECIPE_SETTINGS = ("CONFIG_FILE=", "EVAL_CONFIG_FILE=")


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
        settings=digest(_settings(config)),
        points=digest([dataclasses.asdict(row.concurrency) for _, row in _searches(config)]),
        multinode=config.multinode,
        disagg=config.disagg,
        scenarios=scenarios_of(config),
        speculative=bool(drafting),
        agentic_speculative=any(isinstance(scenario, AgenticScenario) for scenario in drafting),
        recipes=tuple(sorted(_recipes(config))),
    )


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
