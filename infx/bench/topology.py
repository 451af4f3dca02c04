"""How much hardware a row takes: GPUs and nodes."""

from __future__ import annotations

import math

from infx.bench.config import Hardware, Parallelism, Runners, Worker
from infx.bench.identity import hardware_of
from infx.bench.row import Recipe, Roles

USUAL_GPUS_PER_NODE = 8  # of a label about which the inventory says nothing
# Settings that state how many nodes the prefill and the decode workers take, whichever role they stand at.
NODE_SETTINGS = ("PREFILL_NODES", "DECODE_NODES")


def count_gpus(recipe: Recipe) -> int:
    """GPUs that all engines of the row use together."""
    if isinstance(recipe.layout, Parallelism):
        return recipe.layout.gpus
    return sum(role.num_worker * role.gpus for role in (recipe.layout.prefill, recipe.layout.decode))


def count_nodes(recipe: Recipe, runners: Runners) -> int:
    """Nodes that the row occupies.

    A number that the recipe or its settings state counts as stated; else every role fills whole nodes.
    """
    if not isinstance(recipe.layout, Roles):
        return 1
    if recipe.node_count is not None:
        return recipe.node_count
    hardware = find_hardware(recipe.runner, runners)
    per_node = hardware.gpus_per_node if hardware else USUAL_GPUS_PER_NODE
    roles = (recipe.layout.prefill, recipe.layout.decode)
    return sum(
        nodes or math.ceil(role.num_worker * role.gpus / per_node)
        for nodes, role in zip(stated_nodes(roles), roles, strict=True)
    )


def stated_nodes(roles: tuple[Worker, Worker]) -> tuple[int | None, ...]:
    """Return the numbers of nodes that the settings of prefill and decode state for each."""
    settings = dict(
        setting.partition("=")[::2] for role in roles for setting in role.additional_settings or ()
    )
    return tuple(read_nodes(settings.get(name, "")) for name in NODE_SETTINGS)


def read_nodes(text: str) -> int | None:
    """The value of a setting in NODE_SETTINGS; None for what is no number of nodes from 1 to 99999."""
    return int(text) or None if text.isascii() and text.isdigit() and len(text) < 6 else None


def find_hardware(label: str, runners: Runners) -> Hardware | None:
    """One node of a runner label: its own record, else that of its GPU family if all clusters agree on it."""
    if label in runners.hardware:
        return runners.hardware[label]
    family = hardware_of(label)
    found = {record for name, record in runners.hardware.items() if hardware_of(name) == family}
    if len({record.gpus_per_node for record in found}) != 1:
        return None
    return Hardware(gpus_per_node=found.pop().gpus_per_node)
