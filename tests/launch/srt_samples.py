"""A file of srt-slurm clusters with one cluster, and a row to run on it."""

from __future__ import annotations

from typing import Any

from tests.launch.samples import ROW

SRT = """\
defaults: {tool: {url: "https://example.com/srt.git"}, tags: [sku, model-prefix, precision, workload, own], gpus-per-node: 8, time-limit: "4:00:00"}
clusters:
  h200-a:
    sku: h200
    account: a
    partition: p
    alias-too: "{model-prefix}"
    agentic-mounts: {/traces: /t}
    image: {import: host, squash: "/images/{key}.sqsh", lock-timeout: 60}
    rules:
      - {scenario: agentic, framework: dynamo-vllm, model: /agentic, alias: m, ref: v1}
      - {framework: [dynamo-vllm, dynamo-sglang], precision: fp8, model: [/m1, "hf:acme/m1"], alias: m, served: m-served, ref: v2, overlay: [vllm/m1], preflight: false}
"""

_WORKER = {"num-worker": 1, "tp": 8, "pp": 1, "dcp-size": 1, "pcp-size": 1}
_SETTINGS = {"additional-settings": ["CONFIG_FILE=recipes/vllm/m1.yaml"]}
_SINGLE_ONLY = {"tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn"}
MULTI_FIELDS: dict[str, Any] = {
    "prefill": _WORKER | _SETTINGS, "decode": _WORKER, "conc": [4], "framework": "dynamo-vllm", "disagg": True,
    "kv-p2p-transfer": "nixl",
}  # fmt: skip
MULTI_ROW = {name: value for name, value in ROW.items() if name not in _SINGLE_ONLY} | MULTI_FIELDS
