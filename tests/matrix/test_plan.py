from __future__ import annotations

import json
from typing import Any

import pytest

from infx.bench.delta import Correction, Delta
from infx.bench.row import render_row
from infx.errors import Level, ProblemsError
from infx.matrix.plan import Options, plan_delta
from infx.matrix.render import render_plan
from infx.matrix.summary import describe_total, summarize
from infx.policy.load import default_policy
from tests.matrix.inputs import (
    AUGUST,
    DEFAULT,
    agentic,
    both,
    entry,
    load,
    multi,
    multi_agentic,
    pair,
    plan,
    points,
    single,
)

NONE = "kv-offloading: none"
FIXED = single("m1-fp8-h200-vllm", "{tp: 8, conc-list: [4, 64]}")
OTHER = single("m1-fp8-h200-trt", "{tp: 4, conc-list: [4]}", framework="trt")
CODING = agentic("m1-fp8-h200-vllm-agentic", f"{{tp: 8, {NONE}, conc-list: [1, 8]}}")
INPUTS = load(FIXED, OTHER, CODING)


def throughput(*texts: str, **options: Any) -> list[str]:
    return points(item.row for item in plan(INPUTS, *texts, **options).throughput)


def evals(*texts: str, **options: Any) -> list[str]:
    return points(item.row for item in plan(INPUTS, *texts, **options).evals)


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        (["m1-fp8-h200-vllm"], ["tp8@4", "tp8@64"]),
        (["*-trt"], ["tp4@4"]),
        (["m1-fp8-h200-???"], ["tp4@4"]),
        (["*"], ["tp8@4", "tp8@64", "tp4@4", "tp8@1", "tp8@8"]),
        (["*-trt", "m1-*-vllm"], ["tp4@4", "tp8@4", "tp8@64"]),  # in the order of the entry
        (["*-trt", "m1-fp8-h200-trt"], ["tp4@4"]),
    ],
)
def test_keys_and_wildcards(keys: list[str], rows: list[str]) -> None:
    assert throughput(entry(*keys)) == rows


def test_every_unknown_key_is_reported_with_its_line_and_similar_keys() -> None:
    with pytest.raises(ProblemsError) as error:
        plan(INPUTS, entry("m1-fp8-h200-vlm"), entry("nothing*", "m1-fp8-h200-trt"))
    assert [(problem.line, problem.hint) for problem in error.value.problems] == [
        (1, "Did you mean m1-fp8-h200-vllm or m1-fp8-h200-trt or m1-fp8-h200-vllm-agentic?"),
        (4, "Name a key of a master file."),
    ]


@pytest.mark.parametrize("backwards", [False, True])
def test_each_point_is_planned_once(backwards: bool) -> None:
    texts = [entry("m1-fp8-h200-vllm"), entry("*-h200-*"), entry("m1-fp8-h200-vllm", "*-trt")]
    rows = throughput(*(texts[::-1] if backwards else texts))
    assert sorted(rows) == ["tp4@4", "tp8@1", "tp8@4", "tp8@64", "tp8@8"]


def test_a_point_belongs_to_the_first_entry_that_names_it() -> None:
    rows = plan(INPUTS, entry("*-trt"), entry("*-h200-*", scenario_type="[fixed-seq-len]")).throughput
    assert [(item.key, item.entry) for item in rows] == [
        ("m1-fp8-h200-trt", 0), ("m1-fp8-h200-vllm", 1), ("m1-fp8-h200-vllm", 1)
    ]  # fmt: skip


def test_an_entry_may_name_one_scenario() -> None:
    inputs = load(both("a", "{tp: 4, conc-list: [16]}", f"{{tp: 8, {NONE}, conc-list: [1]}}"))
    rows = plan(inputs, entry("a", scenario_type="[agentic-coding]"))
    assert points(item.row for item in rows.rows) == ["tp8@1", "tp8@1"]
    result = plan(inputs, entry("a", scenario_type="[agentic-coding]"), entry("a"))
    assert [(points([item.row]), item.entry) for item in result.throughput] == [
        (["tp8@1"], 0),
        (["tp4@16"], 1),
    ]


def test_an_entry_without_a_matching_scenario_is_a_warning() -> None:
    result = plan(INPUTS, entry("m1-fp8-h200-vllm", scenario_type="[agentic-coding]"))
    assert result.rows == ()
    assert [(problem.rule, problem.level) for problem in result.warnings] == [("entry-idle", Level.WARNING)]
    assert describe_total(summarize(result, INPUTS.runners, default_policy())) == (
        "Nothing to run: no row matches the request."
    )


def test_a_plan_without_rows_is_a_warning() -> None:
    """Without a concurrency of at least 16 no row is evaluated, and the empty sweep would be green."""
    inputs = load(single("a", "{tp: 8, conc-list: [4, 8]}"))
    result = plan(inputs, entry("a", evals_only="true"))
    assert result.rows == ()
    (warning,) = result.warnings
    assert (warning.rule, warning.line, warning.level) == ("plan-empty", 1, Level.WARNING)
    assert plan(inputs, entry("a")).warnings == ()


def test_a_correction_of_links_is_not_a_plan_without_rows() -> None:
    fixed = Correction(
        line=4, before=b"  pr-link: XXX", after=b"  pr-link: https://github.com/acme/bench/pull/1"
    )
    delta = Delta(corrections=(fixed,), is_append=False)
    result = plan_delta(delta, INPUTS, None, Options(profile=DEFAULT), "perf-changelog.yaml")
    assert result.warnings == ()
    assert describe_total(summarize(result, INPUTS.runners, default_policy())) == (
        "Nothing to run: the changelog only corrects links."
    )


@pytest.mark.parametrize(
    ("fields", "options", "rows", "accuracy"),
    [
        ({}, {}, ["tp8@4", "tp8@64"], ["tp8@64"]),
        ({"evals_only": "true"}, {}, [], ["tp8@64"]),
        ({"all_evals": "true"}, {}, [], ["tp8@4", "tp8@64"]),
        ({"no_evals": "true"}, {}, ["tp8@4", "tp8@64"], []),
        ({}, {"evals_only": True}, [], ["tp8@64"]),
        ({}, {"all_evals": True}, ["tp8@4", "tp8@64"], ["tp8@4", "tp8@64"]),  # the option keeps throughput
        ({}, {"all_evals": True, "evals_only": True}, [], ["tp8@4", "tp8@64"]),
        ({}, {"trim": True}, ["tp8@4"], ["tp8@64"]),  # only throughput is trimmed
    ],
)
def test_entries_and_options_select_rows(
    fields: dict[str, str], options: dict[str, bool], rows: list[str], accuracy: list[str]
) -> None:
    text = entry("m1-fp8-h200-vllm", **fields)
    assert (throughput(text, **options), evals(text, **options)) == (rows, accuracy)


def test_an_entry_with_all_evals_claims_accuracy_runs_before_others() -> None:
    texts = [entry("m1-fp8-h200-vllm"), entry("m1-fp8-h200-vllm", all_evals="true")]
    assert throughput(*texts) == ["tp8@4", "tp8@64"]
    assert evals(*texts) == evals(*texts[::-1]) == ["tp8@4", "tp8@64"]


@pytest.mark.parametrize("flag", ["all_evals", "evals_only"])
def test_no_evals_contradicts_a_request_for_accuracy_runs(flag: str) -> None:
    with pytest.raises(ProblemsError, match="no-evals, and the run asks for"):
        throughput(entry("m1-fp8-h200-vllm", no_evals="true"), **{flag: True})


@pytest.mark.parametrize(("least", "rows"), [("1", ["4", "8"]), ("8", ["8"]), ("9", [])])
def test_accuracy_runs_with_small_prefill_ep_can_be_excluded(least: str, rows: list[str]) -> None:
    inputs = load(
        multi(
            "a",
            pair("[16]", prefill="num-worker: 1, tp: 4, ep: 4"),
            pair("[16]", prefill="num-worker: 1, tp: 8, ep: 8"),
            pair("[16]", prefill="num-worker: 1, tp: 16"),
        )
    )
    result = plan(inputs, entry("a", eval_min_prefill_ep=least))
    assert [str(render_row(item.row)["prefill"]["ep"]) for item in result.evals] == rows
    assert len(result.throughput) == 3


def test_a_repeated_point_is_planned_once_with_a_warning() -> None:
    inputs = load(
        single("a", "{tp: 8, conc-list: [64, 128, 256]}", "{tp: 8, conc-list: [64, 128]}"),
        multi("b", pair("[4, 8, 4]"), pair("[8, 16]")),
    )
    result = plan(inputs, entry("a", "b"))
    assert points(item.row for item in result.throughput) == [
        "tp8@64", "tp8@128", "tp8@256", "1xtp4+1xtp4@4,8", "1xtp4+1xtp4@16"
    ]  # fmt: skip
    assert points(item.row for item in result.evals) == ["tp8@128", "tp8@256", "1xtp4+1xtp4@16"]
    assert {problem.rule for problem in result.warnings} == {"point-repeated"}
    assert [problem.message.rpartition(" at ")[2] for problem in result.warnings] == [
        "concurrency 64; it is planned once.",
        "concurrency 128; it is planned once.",
        "concurrency 4; it is planned once.",
        "concurrency 8; it is planned once.",
    ]


def test_a_shared_point_is_planned_for_both_with_a_warning() -> None:
    inputs = load(single("a", "{tp: 8, conc-list: [4, 8]}"), single("b", "{tp: 8, conc-list: [4, 8]}"))
    result = plan(inputs, entry("a", "b"))
    assert len(result.throughput) == 4
    (warning,) = result.warnings
    assert warning.message.startswith("a and b measure 2 points in the same way")
    assert warning.level is Level.WARNING
    trimmed = plan(
        inputs, entry("a", "b"), trim=True
    )  # the configurations share a recipe, so one point is left
    assert (points(item.row for item in trimmed.throughput), trimmed.warnings) == (["tp8@4"], ())


def test_a_correction_of_links_plans_nothing() -> None:
    delta = Delta(corrections=(Correction(line=4, before=b"  pr-link: XXX", after=b"  pr-link: 9"),))
    result = plan_delta(delta, INPUTS, None, Options(profile=DEFAULT), "perf-changelog.yaml")
    assert (result.entries, result.rows, result.warnings) == ((), (), ())


def test_nothing_to_plan_is_an_error() -> None:
    with pytest.raises(ProblemsError, match="Nothing was added to the changelog"):
        plan_delta(Delta(), INPUTS, None, Options(profile=DEFAULT), "perf-changelog.yaml")


def test_a_fast_run_shortens_agentx_throughput_and_nothing_else() -> None:
    texts = [entry("*")]
    normal, fast = plan(INPUTS, *texts), plan(INPUTS, *texts, fast=True)
    assert fast.evals == normal.evals
    shortened = [
        {**render_row(item.row), **({"duration": 1200} if item.row.recipe.is_agentic else {})}
        for item in normal.throughput
    ]
    assert [render_row(item.row) for item in fast.throughput] == shortened
    assert [getattr(item.row.recipe.workload, "warmup_requests", None) for item in fast.throughput] == [
        None, None, None, 1, 1
    ]  # fmt: skip


def test_planned_rows_have_fields_that_matrix_rows_omit() -> None:
    inputs = load(
        FIXED, CODING, multi("b", pair("[16]")), multi_agentic("c", pair("[16]"), image="acme/vllm:v2")
    )
    rows = {item.key: render_row(item.row) for item in plan(inputs, entry("*"), profile=AUGUST).throughput}
    keys = ("run-eval", "eval-only", "eval-all-concs")
    assert {key: [row.get(name) for name in keys] for key, row in rows.items()} == {
        "m1-fp8-h200-vllm": [False, False, None],
        "m1-fp8-h200-vllm-agentic": [None, None, None],
        "b": [False, False, False],
        "c": [None, None, None],
    }
    for key in ("b", "c"):
        assert rows[key]["prefill"]["additional-settings"] == rows[key]["decode"]["additional-settings"] == []
    assert all(len(row["recipe-fingerprint"]) == 64 for row in rows.values())


def test_accuracy_runs_have_no_fingerprint() -> None:
    assert all(item.row.recipe_fingerprint is None for item in plan(INPUTS, entry("*")).evals)


def test_the_bucket_object() -> None:
    """Every bucket is present, also without rows, so that workflows can test each for rows."""
    result = plan(INPUTS, entry("m1-fp8-h200-vllm", evals_only="true"))
    text = "".join(render_plan(result, base_ref="b" * 40, head_ref="h" * 40))
    (row,) = [render_row(item.row) for item in result.evals]
    assert json.loads(text) == {
        "single_node": {},
        "multi_node": {},
        "evals": [row],
        "agentic_evals": [],
        "multinode_evals": [],
        "multinode_agentic_evals": [],
        "changelog_metadata": {
            "base_ref": "b" * 40,
            "head_ref": "h" * 40,
            "entries": [
                {
                    "config-keys": ["m1-fp8-h200-vllm"],
                    "description": ["x"],
                    "pr-link": "XXX",
                    "evals-only": True,
                    "all-evals": False,
                    "append-only": False,
                }
            ],
        },
    }


def test_throughput_has_a_bucket_for_each_sequence() -> None:
    inputs = load(FIXED, CODING, single("b", "{tp: 8, conc-list: [4]}", isl=2048), multi("c", pair("[16]")))
    values = json.loads("".join(render_plan(plan(inputs, entry("*")), base_ref="b", head_ref="h")))
    assert {kind: len(rows) for kind, rows in values["single_node"].items()} == {
        "8k1k": 2, "agentic": 2, "2048_1024": 1
    }  # fmt: skip
    assert {kind: len(rows) for kind, rows in values["multi_node"].items()} == {"8k1k": 1}


def test_repeated_accuracy_runs_are_dropped_in_any_order_of_entries() -> None:
    """Of two configurations with the same model, the first in the file keeps its run."""
    row = "{tp: 8, conc-list: [64]}"
    inputs = load(single("b", row), single("a", row, image="acme/vllm:v2"))
    texts = [entry("a"), entry("b")]
    for order in (texts, texts[::-1]):
        result = plan(inputs, *order)
        assert [item.key for item in result.evals] == ["b"]
        assert len(result.throughput) == 2
