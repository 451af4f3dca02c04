"""Rules between the fields of one configuration.

Each rule is a function from a configuration, a scenario or a row to its findings; the tables at the end give
each rule the id of its problems. No rule needs a runner inventory or another configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from infx.bench.config import Config, FixedScenario, KvOffloading, ScenarioType, SearchRow
from infx.matrix.image import find_image_fault
from infx.matrix.row_rules import ROW_RULES, Scenario
from infx.records import replace
from infx.rules import Finding, Path, Rule, find_all
from infx.schema import state_problem as state_problem  # noqa: PLC0414 - checks of configurations use both

POWER_LENGTHS = (8192, 1024)  # isl and osl for which power can be required


def check_config(config: Config) -> Iterator[Finding[Path]]:
    """Yield all findings about one configuration, without the inventory and other configurations."""
    yield from _extend_paths((config.key,), find_all(CONFIG_RULES, config))
    for at, scenario in iterate_scenarios(config):
        yield from _extend_paths(at, find_all(SCENARIO_RULES, scenario))
        for row in scenario.search_space:
            yield from _extend_paths(row_path(at, row), find_all(ROW_RULES, row, config, scenario))


def iterate_scenarios(config: Config) -> Iterator[tuple[Path, Scenario]]:
    """Yield each scenario with its path from the top of the file."""
    for fixed in config.fixed:
        yield (config.key, "scenarios", ScenarioType.FIXED.value, fixed.index), fixed
    for agentic in config.agentic:
        yield (config.key, "scenarios", ScenarioType.AGENTIC.value, agentic.index), agentic


def row_path(scenario_at: Path, row: SearchRow) -> Path:
    return (*scenario_at, "search-space", row.index)


def iterate_rows(config: Config) -> Iterator[SearchRow]:
    for _, scenario in iterate_scenarios(config):
        yield from scenario.search_space


def _extend_paths(top: Path, findings: Iterable[Finding[Path]]) -> Iterator[Finding[Path]]:
    """Yield the findings with their paths extended to the top of the file."""
    for finding in findings:
        yield replace(finding, at=(*top, *finding.at))


def _find_wrong_image(config: Config) -> Iterator[Finding[Path]]:
    if fault := find_image_fault(config.image):
        message, hint = fault
        yield Finding(at=("image",), message=f'found "{config.image}"; {message}', hint=hint)


def _find_nothing_to_measure(config: Config) -> Iterator[Finding[Path]]:
    if not config.fixed and not config.agentic:
        yield Finding(
            at=("scenarios",),
            message="nothing to measure; expected at least one scenario under fixed-seq-len or agentic-coding",
        )


def _find_single_node_disagg(config: Config) -> Iterator[Finding[Path]]:
    if config.disagg and not config.multinode:
        yield Finding(
            at=("disagg",),
            message="found true; a configuration with multinode: false runs prefill and decode together",
            hint="Set multinode: true or remove disagg.",
        )


def _find_single_node_transfer(config: Config) -> Iterator[Finding[Path]]:
    if config.kv_p2p_transfer is not None and not config.multinode:
        yield Finding(
            at=("kv-p2p-transfer",),
            message="a single node does not transfer KV cache; expected only with multinode: true",
            hint="Remove it.",
        )


def _find_missing_transfer(config: Config) -> Iterator[Finding[Path]]:
    """Find a disaggregated configuration without a transfer engine."""
    if not (config.disagg and config.multinode) or config.kv_p2p_transfer is not None:
        return
    rows = list(iterate_rows(config))
    lacking = [row for row in rows if row.kv_p2p_transfer is None]
    if not lacking:
        return
    if len(lacking) == len(rows):
        yield Finding(
            at=(),
            message="disagg: true needs kv-p2p-transfer, here or on every row",
            hint="Name the transfer engine, such as kv-p2p-transfer: nixl.",
        )
        return
    for at, scenario in iterate_scenarios(config):
        for row in scenario.search_space:
            if row.kv_p2p_transfer is None:
                yield Finding(
                    at=row_path(at[1:], row),
                    message="kv-p2p-transfer is missing; with disagg: true it is required on every row or at the top",
                    hint="Name the transfer engine on this row too, or once at the top.",
                )


def _find_router_at_both_levels(config: Config) -> Iterator[Finding[Path]]:
    if config.router is not None:
        lines = [row.line for row in iterate_rows(config) if row.router is not None]
        yield from _find_both_levels("router", lines)


def _find_transfer_at_both_levels(config: Config) -> Iterator[Finding[Path]]:
    if config.kv_p2p_transfer is not None and config.multinode:
        lines = [row.line for row in iterate_rows(config) if row.kv_p2p_transfer is not None]
        yield from _find_both_levels("kv-p2p-transfer", lines)


def _find_both_levels(name: str, lines: list[int]) -> Iterator[Finding[Path]]:
    if lines:
        rows = f"the row on line {lines[0]}" if len(lines) == 1 else f"rows on lines {_list_lines(lines)}"
        yield Finding(
            at=(name,),
            message=f"is set here and on {rows}; expected at one level",
            hint="Keep it at the top if all rows share it, else give each row its own.",
        )


def _find_agentic_runner(config: Config) -> Iterator[Finding[Path]]:
    if config.agentic and not config.runner.startswith("cluster:"):
        yield Finding(
            at=("runner",),
            message=f'found "{config.runner}"; AgentX needs a cluster:<id> label, because its memory budget '
            "is that of one cluster's nodes",
            hint="Use the label of a cluster.",
        )


def _find_power_lengths(scenario: Scenario) -> Iterator[Finding[Path]]:
    if isinstance(scenario, FixedScenario) and scenario.require_power:
        lengths = (scenario.isl, scenario.osl)
        if lengths != POWER_LENGTHS:
            yield Finding(
                at=("require-power",),
                message=f"power can be required for isl 8192 and osl 1024 only; found isl {lengths[0]} and "
                f"osl {lengths[1]}",
                hint="Remove it.",
            )


def _find_missing_utilization(scenario: Scenario) -> Iterator[Finding[Path]]:
    if isinstance(scenario, FixedScenario) or scenario.dram_utilization is not None:
        return
    lines = [row.line for row in scenario.search_space if row.kv_offloading is KvOffloading.DRAM]
    if lines:
        where = "line" if len(lines) == 1 else "lines"
        yield Finding(
            at=(),
            message=f"dram-utilization is missing; kv-offloading: dram on {where} {_list_lines(lines)} needs it",
            hint="Give the share of a node's DRAM that may be used, such as dram-utilization: 0.80.",
        )


def _list_lines(lines: list[int]) -> str:
    return ", ".join(map(str, lines))


CONFIG_RULES: tuple[Rule[[Config], Path], ...] = (
    Rule(id="image-reference", check=_find_wrong_image),
    Rule(id="scenarios-empty", check=_find_nothing_to_measure),
    Rule(id="disagg-single-node", check=_find_single_node_disagg),
    Rule(id="transfer-single-node", check=_find_single_node_transfer),
    Rule(id="transfer-missing", check=_find_missing_transfer),
    Rule(id="transfer-scope", check=_find_transfer_at_both_levels),
    Rule(id="router-scope", check=_find_router_at_both_levels),
    Rule(id="agentic-runner", check=_find_agentic_runner),
)

SCENARIO_RULES: tuple[Rule[[Scenario], Path], ...] = (
    Rule(id="power-lengths", check=_find_power_lengths),
    Rule(id="dram-utilization-missing", check=_find_missing_utilization),
)
