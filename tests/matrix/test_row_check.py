"""Rows of a plan from another program are checked by the rules of configurations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infx.bench.config import Hardware, Parallelism, Runners
from infx.bench.family import read_rows
from infx.bench.row import AgenticWorkload, Recipe, Roles, render_row
from infx.errors import InfxError
from infx.matrix.row_check import check_rows
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

RUNNERS = Runners(
    labels={"cluster:h200-a": ("a_0",)},
    hardware={"cluster:h200-a": Hardware(gpus_per_node=8, dram_mib=2_000_000)},
    path="r.yaml",
)


def prefill(**values: Any) -> Recipe:
    assert isinstance(DISAGG.layout, Roles)
    return replace(DISAGG, layout=replace(DISAGG.layout, prefill=replace(DISAGG.layout.prefill, **values)))


def agentic(**values: Any) -> Recipe:
    assert isinstance(AGENTIC.workload, AgenticWorkload)
    return replace(AGENTIC, workload=replace(AGENTIC.workload, **values))


@pytest.mark.parametrize("recipe", [FIXED, AGENTIC, DISAGG, replace(DISAGG, workload=AGENTIC.workload)])
def test_rows_from_the_planner_have_no_problems(recipe: Recipe) -> None:
    assert check_rows([row(recipe), row(recipe, 8, eval_only=True)], RUNNERS, "plan.json") == []


@pytest.mark.parametrize(
    ("recipe", "rule"),
    [
        (prefill(hardware="h200"), "hardware-roles"),
        (prefill(dcp_size=3), "dcp-size"),
        (prefill(additional_settings=("LD_PRELOAD=a.so",)), "settings-reserved"),
        (prefill(additional_settings=("PREFILL_NODES=many",)), "settings-nodes"),
        (prefill(additional_settings=("PREFILL_NODES=1",)), "node-size"),  # for two engines of 8 GPUs
        (replace(FIXED, image="lmsysorg/sglang: v1"), "image-reference"),
        (replace(FIXED, layout=Parallelism(tp=16)), "node-size"),
        (replace(FIXED, layout=Parallelism(tp=8, dcp_size=3)), "dcp-size"),
        (replace(FIXED, power=True), "power-single-node"),
        (replace(AGENTIC, runner="h200"), "agentic-runner"),
        (replace(AGENTIC, layout=Parallelism(tp=5)), "dram-footprint"),
        (agentic(kv_offload_backend=None), "offload-backend-missing"),
        (replace(DISAGG, kv_p2p_transfer=None), "transfer-missing"),
    ],
)
def test_a_plan_with_a_row_that_config_check_refuses_is_refused(recipe: Recipe, rule: str) -> None:
    """A problem is reported once for each recipe, at its first row."""
    problems = check_rows([row(FIXED), row(recipe, 4), row(recipe, 8)], RUNNERS, "plan.json")
    assert [(problem.rule, problem.path) for problem in problems] == [(rule, "plan.json")]
    assert "/" in problems[0].message.partition(": ")[0]


def test_rows_with_an_unknown_runner_label_pass() -> None:
    assert check_rows([row(replace(FIXED, runner="elsewhere"))], RUNNERS, "plan.json") == []


@pytest.mark.parametrize(
    ("place", "misplaced", "message"),
    [
        (("evals",), row(AGENTIC, eval_only=True), "The row at evals/0 belongs to agentic_evals."),
        (("agentic_evals",), row(FIXED, eval_only=True), "The row at agentic_evals/0 belongs to evals."),
        (("evals",), row(FIXED), "The row at evals/0 belongs to single_node/8k1k."),
        (("single_node", "1k1k"), row(FIXED), "The row at single_node/1k1k/0 belongs to single_node/8k1k."),
        (("single_node",), row(FIXED), "The row at single_node/0 belongs to single_node/8k1k."),
        (("single_node", "8k1k"), row(DISAGG), "The row at single_node/8k1k/0 belongs to multi_node/8k1k."),
        (
            ("multi_node", "8k1k"),
            row(DISAGG, eval_only=True),
            "The row at multi_node/8k1k/0 belongs to multinode_evals.",
        ),
    ],
)
def test_every_row_is_in_the_bucket_of_its_kind(place: tuple[str, ...], misplaced: Any, message: str) -> None:
    """The bucket decides the name of a row's job and the results that are collected."""
    plan: Any = [render_row(misplaced)]
    for key in reversed(place):
        plan = {key: plan}
    with pytest.raises(InfxError) as caught:
        read_rows(plan, "plan.json")
    assert (caught.value.message, caught.value.where) == (message, "plan.json")
