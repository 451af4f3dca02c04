"""Outputs of benchmark clients and environments of rows, in round numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENVIRONMENT = {
    "RESULT_FILENAME": "r", "RUNNER_TYPE": "cluster:h200-a", "IMAGE": "vllm/vllm-openai:v1", "MODEL": "acme/m1",
    "MODEL_PREFIX": "m1", "FRAMEWORK": "vllm", "PRECISION": "fp8", "SPEC_DECODING": "none", "DISAGG": "false",
    "IS_MULTINODE": "false", "ISL": "1024", "OSL": "512", "TP": "4", "EP_SIZE": "1", "DP_ATTENTION": "false",
}  # fmt: skip

# What `vllm bench serve --save-result` writes: 100 requests, of which all succeeded.
VLLM: dict[str, Any] = {
    "date": "20260821-120000", "endpoint_type": "vllm", "backend": "vllm", "label": None, "model_id": "acme/m1",
    "tokenizer_id": "acme/m1", "num_prompts": 100, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 8,
    "duration": 50.0, "completed": 100, "failed": 0, "total_input_tokens": 100_000, "total_output_tokens": 50_000,
    "request_throughput": 2.0, "request_goodput": None, "output_throughput": 1000.0, "total_token_throughput": 3000.0,
    "max_output_tokens_per_s": 1500.0, "max_concurrent_requests": 12,
    "mean_ttft_ms": 200.0, "median_ttft_ms": 150.0, "std_ttft_ms": 40.0, "p99_ttft_ms": 400.0,
    "mean_tpot_ms": 20.0, "median_tpot_ms": 25.0, "std_tpot_ms": 4.0, "p99_tpot_ms": 50.0,
    "mean_itl_ms": 20.0, "median_itl_ms": 25.0, "std_itl_ms": 4.0, "p99_itl_ms": 60.0,
    "mean_e2el_ms": 9000.0, "median_e2el_ms": 8000.0, "std_e2el_ms": 700.0, "p99_e2el_ms": 12000.0,
}  # fmt: skip

# A line of what `python3 -m sglang.bench_serving --output-file` appends.
SGLANG: dict[str, Any] = {
    "tag": None, "backend": "sglang", "dataset_name": "random", "request_rate": "inf", "max_concurrency": 8,
    "sharegpt_output_len": None, "random_input_len": 1024, "random_output_len": 512, "random_range_ratio": 0.8,
    "duration": 50.0, "completed": 100, "total_input_tokens": 100_000, "total_output_tokens": 50_000,
    "total_output_tokens_retokenized": 49_900, "request_throughput": 2.0, "input_throughput": 2000.0,
    "output_throughput": 1000.0, "mean_e2e_latency_ms": 9000.0, "median_e2e_latency_ms": 8000.0,
    "std_e2e_latency_ms": 700.0, "p99_e2e_latency_ms": 12000.0, "mean_ttft_ms": 200.0, "median_ttft_ms": 150.0,
    "std_ttft_ms": 40.0, "p99_ttft_ms": 400.0, "mean_tpot_ms": 20.0, "median_tpot_ms": 25.0, "std_tpot_ms": 4.0,
    "p99_tpot_ms": 50.0, "mean_itl_ms": 20.0, "median_itl_ms": 25.0, "std_itl_ms": 4.0, "p95_itl_ms": 55.0,
    "p99_itl_ms": 60.0, "concurrency": 7.6, "accept_length": None,
}  # fmt: skip

# Of two prefill engines with 8 GPUs each and a decode engine with 16.
ROLES = {
    "IS_MULTINODE": "true", "DISAGG": "true", "PREFILL_NUM_WORKERS": "2", "PREFILL_TP": "8", "PREFILL_EP": "8",
    "PREFILL_DP_ATTN": "true", "DECODE_NUM_WORKERS": "1", "DECODE_TP": "16", "DECODE_EP": "16",
    "DECODE_DP_ATTN": "false",
}  # fmt: skip
MULTI_NODE = {
    **{name: value for name, value in ENVIRONMENT.items() if name not in ("TP", "EP_SIZE", "DP_ATTENTION")},
    **ROLES,
    "PREFILL_GPUS": "16",
    "DECODE_GPUS": "16",
}


def write_output(name: str, *outputs: dict[str, Any]) -> None:
    """Write outputs into a file of the current folder, each on a line."""
    Path(name).write_text("".join(f"{json.dumps(output)}\n" for output in outputs))


def read_row(name: str = "r") -> dict[str, Any]:
    row: dict[str, Any] = json.loads(Path(f"agg_{name}.json").read_text())
    return row
