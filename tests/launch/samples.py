"""A clusters file with one cluster of each kind, and a row to run on them."""

from __future__ import annotations

from typing import Any

from infx.bench.row import RowReader
from infx.launch.clusters import Clusters, load_clusters
from infx.launch.texts import LaunchTask

CLUSTERS = """\
defaults:
  scripts: ["{dir}/{code}_{precision}_{gpu}_{framework}{spec}.sh", "{dir}/{code}_{precision}_{gpu}{tag}{spec}.sh"]
  hf-cache: /cache
  mounts: ["{hf-cache}:{hf}"]
  container: {entrypoint: none}
families:
  slurm: {allocate: salloc, partition: batch, exclusive: true, gres: "gpu:{gpus}", time: 480, image: {squash: "/images/{key}.sqsh"}}
clusters:
  h200-a: {extends: slurm, gpu: h200}
  h200-once: {extends: slurm, allocate: srun, gpu: h200, image: {from: registry}}
  h200-docker: {allocate: none, gpu: h200, image: {from: docker}, container: {name: "bench-{runner}", gpus: "{gpus}"}}
  h200-bare: {allocate: none, gpu: h200, image: {from: none}}
"""

ROW: dict[str, Any] = {
    "image": "acme/vllm:1", "model": "acme/m1", "model-prefix": "m1", "precision": "fp8", "framework": "vllm",
    "runner": "h200", "spec-decoding": "none", "isl": 8192, "osl": 1024, "max-model-len": 9472, "tp": 4, "pp": 1,
    "dcp-size": 1, "pcp-size": 1, "ep": 1, "dp-attn": False, "conc": 64, "exp-name": "m1_8k1k", "disagg": False,
    "run-eval": False,
}  # fmt: skip
SCRIPT = "benchmarks/single_node/fixed_seq_len/m1_fp8_h200.sh"


def change(text: str, old: str, new: str) -> str:
    """Return the text with one place changed. Fails if the place is not there exactly once."""
    assert text.count(old) == 1, old
    return text.replace(old, new)


def clusters(text: str = CLUSTERS) -> Clusters:
    return load_clusters(text.encode(), "c.yaml")


def task(environment: dict[str, str] | None = None, **fields: Any) -> LaunchTask:
    """Return the row as a task. fields: of the row, with `_` for `-`."""
    row = ROW | {name.replace("_", "-"): value for name, value in fields.items()}
    variables = {"SCENARIO_SUBDIR": "fixed_seq_len/", "CONC": "64", **(environment or {})}
    return LaunchTask(
        id="350d77624985",
        row=RowReader().read(row),
        environment=variables,
        gathered=("agg_*.json",),
        minutes=500,
    )
