"""Check a configuration against the runner inventory."""

from __future__ import annotations

from collections.abc import Iterator

from infx.bench.config import AgenticScenario, Config, Hardware, KvOffloading, Runners, SearchRow
from infx.bench.topology import find_hardware, read_stated_nodes
from infx.errors import suggest
from infx.matrix.dram import BudgetError, count_per_node, count_single_node
from infx.matrix.rules import iterate_scenarios, row_path
from infx.phrases import count, join_words
from infx.rules import Finding, Path

UNKNOWN_RUNNER = "runner-label-unknown"
_SHOWN_LABELS = 20


def check_inventory(config: Config, runners: Runners) -> Iterator[Finding[Path]]:
    """Check that the label exists, its nodes hold the engines, and their memory is known if rows offload."""
    yield from find_unserved_rows(config, runners)
    if config.runner in runners.labels:
        yield from _check_memory(config, runners)


def find_unserved_rows(config: Config, runners: Runners) -> Iterator[Finding[Path]]:
    """Yield the rows whose jobs would find no runner, or nodes too small for their engines.

    Nodes that the inventory does not describe pass.
    """
    if unknown := find_unknown_runner(config, runners):
        yield unknown
    elif hardware := find_hardware(config.runner, runners):
        for at, scenario in iterate_scenarios(config):
            for row in scenario.search_space:
                if row.engine is not None and row.engine.gpus <= hardware.gpus_per_node:
                    continue
                if misfit := _find_oversize(row, config.runner, hardware.gpus_per_node):
                    message, hint = misfit
                    yield Finding(rule="node-size", at=row_path(at, row), message=message, hint=hint)


def _find_oversize(row: SearchRow, label: str, per_node: int) -> tuple[str, str] | None:
    """Return a message and a hint if a row needs more GPUs than its nodes have."""
    for name, gpus, nodes in _iterate_demands(row):
        if gpus > nodes * per_node:
            engines = f"{name} takes" if name else "the engine takes"
            have = f"a node of {label} has" if nodes == 1 else f"{count(nodes, 'node')} of {label} have"
            hint = "Lower tp, pp or pcp-size" + (
                ", or state more nodes." if name else ", or set multinode: true."
            )
            return f"{engines} {count(gpus, 'GPU')}; {have} {nodes * per_node}", hint
    return None


def _iterate_demands(row: SearchRow) -> Iterator[tuple[str, int, int]]:
    """Yield (role, its GPUs, its stated nodes); a role without a stated number has enough nodes."""
    if row.engine is not None:
        yield "", row.engine.gpus, 1
    elif row.worker is not None and row.num_nodes is not None:
        yield "worker", row.worker.num_worker * row.worker.gpus, row.num_nodes
    elif row.prefill is not None and row.decode is not None:
        stated = read_stated_nodes((row.prefill, row.decode))
        for name, role, nodes in zip(("prefill", "decode"), (row.prefill, row.decode), stated, strict=True):
            if nodes is not None and role.hardware is None:  # a role with its own hardware has other nodes
                yield name, role.num_worker * role.gpus, nodes


def find_unknown_runner(config: Config, runners: Runners) -> Finding[Path] | None:
    """Return a finding if no runner has the configuration's label."""
    # GitHub would cancel such a job after a day of waiting.
    if config.runner in runners.labels:
        return None
    return Finding(
        rule=UNKNOWN_RUNNER,
        at=(config.key, "runner"),
        message=f'{runners.path} has no runner label "{config.runner}"',
        hint=suggest_label(config.runner, runners),
    )


def suggest_label(label: str, runners: Runners) -> str:
    """Return a hint that proposes a known label."""
    # The most common mistake is a cluster's name without `cluster:`.
    if f"cluster:{label}" in runners.labels:
        return f"Did you mean cluster:{label}?"
    return suggest(label, runners.labels) or f"Name a label of {runners.path}."


def _check_memory(config: Config, runners: Runners) -> Iterator[Finding[Path]]:
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
        yield Finding(
            rule="dram-hardware-missing",
            at=(config.key, "runner"),
            message=f'"{config.runner}" has no {lacking} in {runners.path}; kv-offloading: dram on line '
            f"{offloading[0][1].line} needs it for its memory budget",
            hint=suggest_hardware(runners),
        )
        return
    for at, row in offloading:
        if misfit := _find_misfit(row, hardware):
            yield Finding(rule="dram-footprint", at=at, message=misfit)


def suggest_hardware(runners: Runners) -> str:
    """Return a hint that names the labels whose nodes have a known memory size."""
    known = sorted(
        label for label, record in runners.hardware.items() if record.dram_mib and label in runners.labels
    )
    if not known:
        return "Add it there; no label has one."
    return f"Add it there, or use a label that has one: {join_words(known, limit=_SHOWN_LABELS)}."


def _find_misfit(row: SearchRow, hardware: Hardware) -> str | None:
    """Return why the row's share of a node's memory cannot be computed, or None if it can."""
    replica = row.worker or row.prefill
    try:
        if replica is not None:
            count_per_node(replica, hardware)
        elif row.engine is not None and row.engine.gpus <= hardware.gpus_per_node:  # else already reported
            count_single_node(row.engine, hardware)
    except BudgetError as error:
        text = str(error).rstrip(".")
        return text[0].lower() + text[1:]
    return None
