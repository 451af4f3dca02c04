"""Make plans, artifacts and result files for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from infx.bench.family import family_of
from infx.bench.identity import row_ids
from infx.bench.jobs import RowJob
from infx.bench.row import Row
from infx.bench.uploads import artifact_name
from infx.policy.load import default_policy
from infx.results.artifact import ArtifactFile, ReadArtifact
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

RULES = default_policy().results
RESULT: dict[str, Any] = {
    "hw": "cluster:h200-a",
    "conc": 64,
    "image": "vllm/vllm-openai:v1",
    "model": "acme/m1",
    "infmax_model_prefix": "m1",
    "framework": "vllm",
    "precision": "fp8",
    "spec_decoding": "none",
    "disagg": False,
    "isl": 8192,
    "osl": 1024,
    "tp": 8,
    "dp_attention": False,
    "tput_per_gpu": 1234.5,
    "median_ttft": 0.25,
    "benchmark_outcome": {"requested": 640, "completed": 640, "failed": 0, "status": "passed"},
}


def result(**changes: Any) -> dict[str, Any]:
    """Return a result of the row FIXED at concurrency 64; a value of None removes a key."""
    values = {**RESULT, **changes}
    return {key: value for key, value in values.items() if value is not None}


def make_jobs(rows: Sequence[Row]) -> list[RowJob]:
    return [
        RowJob(
            id=row_id,
            row=row,
            family=family_of(row),
            name=f"{row_id} · x · y",
            priority=Decimal(1),
            queue_token="t",
            shard=0,
        )
        for row_id, row in zip(row_ids(rows), rows, strict=True)
    ]


def artifact(name: str, files: Mapping[str, Any]) -> ReadArtifact:
    """Return an artifact; its values become JSON, but bytes stay unchanged."""
    return ReadArtifact(
        name=name,
        files=tuple(
            ArtifactFile(path=path, data=value if isinstance(value, bytes) else json.dumps(value).encode())
            for path, value in files.items()
        ),
    )


def harness(score: Any = 0.9, samples: Any = 1319, task: str = "gsm8k", **more: Any) -> dict[str, Any]:
    return {
        "lm_eval_version": "0.4",
        "results": {task: {"exact_match,strict-match": score, "exact_match_stderr,strict-match": 0.01}},
        "n-samples": {task: {"original": 1319, "effective": samples}},
        **more,
    }


ROWS = [
    row(FIXED, 64),
    row(AGENTIC, 8),
    row(DISAGG, 4, 8),
    row(FIXED, 64, eval_only=True),
]
FIXED_JOB, AGENTIC_JOB, DISAGG_JOB, EVAL_JOB = JOBS = make_jobs(ROWS)
MULTI = {"framework": "dynamo-vllm", "disagg": True, "tp": None, "dp_attention": None}


def good() -> dict[str, dict[str, Any]]:
    """Return artifact → files of a sweep without errors."""
    return {
        artifact_name(FIXED_JOB): {"agg.json": result()},
        artifact_name(AGENTIC_JOB): {"agg.json": result(conc=8, isl=0, osl=0, spec_decoding="mtp")},
        artifact_name(DISAGG_JOB): {
            "agg_conc4.json": result(conc=4, **MULTI),
            "deep/agg_conc8.json": result(conc=8, **MULTI),
        },
        artifact_name(EVAL_JOB): {"meta_env.json": {"conc": 64}, "results.json": harness()},
    }
