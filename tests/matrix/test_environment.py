from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from infx.bench.family import family_of
from infx.bench.jobs import RowJob
from infx.bench.row import AGENTIC_DURATION, FAST_DURATION, AgenticWorkload, FixedWorkload, Recipe, Roles, Row
from infx.errors import InfxError
from infx.matrix.environment import project_job
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row


def project(value: Row) -> dict[str, str]:
    job = RowJob(
        id="0123456789ab",
        row=value,
        family=family_of(value),
        name="n",
        priority=Decimal(1),
        queue_token="t",
        shard=0,
    )
    return project_job(job, max_bytes=131_071)


def test_a_single_node_row() -> None:
    values = project(row(FIXED, 64))
    assert values == {
        "ROW_ID": "0123456789ab",
        "RESULT_FILENAME": "m1_8k1k_fp8_vllm_cluster-h200-a_0123456789ab",
        "RUNNER_TYPE": "cluster:h200-a",
        "IMAGE": "vllm/vllm-openai:v1",
        "MODEL": "acme/m1",
        "MODEL_PREFIX": "m1",
        "PRECISION": "fp8",
        "FRAMEWORK": "vllm",
        "SPEC_DECODING": "none",
        "DISAGG": "false",
        "EXP_NAME": "m1_8k1k",
        "IS_MULTINODE": "false",
        "PORT": "8888",
        "RANDOM_RANGE_RATIO": "0.8",
        "HF_HUB_CACHE": "/mnt/hf_hub_cache/",
        "RESULT_DIR": "/workspace/results",
        "AIPERF_FAILED_REQUEST_THRESHOLD": "0.10",
        "AIPERF_EXPERIMENTAL_FAST": "0",
        "SWEBENCH_USE_MODAL": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPYCACHEPREFIX": "/tmp/inferencex-pycache",
        "IS_AGENTIC": "0",
        "DURATION": "3600",
        "TOTAL_CPU_DRAM_GB": "0",
        "SCENARIO_TYPE": "fixed-seq-len",
        "SCENARIO_SUBDIR": "fixed_seq_len/",
        "ISL": "8192",
        "OSL": "1024",
        "MAX_MODEL_LEN": "9472",
        "REQUIRE_POWER": "0",
        "TP": "8",
        "PP_SIZE": "1",
        "DCP_SIZE": "1",
        "PCP_SIZE": "1",
        "EP_SIZE": "1",
        "DP_ATTENTION": "false",
        "GPU_COUNT": "8",
        "CONC": "64",
        "RUN_EVAL": "false",
        "EVAL_ONLY": "false",
    }


def test_an_agentic_row_has_no_lengths_and_a_budget() -> None:
    values = project(row(AGENTIC, 8))
    wanted = {
        "IS_AGENTIC": "1",
        "ISL": "0",
        "OSL": "0",
        "MAX_MODEL_LEN": "0",
        "DURATION": "3600",
        "WARMUP_REQUESTS": "10",
        "SCENARIO_SUBDIR": "agentic/",
        "KV_OFFLOADING": "dram",
        "KV_OFFLOAD_BACKEND": "mooncake",
        "KV_OFFLOAD_BACKEND_METADATA": '{"name":"mooncake","version":"0.3"}',
        "TOTAL_CPU_DRAM_GB": "360",
    }
    assert {name: values[name] for name in wanted} == wanted


def test_a_disaggregated_row_has_both_roles_and_a_list() -> None:
    values = project(replace(row(DISAGG, 4, 16), eval_conc=16, run_eval=True))
    wanted = {
        "PREFILL_NUM_WORKERS": "2",
        "PREFILL_TP": "8",
        "PREFILL_EP": "8",
        "PREFILL_DP_ATTN": "true",
        "DECODE_NUM_WORKERS": "1",
        "DECODE_TP": "16",
        "NCCL_DEBUG": "a b'c",
        "CONC_LIST": "4 16",
        "EVAL_CONC": "16",
        "KV_P2P_TRANSFER": "nixl",
        "ROUTER_METADATA": '{"name":"dynamo-router","version":"1"}',
    }
    assert {name: values[name] for name in wanted} == wanted
    assert {"CONC", "TP", "GPU_COUNT"}.isdisjoint(values)


def test_a_multi_node_agentic_row_has_one_concurrency() -> None:
    deployment = replace(DISAGG, workload=AGENTIC.workload)
    names = ("CONC", "CONC_LIST", "EVAL_CONC")
    assert [project(row(deployment, 48)).get(name) for name in names] == ["48", "48", None]
    merged = replace(row(deployment, 16, 32, 48, eval_only=True), eval_conc=48)
    assert [project(merged)[name] for name in names] == ["48", "48", "48"]


def test_all_concurrencies_are_evaluated() -> None:
    assert project(replace(row(DISAGG, 4, 16), eval_all_concs=True))["EVAL_CONC"] == "4 16"


def test_power_can_be_required() -> None:
    assert isinstance(FIXED.workload, FixedWorkload)
    required = replace(FIXED, workload=replace(FIXED.workload, require_power=True))
    assert project(row(required, 64))["REQUIRE_POWER"] == "1"


@pytest.mark.parametrize(("duration", "fast"), [(AGENTIC_DURATION, "0"), (FAST_DURATION, "1")])
def test_a_short_replay_is_marked(duration: int, fast: str) -> None:
    assert isinstance(AGENTIC.workload, AgenticWorkload)
    recipe = replace(AGENTIC, workload=replace(AGENTIC.workload, duration=duration))
    values = project(row(recipe, 8))
    assert (values["DURATION"], values["AIPERF_EXPERIMENTAL_FAST"]) == (str(duration), fast)


def test_the_launcher_of_several_nodes_decides_paths_and_port() -> None:
    assert {"HF_HUB_CACHE", "RESULT_DIR", "PORT"}.isdisjoint(project(row(DISAGG, 4)))


def test_no_variable_is_empty_and_salloc_exclude_is_left_out() -> None:
    """Scripts treat an empty variable like a missing one; no program reads SALLOC_EXCLUDE."""
    for value in (row(FIXED, 64), row(AGENTIC, 8), row(DISAGG, 4)):
        values = project(value)
        assert all(values.values())
        assert {"SALLOC_EXCLUDE", "EVAL_LIMIT", "SWEBENCH_GEN_MODE"}.isdisjoint(values)


def with_setting(setting: str) -> Recipe:
    assert isinstance(DISAGG.layout, Roles)
    prefill = replace(DISAGG.layout.prefill, additional_settings=(setting,))
    return replace(DISAGG, layout=replace(DISAGG.layout, prefill=prefill))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("export X=1", "is not an assignment"),
        ("$(touch x)=1", "is not an assignment"),
        ("PATH=/tmp", "belongs to the runner"),
        ("GITHUB_TOKEN=x", "belongs to the runner"),
        ("LD_PRELOAD=x.so", "belongs to the runner"),
        ("LONG=" + "x" * 131_070, "longer than an environment can hold"),
    ],
)
def test_invalid_and_reserved_settings_are_refused(setting: str, message: str) -> None:
    with pytest.raises(InfxError, match=message):
        project(row(with_setting(setting)))
