from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from infx.bench.config import KvOffloading, Parallelism, SpecDecoding
from infx.bench.identity import curve_of, fingerprint_recipe, hardware_of, identify_rows, row_ids, series_of
from infx.bench.row import AgenticWorkload, FixedWorkload, Recipe, Roles, render_row
from infx.matrix.complete import complete_throughput
from infx.matrix.planned import Planned
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row


def test_a_fixed_recipe_hashes_with_run_eval_false() -> None:
    text = (
        '{"dcp-size":1,"disagg":false,"dp-attn":false,"ep":1,"framework":"vllm","image":"vllm/vllm-openai:v1",'
        '"isl":8192,"max-model-len":9472,"model":"acme/m1","model-prefix":"m1","osl":1024,"pcp-size":1,"pp":1,'
        '"precision":"fp8","run-eval":false,"runner":"cluster:h200-a","spec-decoding":"none","tp":8}'
    )
    assert fingerprint_recipe(FIXED) == hashlib.sha256(text.encode()).hexdigest()


def test_an_agentx_recipe_hashes_without_run_eval_and_in_ascii() -> None:
    text = (
        '{"dcp-size":1,"dp-attn":false,"duration":3600,"ep":1,"framework":"vllm","image":"\\u56fe:1",'
        '"kv-offload-backend":{"name":"mooncake","version":"0.3"},"kv-offloading":"dram","model":"acme/m1",'
        '"model-prefix":"m1","pcp-size":1,"pp":1,"precision":"fp8","runner":"cluster:h200-a",'
        '"scenario-type":"agentic-coding","spec-decoding":"mtp","total-cpu-dram-gb":360,"tp":8}'
    )
    assert fingerprint_recipe(replace(AGENTIC, image="图:1")) == hashlib.sha256(text.encode()).hexdigest()


def test_all_concurrencies_of_a_recipe_have_one_fingerprint() -> None:
    rows = [row(FIXED, 4), row(FIXED, 8), row(AGENTIC, 4)]
    completed = complete_throughput(Planned(row=item, key="m1", entry=0) for item in rows)
    first, second, other = [item.row.recipe_fingerprint for item in completed]
    assert first == second != other


def test_an_id_is_twelve_digits_of_the_canonical_json() -> None:
    text = json.dumps(render_row(row()), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert row_ids([row()]) == [hashlib.sha256(text.encode()).hexdigest()[:12]]


def test_identical_rows_are_numbered_from_the_second() -> None:
    repeated, other = row(FIXED, 1), row(FIXED, 2)
    first, second, third, fourth = row_ids([repeated, other, repeated, repeated])
    assert (third, fourth) == (f"{first}-2", f"{first}-3")
    assert [second] == row_ids([other])


def test_identified_rows_have_their_ids() -> None:
    rows = [row(FIXED, 1), row(FIXED, 2), row(FIXED, 1)]
    assert [(item.id, item.row) for item in identify_rows(rows)] == list(
        zip(row_ids(rows), rows, strict=True)
    )


@pytest.mark.parametrize("runner", ["b200", "b200-dgxc", "cluster:b200-nv", "cluster:B200-nv"])
def test_case_and_cluster_of_a_label_do_not_change_the_hardware(runner: str) -> None:
    assert hardware_of(runner) == "b200"


def placed(prefill: str | None, decode: str | None) -> Recipe:
    assert isinstance(DISAGG.layout, Roles)
    roles = Roles(
        prefill=replace(DISAGG.layout.prefill, hardware=prefill),
        decode=replace(DISAGG.layout.decode, hardware=decode),
    )
    return replace(DISAGG, layout=roles)


NO_OFFLOAD = replace(AGENTIC, workload=AgenticWorkload(kv_offloading=KvOffloading.NONE, total_cpu_dram_gb=0))
SHORT = replace(FIXED, workload=FixedWorkload(isl=1024, osl=1024, max_model_len=2304))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FIXED, AGENTIC),
        (FIXED, SHORT),
        (FIXED, DISAGG),
        (FIXED, replace(FIXED, precision="fp4")),
        (FIXED, replace(FIXED, model="acme/m2")),
        (FIXED, replace(FIXED, runner="cluster:h200-b")),
        (FIXED, replace(FIXED, spec_decoding=SpecDecoding.MTP)),
        (AGENTIC, NO_OFFLOAD),
        (placed("h200", None), placed(None, "h200")),
    ],
)
def test_recipes_of_different_series(one: Recipe, other: Recipe) -> None:
    assert series_of(one) != series_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FIXED, replace(FIXED, image="vllm/vllm-openai:v2", layout=Parallelism(tp=4))),
        (
            AGENTIC,
            replace(AGENTIC, spec_decoding=SpecDecoding.NONE),
        ),  # a replay is drawn with and without drafts
    ],
)
def test_recipes_of_the_same_series(one: Recipe, other: Recipe) -> None:
    assert series_of(one) == series_of(other)


def test_a_curve_holds_all_series_of_a_model_on_one_hardware() -> None:
    fixed = curve_of(FIXED)
    assert fixed == curve_of(
        replace(FIXED, runner="H200-b", spec_decoding=SpecDecoding.MTP, model="acme/m1-v2")
    )
    assert fixed != curve_of(AGENTIC) == curve_of(NO_OFFLOAD)
    assert str(fixed) == "m1 8k1k h200 vllm fp8"
