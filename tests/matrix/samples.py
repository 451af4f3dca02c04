"""Small valid files, which tests change in one line to make them invalid."""

from __future__ import annotations

SINGLE = """\
m1-fp8-h200-vllm:
  image: vllm/vllm-openai:v0.20.0
  model: acme/m1
  model-prefix: m1
  precision: fp8
  framework: vllm
  runner: cluster:h200-a
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - {tp: 4, ep: 1, conc-start: 4, conc-end: 64}
      - {tp: 8, conc-list: [4, 64]}
    agentic-coding:
    - dram-utilization: 0.80
      search-space:
      - {tp: 8, kv-offloading: none, conc-list: [1, 8]}
      - {tp: 4, kv-offloading: dram, kv-offload-backend: {name: hicache}, conc-list: [16]}
"""

DISAGG = """\
m2-fp4-gb200-dynamo-trt:
  image: acme/trt:1.3.0
  model: acme/m2
  model-prefix: m2
  precision: fp4
  framework: dynamo-trt
  runner: cluster:gb200-a
  router: {name: dynamo-router, version: "1.2.1"}
  kv-p2p-transfer: nixl
  multinode: true
  disagg: true
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - conc-list: [90]
        spec-decoding: mtp
        prefill:
          num-worker: 1
          tp: 4
          ep: 4
          dp-attn: true
          additional-settings:
          - "CONFIG_FILE=recipes/8k1k/low.yaml"
          - "PREFILL_NODES=1"
        decode:
          num-worker: 2
          tp: 8
    agentic-coding:
    - dram-utilization: 0.5
      search-space:
      - conc-list: [1]
        kv-offloading: dram
        kv-offload-backend: {name: mooncake, version: "0.3.11"}
        prefill: {num-worker: 1, tp: 8}
        decode: {num-worker: 1, tp: 8, dcp-size: 8}
"""

AGGREGATED = """\
m3-fp8-gb200-dynamo-vllm:
  image: acme/vllm:1.3.0
  model: acme/m3
  model-prefix: m3
  precision: fp8
  framework: dynamo-vllm
  runner: gb200
  multinode: true
  srt-recipe-dir: recipes/m3
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      require-power: true
      search-space:
      - num-nodes: 2
        srt-recipe: agg.yaml:high
        power: true
        conc-list: [64]
        worker: {tp: 8, pp: 1}
      - conc-list: [8]
        prefill: {num-worker: 1, tp: 8}
        decode: {num-worker: 0, tp: 8}
"""

HARDWARE = """\
labels:
  h200: [h200-a_0, h200-b_0]
  gb200: [gb200-a_0]
  cluster:h200-a: [h200-a_0]
  cluster:gb200-a: [gb200-a_0]
hardware:
  cluster:h200-a: {gpus-per-node: 8, available-cpu-dram-mib: 2063837}
  cluster:gb200-a: {gpus-per-node: 4, available-cpu-dram-mib: 860160}
"""

CLUSTERS = """\
labels:
  h200: [h200-a_0, h200-a_1]
  cluster:h200-a:
  - h200-a_0
  - h200-a_1
  partition:main: [h200-a_0, h200-a_1]
clusters:
  h200-a:
    gpus-per-node: 8
    available-cpu-dram-mib: 2063837
    arch: x86_64
    env: {NCCL_DEBUG: WARN}
    models:
      entries:
        m1: {root: weights, dir: acme/m1}
      download-root: weights
    scheduler: slurm
    slurm:
      partition: main
      partitions: [main, batch]
      account: bench
      exclusive: true
      gres: "gpu:{gpus}"
      cpus-per-gpu: 12
      srun-args: [--mpi=pmix]
      volumes:
        weights: {path: /mnt/weights, visibility: shared}
        scratch: {path: ~/scratch, visibility: node-local}
      squash: {dir: /mnt/squash, visibility: shared, import: submit-host}
"""


# A clusters file for the runners of HARDWARE.
LAUNCHED = """\
defaults:
  allocate: salloc
  exclusive: true
  time: 780
  scripts: ["{dir}/{code}_{precision}_{gpu}_{framework}{spec}.sh", "{dir}/{code}_{precision}_{gpu}{spec}.sh"]
  image: {squash: "/images/{key}.sqsh"}
clusters:
  h200-a: {gpu: h200}
  gb200-a: {gpu: gb200}
aliases: {h200-b: h200-a}
"""


def change(text: str, old: str, new: str) -> str:
    """Return the text with its only occurrence of `old` replaced."""
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
    return text.replace(old, new)
