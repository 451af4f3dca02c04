"""A repository and a plan with many rows, for measurements."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from infx.bench.config import Parallelism
from infx.bench.row import render_row
from tests.matrix.rows import FIXED, row
from tests.repository import Repository

ROWS_PER_KEY = 512


def write_large(folder: Path, rows: int) -> Path:
    """Write a repository where HEAD~1..HEAD plans `rows` throughput rows (a multiple of 512)."""
    keys = [_config(index) for index in range(rows // ROWS_PER_KEY)]
    repository = Repository.init(folder)
    repository.commit(
        {
            "configs/nvidia-master.yaml": "".join(keys),
            "configs/amd-master.yaml": "{}\n",
            "configs/runners.yaml": "labels:\n  h200: [h200-a_0]\nhardware: {}\n",
            "perf-changelog.yaml": "",
        }
    )
    repository.commit({"perf-changelog.yaml": "- config-keys: ['*']\n  description: [all]\n  pr-link: XXX\n"})
    return folder


def _config(index: int) -> str:
    conc = ", ".join(str(conc) for conc in range(1, 65))
    rows = "".join(f"      - {{tp: {tp}, conc-list: [{conc}]}}\n" for tp in range(1, 9))
    return f"""\
m1-fp8-h200-vllm-{index}:
  image: acme/vllm:v{index}
  model: acme/m1
  model-prefix: m1
  precision: fp8
  framework: vllm
  runner: h200
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
{rows}"""


def write_plan(path: Path, rows: int) -> Path:
    """Write a plan with that many different rows, as `infx plan` prints it."""
    layouts = [
        replace(FIXED, layout=Parallelism(tp=1 + number, ep=1, dp_attn=False)) for number in range(512)
    ]
    values = [render_row(row(layouts[number % 512], 1 + number // 512)) for number in range(rows)]
    path.write_text(json.dumps({"single_node": {"8k1k": values}, "multi_node": {}}), encoding="utf-8")
    return path
