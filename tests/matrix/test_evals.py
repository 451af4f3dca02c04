from __future__ import annotations

import pytest

from infx.bench.row import Row, render_row
from infx.errors import InfxError
from infx.matrix.evals import EvalMode, apply_evals, find_profile, mark_rows
from infx.matrix.expand import expand_config
from infx.policy.evals import EvalProfile
from tests.matrix.inputs import AUGUST, DEFAULT, agentic, load, multi, multi_agentic, pair, points, single

NONE = "kv-offloading: none"
DRAM = "kv-offloading: dram, kv-offload-backend: {name: mooncake}"
PROFILES = pytest.mark.parametrize("profile", [DEFAULT, AUGUST], ids=["default", "august"])


def expand(*texts: str) -> list[Row]:
    inputs = load(*texts)
    return [row for config in inputs.configs.values() for row in expand_config(config, inputs.runners)]


def evaluated(rows: list[Row], profile: EvalProfile, mode: EvalMode = EvalMode.SUBSET) -> list[str]:
    return points(apply_evals(rows, mode, profile))


@PROFILES
def test_rows_with_an_accuracy_run_keep_their_throughput(profile: EvalProfile) -> None:
    rows = expand(single("a", "{tp: 2, conc-list: [16, 32, 64, 128]}"))
    marked = apply_evals(rows, EvalMode.MARKED, profile)
    assert points(marked) == ["tp2@16", "tp2@32", "tp2@64", "tp2@128"]
    assert [row.run_eval for row in marked] == [False, False, True, True]
    assert evaluated(rows, profile) == ["tp2@64", "tp2@128"]  # the median is at index 4 // 2


@PROFILES
@pytest.mark.parametrize(
    ("values", "chosen"),
    [
        ("[4, 8, 15]", []),  # concurrencies below 16 are never evaluated
        ("[8, 16]", ["tp2@16"]),
        ("[16, 32]", ["tp2@32"]),  # of two values the upper median is the highest
        ("[16, 32, 64]", ["tp2@32", "tp2@64"]),
        ("[4, 16, 32, 64]", ["tp2@32", "tp2@64"]),  # the median of those from 16 on
    ],
)
def test_single_node_fixed(profile: EvalProfile, values: str, chosen: list[str]) -> None:
    assert evaluated(expand(single("a", f"{{tp: 2, conc-list: {values}}}")), profile) == chosen


@PROFILES
def test_other_lengths_are_never_evaluated(profile: EvalProfile) -> None:
    rows = expand(single("a", "{tp: 2, conc-list: [64]}", isl=1024))
    assert [row.run_eval for row in apply_evals(rows, EvalMode.MARKED, profile)] == [False]
    assert evaluated(rows, profile) == evaluated(rows, profile, EvalMode.ALL) == []


def test_default_evaluates_every_topology_and_august_the_deployment() -> None:
    rows = expand(single("a", "{tp: 8, conc-list: [16, 64]}", "{tp: 4, conc-list: [16, 32]}"))
    assert evaluated(rows, DEFAULT) == ["tp8@64", "tp4@32"]
    assert evaluated(rows, AUGUST) == [
        "tp8@64",
        "tp4@32",
    ]  # 64 is the highest of both, 32 the median of 16, 32, 64
    rows = expand(
        single("a", "{tp: 8, conc-list: [64]}", "{tp: 4, conc-list: [16, 64]}", "{tp: 2, conc-list: [16]}")
    )
    assert evaluated(rows, DEFAULT) == ["tp8@64", "tp4@64", "tp2@16"]
    assert evaluated(rows, AUGUST) == ["tp8@64", "tp4@64"]


@pytest.mark.parametrize(
    "other",
    ["{tp: 2, X}", "{tp: 4, pp: 2, X}", "{tp: 4, ep: 4, X}", "{tp: 4, dcp-size: 2, X}", "{tp: 4, pcp-size: 2, X}",
     "{tp: 4, dp-attn: true, X}"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["fixed", "agentic"])
def test_every_parallelism_field_makes_a_topology(kind: str, other: str) -> None:
    rows = (other.replace("X", "{}"), "{tp: 4, X}".replace("X", "{}"))
    if kind == "fixed":
        text = single("a", *(row.replace("{}", "conc-list: [64]") for row in rows))
    else:
        text = agentic("a", *(row.replace("{}", f"{NONE}, conc-list: [1, 64]") for row in rows))
    assert [point.split("@")[1] for point in evaluated(expand(text), DEFAULT)] == ["64", "64"]


def test_both_topologies_of_an_agentx_deployment() -> None:
    rows = expand(
        agentic("a", f"{{tp: 4, {NONE}, conc-list: [1, 128]}}", f"{{tp: 2, {NONE}, conc-list: [1, 128]}}")
    )
    assert evaluated(rows, DEFAULT) == ["tp4@128", "tp2@128"]
    assert evaluated(rows, AUGUST) == ["tp4@128"]


def test_new_topologies_next_to_an_unchanged_grid() -> None:
    """Scene B: TP4, TEP4 and DEP4 of one key: 14 rows, one accuracy run for each topology."""
    inputs = load(
        agentic(
            "dsv41flash-fp4-b300-vllm-agentic-dspark",
            f"{{tp: 4, {NONE}, spec-decoding: mtp, conc-list: [1, 2, 4, 8, 16, 32, 64, 128]}}",
            f"{{tp: 4, ep: 4, {NONE}, spec-decoding: mtp, conc-list: [32, 64, 128]}}",
            f"{{tp: 4, ep: 4, dp-attn: true, {NONE}, spec-decoding: mtp, conc-list: [32, 64, 128], "
            'router: {name: vllm-router, version: "0.1.14"}}',
            model_prefix="dsv41flash",
        )
    )
    (config,) = inputs.configs.values()
    rows = expand_config(config, inputs.runners)
    assert len(rows) == 8 + 3 + 3
    assert evaluated(rows, DEFAULT) == ["tp4@128", "tp4ep4@128", "tp4ep4dpa@128"]


def test_agentx_has_no_smallest_concurrency_on_one_node() -> None:
    assert evaluated(expand(agentic("a", f"{{tp: 4, {NONE}, conc-list: [1, 2]}}")), DEFAULT) == ["tp4@2"]


def test_august_evaluates_agentx_only_on_request() -> None:
    rows = expand(
        agentic("a", f"{{tp: 4, {NONE}, conc-list: [1]}}"), multi_agentic("b", pair("[32]"), image="other")
    )
    assert [row.run_eval for row in mark_rows(rows, AUGUST, on_request=False)] == [False, False]
    assert [row.run_eval for row in mark_rows(rows, DEFAULT, on_request=False)] == [True, True]
    assert evaluated(rows, AUGUST) == ["tp4@1", "1xtp4+1xtp4@32"]


@PROFILES
def test_multi_node_fixed(profile: EvalProfile) -> None:
    wide = pair("[16]", decode="num-worker: 2, tp: 4")
    rows = expand(multi("a", pair("[4, 64, 256]"), pair("[8]", decode="num-worker: 1, tp: 8"), wide))
    chosen = apply_evals(rows, EvalMode.MARKED, profile)
    assert [(row.run_eval, row.eval_conc) for row in chosen] == [(True, 256), (False, None), (True, 16)]
    assert points(chosen) == ["1xtp4+1xtp4@4,64,256", "1xtp4+1xtp8@8", "1xtp4+2xtp4@16"]


def test_a_multi_node_agentx_deployment_without_pick_uses_its_highest_row() -> None:
    low, lower = pair("[2, 8]"), pair("[4]", decode="num-worker: 1, tp: 8")
    rows = expand(multi_agentic("a", low, lower))
    assert evaluated(rows, DEFAULT) == ["1xtp4+1xtp4@8"]
    assert evaluated(rows, AUGUST) == []
    rows = expand(multi_agentic("a", low, pair("[16]", decode="num-worker: 1, tp: 8")))
    assert evaluated(rows, DEFAULT) == ["1xtp4+1xtp8@16"]


def test_every_agentx_row_of_some_models_runs_its_vendor_suite() -> None:
    rows = expand(agentic("a", f"{{tp: 4, {NONE}, conc-list: [1, 8]}}", model_prefix="kimik3"))
    tasks = [
        (row.conc, row.eval_framework, row.eval_suite, row.eval_only)
        for row in apply_evals(rows, EvalMode.MARKED, DEFAULT)
    ]
    vendor = ("kimi-vendor", "kimi_tool_call_schema_full")
    assert tasks == [((1,), *vendor, None), ((8,), *vendor, None), ((8,), "lm-eval", "", True)]
    assert len(apply_evals(rows, EvalMode.SUBSET, DEFAULT)) == 3


def test_task_names_are_printed_if_the_profile_says_so() -> None:
    rows = expand(single("a", "{tp: 4, conc-list: [16]}"))
    (ours,), (theirs,) = (apply_evals(rows, EvalMode.SUBSET, profile) for profile in (DEFAULT, AUGUST))
    assert (ours.eval_framework, ours.eval_suite) == ("lm-eval", "")
    assert (theirs.eval_framework, theirs.eval_suite) == (None, None)


@PROFILES
def test_all_evals(profile: EvalProfile) -> None:
    rows = expand(
        single("a", "{tp: 4, conc-list: [1, 16]}"),
        multi("b", pair("[64, 4]"), pair("[8, 64]")),
        multi_agentic("c", pair("[8, 2]"), image="other"),
    )
    chosen = apply_evals(rows, EvalMode.ALL, profile)
    assert points(chosen) == ["tp4@1", "tp4@16", "1xtp4+1xtp4@4,8,64", "1xtp4+1xtp4@2,8"]
    assert [(row.eval_conc, row.eval_all_concs) for row in chosen] == [
        (None, None), (None, None), (None, True), (8, None)
    ]  # fmt: skip
    assert all(row.run_eval and row.eval_only for row in chosen)


def test_one_of_equal_accuracy_runs_stays_preferably_without_offload() -> None:
    rows = expand(
        agentic("a", f"{{tp: 4, {DRAM}, conc-list: [8, 16]}}", f"{{tp: 4, {NONE}, conc-list: [8, 16]}}"),
        agentic("b", f"{{tp: 4, {NONE}, conc-list: [8]}}", image="acme/vllm:v2"),
    )
    chosen = apply_evals(rows, EvalMode.ALL, DEFAULT)
    assert [row.exp_name for row in chosen] == ["m1_tp4_conc8_kvnone", "m1_tp4_conc16_kvnone"]
    assert len(apply_evals(rows, EvalMode.ALL, AUGUST)) == 5  # this profile drops no runs


def test_a_row_that_loses_its_accuracy_run_keeps_its_throughput() -> None:
    row = "{tp: 4, conc-list: [64]}"
    first, second = apply_evals(
        expand(single("a", row), single("b", row, image="acme/vllm:v2")), EvalMode.MARKED, DEFAULT
    )
    assert (first.run_eval, first.eval_framework) == (True, "lm-eval")
    assert (second.run_eval, second.eval_framework) == (False, None)


def test_a_batch_keeps_its_unclaimed_concurrencies() -> None:
    rows = expand(multi("a", pair("[4, 8]")), multi("b", pair("[8, 16]"), image="acme/vllm:v2"))
    assert evaluated(rows, DEFAULT, EvalMode.ALL) == ["1xtp4+1xtp4@4,8", "1xtp4+1xtp4@16"]


def test_a_server_with_many_points_is_merged_in_linear_time() -> None:
    values = list(range(1, 20_001))
    (row,) = apply_evals(expand(multi_agentic("a", pair(str(values)))), EvalMode.ALL, AUGUST)
    assert (row.conc, row.eval_conc) == (tuple(values), 20_000)


@PROFILES
def test_accuracy_runs_measure_no_power(profile: EvalProfile) -> None:
    text = single("a", "{tp: 4, conc-list: [16]}").replace(
        "    - isl: 8192\n", "    - isl: 8192\n      require-power: true\n"
    )
    rows = expand(text)
    (marked,) = apply_evals(rows, EvalMode.MARKED, profile)
    (alone,) = apply_evals(rows, EvalMode.SUBSET, profile)
    assert render_row(marked)["require-power"] is True
    assert "require-power" not in render_row(alone)


def test_without_accuracy_runs_agentx_rows_omit_run_eval() -> None:
    rows = expand(agentic("a", f"{{tp: 4, {NONE}, conc-list: [1]}}"), single("b", "{tp: 4, conc-list: [1]}"))
    assert [row.run_eval for row in apply_evals(rows, EvalMode.NONE, DEFAULT)] == [None, False]


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        InfxError, match=r"no eval profile 'defualt'; it has default, inferencex-2026-08"
    ) as error:
        find_profile("defualt", {"default": DEFAULT, "inferencex-2026-08": AUGUST})
    assert error.value.hint == "Did you mean default?"
