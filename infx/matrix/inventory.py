"""What a configuration demands of the runners that it names."""

from __future__ import annotations

from collections.abc import Iterator

from infx.errors import suggest
from infx.matrix.config import AgenticScenario, Config, Hardware, KvOffloading, Runners, SearchRow
from infx.matrix.dram import BudgetError, count_per_node, count_single_node
from infx.matrix.row_rules import Finding
from infx.matrix.rules import Found, iterate_scenarios, row_path

UNKNOWN_RUNNER = "runner-label-unknown"


def check_inventory(config: Config, runners: Runners) -> Iterator[Found]:
    """The label must exist; where KV cache goes to DRAM, its nodes must be known and the engines fit them."""
    if unknown := find_unknown_runner(config, runners):
        yield unknown
    else:
        yield from _check_memory(config, runners)


def find_unknown_runner(config: Config, runners: Runners) -> Found | None:
    """A job with a label that no runner has waits for a day and is then cancelled."""
    if config.runner in runners.labels:
        return None
    finding = Finding(
        message=f'{runners.path} has no runner label "{config.runner}"',
        hint=suggest_label(config.runner, runners),
    )
    return Found(rule=UNKNOWN_RUNNER, finding=finding, at=(config.key, "runner"))


def suggest_label(label: str, runners: Runners) -> str:
    """A cluster's name without `cluster:` before it is the commonest slip."""
    if f"cluster:{label}" in runners.labels:
        return f"Did you mean cluster:{label}?"
    return suggest(label, runners.labels) or f"Name a label of {runners.path}."


def _check_memory(config: Config, runners: Runners) -> Iterator[Found]:
    offloading = [
        (row_path(at, row), row)
        for at, scenario in iterate_scenarios(config)
        if isinstance(scenario, AgenticScenario)
        for row in scenario.search_space
        if row.kv_offloading is KvOffloading.DRAM
    ]
    if not offloading:
        return
    hardware = runners.hardware.get(config.runner)
    if hardware is None or hardware.dram_mib is None:
        lacking = "hardware record" if hardware is None else "available-cpu-dram-mib"
        finding = Finding(
            message=f'"{config.runner}" has no {lacking} in {runners.path}; kv-offloading: dram on line '
            f"{offloading[0][1].line} needs it for its memory budget",
            hint="Add it there.",
        )
        yield Found(rule="dram-hardware-missing", finding=finding, at=(config.key, "runner"))
        return
    for at, row in offloading:
        if misfit := _find_misfit(row, hardware):
            yield Found(rule="dram-footprint", finding=Finding(message=misfit), at=at)


def _find_misfit(row: SearchRow, hardware: Hardware) -> str | None:
    """Why the GPUs of a row are no definite share of a node's memory."""
    replica = row.worker or row.prefill
    try:
        if replica is not None:
            count_per_node(replica, hardware)
        elif row.engine is not None:
            count_single_node(row.engine, hardware)
    except BudgetError as error:
        text = str(error).rstrip(".")
        return text[0].lower() + text[1:]
    return None
