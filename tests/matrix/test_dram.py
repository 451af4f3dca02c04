from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from infx.bench.config import Hardware, Parallelism
from infx.bench.row import AgenticWorkload
from infx.errors import ProblemsError
from infx.matrix.dram import BudgetError, compute_budget, count_per_node, count_single_node
from infx.matrix.expand import expand_config
from tests.matrix.inputs import agentic, load, multi_agentic, pair

EIGHT, FOUR = Hardware(gpus_per_node=8, dram_mib=3_095_781), Hardware(gpus_per_node=4, dram_mib=860_160)


@pytest.mark.parametrize(
    ("hardware", "share", "gpus", "budget"),
    [
        (EIGHT, "0.80", 8, 2399),  # capped at 2,861,022 MiB
        (EIGHT, "0.14", 4, 209),
        (FOUR, "0.609524", 4, 549),
        (FOUR, "0.857143", 4, 773),
        (FOUR, "0.666667", 4, 601),
        (FOUR, "0.4", 4, 360),
        (Hardware(gpus_per_node=8, dram_mib=3_977_095), "0.75", 8, 2249),
        (Hardware(gpus_per_node=8, dram_mib=3_977_095), "0.064", 8, 191),
    ],
)
def test_budget(hardware: Hardware, share: str, gpus: int, budget: int) -> None:
    assert compute_budget(hardware, Decimal(share), gpus) == budget


@pytest.mark.parametrize(
    ("engine", "gpus"),
    [
        (Parallelism(tp=8), 4),  # a replica on two nodes fills both
        (Parallelism(tp=2, pp=2), 4),
        (Parallelism(tp=2, dcp_size=2), 2),  # decode context parallelism shares its GPUs
        (Parallelism(tp=1, pcp_size=2), 2),
    ],
)
def test_gpus_of_a_replica_on_one_node(engine: Parallelism, gpus: int) -> None:
    assert count_per_node(engine, FOUR) == gpus


@pytest.mark.parametrize(("tp", "words"), [(6, "does not fill whole nodes"), (3, "does not divide a node")])
def test_a_replica_that_shares_nodes_unevenly(tp: int, words: str) -> None:
    with pytest.raises(BudgetError, match=words):
        count_per_node(Parallelism(tp=tp), FOUR)


def test_an_engine_larger_than_its_node() -> None:
    with pytest.raises(BudgetError, match="needs 8 GPUs; a node has 4"):
        count_single_node(Parallelism(tp=8), FOUR)


DRAM = "kv-offloading: dram, kv-offload-backend: {name: mooncake}"


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        (agentic("a", f"{{tp: 4, {DRAM}, conc-list: [1]}}", dram="0.14"), 209),
        (agentic("a", "{tp: 8, kv-offloading: none, conc-list: [1]}", dram="0.8"), 0),
        (
            multi_agentic(
                "a", pair("[1]", "num-worker: 2, tp: 8").replace("{conc", f"{{{DRAM}, conc"), dram="0.857143"
            ),
            773,
        ),
    ],
)
def test_budget_in_rows(text: str, budget: int) -> None:
    """Only one replica of prefill counts."""
    inputs = load(text)
    (row,) = expand_config(inputs.configs["a"], inputs.runners)
    assert isinstance(row.recipe.workload, AgenticWorkload)
    assert row.recipe.workload.total_cpu_dram_gb == budget


def test_a_budget_is_computed_before_points_are_filtered() -> None:
    from infx.matrix.concurrency import Bounds
    from infx.matrix.expand import ExpansionLimits

    inputs = load(
        agentic("a", f"{{tp: 16, {DRAM}, conc-list: [1]}}"),
        agentic("b", f"{{tp: 4, {DRAM}, conc-list: [1]}}"),
    )
    limits = ExpansionLimits(bounds=Bounds(minimum=100))
    assert expand_config(inputs.configs["b"], inputs.runners, limits) == []
    with pytest.raises(ProblemsError, match=r"nvidia-master.yaml:\d+: a: .*16 GPUs; a node has 8"):
        expand_config(inputs.configs["a"], inputs.runners, limits)


def test_a_label_without_hardware_has_no_budget() -> None:
    inputs = load(agentic("a", f"{{tp: 4, {DRAM}, conc-list: [1]}}", runner="cluster:h200-b"))
    with pytest.raises(ProblemsError, match="no hardware record for cluster:h200-b") as error:
        expand_config(inputs.configs["a"], inputs.runners)
    wanted = "Add it there, or use a label that has one: cluster:gb200-a and cluster:h200-a."
    assert error.value.problems[0].hint == wanted


def test_a_label_with_unknown_memory_is_not_suggested() -> None:
    inputs = load(agentic("a", f"{{tp: 4, {DRAM}, conc-list: [1]}}", runner="cluster:h200-b"))
    records = {**inputs.runners.hardware, "cluster:h200-a": Hardware(gpus_per_node=8)}
    with pytest.raises(ProblemsError) as error:
        expand_config(inputs.configs["a"], replace(inputs.runners, hardware=records))
    assert error.value.problems[0].hint == "Add it there, or use a label that has one: cluster:gb200-a."
