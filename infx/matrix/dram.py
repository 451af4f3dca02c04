"""Compute how much of a node's memory KV offload may use, in exact decimals.

floor(min(node MiB, cap MiB) x 2^20 x utilization x GPUs used / GPUs per node / 10^9)   in GB per node
"""

from __future__ import annotations

from decimal import Decimal

from infx.bench.config import Hardware, Parallelism

# About 3 TB (decimal) per server: the cap for chassis without a standard memory size.
CAP_MIB = 2_861_022
_MIB = 1_048_576
_GB = 1_000_000_000


class BudgetError(ValueError):
    """Raised when a deployment does not fit its nodes; the message gives the reason."""


def compute_budget(hardware: Hardware, utilization: Decimal, gpus_used: int) -> int:
    """Return the budget of one node in decimal GB. Raises BudgetError if the node's memory is unknown."""
    if hardware.dram_mib is None:
        raise BudgetError("The inventory does not say how much DRAM a node has (available-cpu-dram-mib)")
    numerator, denominator = utilization.as_integer_ratio()
    bytes_shared = min(hardware.dram_mib, CAP_MIB) * _MIB * gpus_used * numerator
    return bytes_shared // (denominator * hardware.gpus_per_node * _GB)


def count_single_node(engine: Parallelism, hardware: Hardware) -> int:
    """Return how many GPUs of the node one engine uses."""
    if engine.gpus > hardware.gpus_per_node:
        raise BudgetError(f"The engine needs {engine.gpus} GPUs; a node has {hardware.gpus_per_node}")
    if hardware.gpus_per_node % engine.gpus:
        raise BudgetError(
            f"An engine of {engine.gpus} GPUs does not divide a node of {hardware.gpus_per_node} evenly"
        )
    return engine.gpus


def count_per_node(replica: Parallelism, hardware: Hardware) -> int:
    """Return how many GPUs of one node belong to a replica, which may span several nodes."""
    gpus, node = replica.gpus, hardware.gpus_per_node
    if gpus > node and gpus % node:
        raise BudgetError(f"A replica of {gpus} GPUs does not fill whole nodes of {node}")
    if gpus < node and node % gpus:
        raise BudgetError(f"A replica of {gpus} GPUs does not divide a node of {node} evenly")
    return min(gpus, node)
