from __future__ import annotations

import pytest

from infx.bench.config import ScenarioType
from infx.bench.names import SEQUENCES
from infx.bench.row import Row, render_row
from infx.matrix.concurrency import Bounds
from infx.matrix.expand import ExpansionLimits, expand_config
from tests.matrix.inputs import agentic, both, load, multi, multi_agentic, pair, points, single

NONE = "kv-offloading: none"


def expand(text: str, limits: ExpansionLimits | None = None, on: list[str] | None = None) -> list[Row]:
    inputs = load(text)
    (config,) = inputs.configs.values()
    return expand_config(config, inputs.runners, limits or ExpansionLimits(), on)


def runners(rows: list[Row]) -> list[str]:
    return [f"{row.recipe.runner}@{','.join(map(str, row.conc))}" for row in rows]


@pytest.mark.parametrize(
    ("text", "order"),
    [
        (single("a", "{tp: 8, conc-list: [4, 8]}"), ["x@4", "y@4", "x@8", "y@8"]),
        (multi("a", pair("[4, 8]")), ["x@4,8", "y@4,8"]),
        (agentic("a", f"{{tp: 8, {NONE}, conc-list: [4, 8]}}"), ["x@4", "y@4", "x@8", "y@8"]),
        (multi_agentic("a", pair("[4, 8]")), ["x@4", "x@8", "y@4", "y@8"]),
    ],
)
def test_order_of_points_and_runners(text: str, order: list[str]) -> None:
    assert runners(expand(text, on=["x", "y"])) == order


def test_both_forms_of_concurrency_work_together() -> None:
    rows = expand(single("a", "{tp: 8, conc-list: [4, 64]}", "{tp: 4, conc-start: 4, conc-end: 32}"))
    assert points(rows) == ["tp8@4", "tp8@64", "tp4@4", "tp4@8", "tp4@16", "tp4@32"]


def test_fixed_scenarios_come_before_agentx() -> None:
    rows = expand(both("a", "{tp: 4, conc-list: [4]}", f"{{tp: 8, {NONE}, conc-list: [1]}}"))
    assert points(rows) == ["tp4@4", "tp8@1"]


def test_omitted_fields_of_a_single_node_row_have_defaults() -> None:
    (row,) = expand(single("a", "{tp: 8, conc-list: [4]}", isl=1024))
    assert render_row(row) == {
        "image": "acme/vllm:v1", "model": "acme/m1", "model-prefix": "m1", "precision": "fp8", "framework": "vllm",
        "runner": "h200", "isl": 1024, "osl": 1024, "max-model-len": 2304, "spec-decoding": "none", "tp": 8, "pp": 1,
        "dcp-size": 1, "pcp-size": 1, "ep": 1, "dp-attn": False, "conc": 4, "exp-name": "m1_1k1k", "disagg": False,
        "run-eval": False,
    }  # fmt: skip


def test_an_aggregated_worker_is_a_prefill_with_an_idle_decode() -> None:
    worker = "{num-worker: 2, tp: 8, additional-settings: [A=1]}"
    (row,) = expand(multi("a", f"{{conc-list: [4], num-nodes: 3, worker: {worker}}}"))
    values = render_row(row)
    assert values["prefill"] == {
        "num-worker": 2, "tp": 8, "pp": 1, "dcp-size": 1, "pcp-size": 1, "additional-settings": ["A=1"]
    }  # fmt: skip
    assert values["decode"] == {"num-worker": 0, "tp": 8, "pp": 1, "dcp-size": 1, "pcp-size": 1}
    assert values["node-count"] == 3
    assert values["disagg"] is False


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (single("a", "{tp: 8, conc-list: [4]}", isl=2048), "m1_2048_1024"),
        (agentic("a", f"{{tp: 8, {NONE}, conc-list: [4]}}"), "m1_tp8_conc4_kvnone"),
        (
            agentic(
                "a",
                "{tp: 8, kv-offloading: dram, kv-offload-backend: {name: mooncake, version: '1'}, "
                "spec-decoding: mtp, conc-list: [4]}",
            ),
            "m1_tp8_conc4_kvdram-mooncake_spec-mtp",
        ),
        (multi_agentic("a", pair("[4]")), "m1_p1x4_d1x4_conc4"),
        (
            multi_agentic(
                "a", pair("[4]", "num-worker: 2, tp: 4, ep: 4, dp-attn: true", "num-worker: 1, tp: 8, ep: 1")
            ),
            "m1_p2x4ep4dpa_d1x8_conc4",
        ),
    ],
)
def test_experiment_names(text: str, name: str) -> None:
    assert [row.exp_name for row in expand(text)] == [name]


def test_router_and_transfer_come_from_the_row_or_the_configuration() -> None:
    row = pair("[4]").replace("{conc", "{router: {name: own, version: '1'}, conc")
    (values,) = map(render_row, expand(multi("a", row, kv_p2p_transfer="nixl")))
    assert (values["router"], values["kv-p2p-transfer"]) == ({"name": "own", "version": "1"}, "nixl")


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (ExpansionLimits(max_tp=4), ["tp4ep8@4"]),
        (ExpansionLimits(max_ep=2), ["tp8@4", "tp4ep2@4"]),  # an omitted ep stays 1
        (ExpansionLimits(max_ep=0), []),
        (ExpansionLimits(max_tp=0), []),
        (ExpansionLimits(sequences=frozenset({SEQUENCES["1k1k"]})), []),
        (ExpansionLimits(scenario_types=frozenset({ScenarioType.AGENTIC})), []),
        (ExpansionLimits(bounds=Bounds(minimum=8)), []),
    ],
)
def test_limits_of_single_node_fixed_rows(limits: ExpansionLimits, left: list[str]) -> None:
    text = single("a", "{tp: 8, conc-list: [4]}", "{tp: 4, ep: 8, conc-list: [4]}")
    assert points(expand(text, limits)) == left


@pytest.mark.parametrize(
    "limits", [ExpansionLimits(max_tp=1, max_ep=1), ExpansionLimits(sequences=frozenset({(1, 1)}))]
)
def test_limits_that_do_not_touch_agentx(limits: ExpansionLimits) -> None:
    text = agentic("a", f"{{tp: 8, ep: 8, {NONE}, conc-list: [4]}}")
    assert points(expand(text, limits)) == ["tp8ep8@4"]


def test_max_tp_does_not_touch_multi_node_rows() -> None:
    assert points(expand(multi("a", pair("[4]")), ExpansionLimits(max_tp=1, max_ep=1))) == ["1xtp4+1xtp4@4"]


def test_equal_recipes_of_all_concurrencies_are_one_object() -> None:
    """The memory of a large plan grows with its recipes, not with its points."""
    rows = expand(single("a", "{tp: 8, conc-start: 1, conc-end: 1024}"))
    assert len({id(row.recipe) for row in rows}) == 1
