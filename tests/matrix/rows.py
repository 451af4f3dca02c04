"""Rows with small recipes, for tests."""

from __future__ import annotations

from dataclasses import replace

from infx.bench.config import Component, KvOffloading, Parallelism, SpecDecoding, Worker
from infx.bench.row import AgenticWorkload, FixedWorkload, Recipe, Roles, Row

FIXED = Recipe(
    image="vllm/vllm-openai:v1",
    model="acme/m1",
    model_prefix="m1",
    precision="fp8",
    framework="vllm",
    runner="cluster:h200-a",
    spec_decoding=SpecDecoding.NONE,
    layout=Parallelism(tp=8, ep=1, dp_attn=False),
    workload=FixedWorkload(isl=8192, osl=1024, max_model_len=9472),
)
AGENTIC = replace(
    FIXED,
    spec_decoding=SpecDecoding.MTP,
    workload=AgenticWorkload(
        kv_offloading=KvOffloading.DRAM,
        total_cpu_dram_gb=360,
        kv_offload_backend=Component(name="mooncake", version="0.3"),
    ),
)
DISAGG = replace(
    FIXED,
    framework="dynamo-vllm",
    layout=Roles(
        prefill=Worker(num_worker=2, tp=8, ep=8, dp_attn=True, additional_settings=("NCCL_DEBUG=a b'c",)),
        decode=Worker(num_worker=1, tp=16, ep=16, dp_attn=False),
    ),
    disagg=True,
    kv_p2p_transfer="nixl",
    router=Component(name="dynamo-router", version="1"),
)


def row(recipe: Recipe = FIXED, *conc: int, eval_only: bool = False) -> Row:
    """Return a throughput row, or the accuracy run for the same point."""
    return Row(
        recipe=recipe,
        conc=conc or (64,),
        exp_name=f"{recipe.model_prefix}_8k1k",
        run_eval=eval_only,
        eval_only=True if eval_only else None,
    )
