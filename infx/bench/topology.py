"""Count the GPUs and the nodes that a row uses."""

from __future__ import annotations

import math

from infx.bench.config import Hardware, Parallelism, Runners, Worker, hardware_of
from infx.bench.row import Recipe, Roles

USUAL_GPUS_PER_NODE = 8  # for a label without a record in the inventory
# Settings that state the nodes of the prefill and the decode workers; either role may carry both settings.
NODE_SETTINGS = ("PREFILL_NODES", "DECODE_NODES")


def count_gpus(recipe: Recipe) -> int:
    """Return the number of GPUs of all engines of the row."""
    if isinstance(recipe.layout, Parallelism):
        return recipe.layout.gpus
    return sum(role.num_worker * role.gpus for role in (recipe.layout.prefill, recipe.layout.decode))


def count_nodes(recipe: Recipe, runners: Runners) -> int:
    """Return the number of nodes that the row occupies.

    A number that the recipe or its settings state is used; otherwise every role fills whole nodes.
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
        for nodes, role in zip(read_stated_nodes(roles), roles, strict=True)
    )


def read_stated_nodes(roles: tuple[Worker, Worker]) -> tuple[int | None, ...]:
    """Return the numbers of nodes that the settings state for prefill and for decode."""
    settings = dict(
        setting.partition("=")[::2] for role in roles for setting in role.additional_settings or ()
    )
    return tuple(read_nodes(settings.get(name, "")) for name in NODE_SETTINGS)


def read_nodes(text: str) -> int | None:
    """Return the value of a setting in NODE_SETTINGS, or None if it is not from 1 to 99999."""
    return int(text) or None if text.isascii() and text.isdigit() and len(text) < 6 else None


def find_hardware(label: str, runners: Runners) -> Hardware | None:
    """Return the label's node, or one with the node size on which all records of its GPU family agree."""
    return runners.hardware.get(label) or runners.families.get(hardware_of(label))
