"""Make up the results of a row: plausible files that `collect` accepts, without a benchmark.

The numbers depend on the row only. As a program, this file is a row command: it reads the variables of `infx row env`,
and writes the files into the current folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COMMAND = ["python", "-I", __file__]  # a row command
_ROLES = ("PREFILL", "DECODE")


def make_files(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return file name → JSON value. Raises KeyError if a variable that every row has is not set."""
    name = environ["RESULT_FILENAME"]
    if environ.get("EVAL_ONLY") == "true":
        return _make_eval(environ)
    concs = [int(conc) for conc in (environ.get("CONC_LIST") or environ["CONC"]).replace(",", " ").split()]
    if len(concs) == 1:
        return {f"agg_{name}.json": _make_row(environ, concs[0])}
    return {f"agg_{name}_conc{conc}.json": _make_row(environ, conc) for conc in concs}


def _make_row(environ: Mapping[str, str], conc: int) -> dict[str, Any]:
    speed = 60 + _make_fraction(_describe_deployment(environ)) * 60  # tokens per second of a single client
    interactivity = speed / (1 + (conc / (8 * _count_gpus(environ))) ** 0.75)
    gpus = _count_gpus(environ)
    output = interactivity * conc / gpus
    isl, osl = int(environ["ISL"]), int(environ["OSL"])
    total = output * (1 + (isl / osl if osl else 8))
    ttft = 0.05 + conc * 0.002
    row: dict[str, Any] = {
        "hw": environ["RUNNER_TYPE"],
        "conc": conc,
        "image": environ["IMAGE"],
        "model": environ["MODEL"],
        "infmax_model_prefix": environ["MODEL_PREFIX"],
        "framework": environ["FRAMEWORK"],
        "precision": environ["PRECISION"],
        "spec_decoding": environ["SPEC_DECODING"],
        "disagg": environ["DISAGG"] == "true",
        "isl": isl,
        "osl": osl,
        "tput_per_gpu": round(total, 3),
        "output_tput_per_gpu": round(output, 3),
        "input_tput_per_gpu": round(total - output, 3),
        "median_ttft": round(ttft, 6),
        "median_tpot": round(1 / interactivity, 6),
        "median_intvty": round(interactivity, 3),
        "median_e2el": round(ttft + (osl or 1024) / interactivity, 6),
        "p90_e2el": round(1.2 * (ttft + (osl or 1024) / interactivity), 6),
        "benchmark_outcome": {
            "requested": 10 * conc, "completed": 10 * conc, "failed": 0, "status": "passed",
        },
    }  # fmt: skip
    row.update(_make_layout(environ))
    if fingerprint := environ.get("RECIPE_FINGERPRINT"):
        row["recipe_fingerprint"] = fingerprint
    return row


def _make_layout(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the parallelism, which tells a result's series from others."""
    if "PREFILL_NUM_WORKERS" not in environ:
        return _make_engine(environ, "", "", ("EP_SIZE", "DP_ATTENTION"))
    layout: dict[str, Any] = {}
    for role in _ROLES:
        lower = role.lower()
        layout[f"{lower}_num_workers"] = int(environ[f"{role}_NUM_WORKERS"])
        layout.update(_make_engine(environ, f"{role}_", f"{lower}_", ("EP", "DP_ATTN")))
        if hardware := environ.get(f"{role}_HARDWARE"):
            layout[f"{lower}_hardware"] = hardware
    return layout


def _make_engine(environ: Mapping[str, str], prefix: str, key: str, names: tuple[str, str]) -> dict[str, Any]:
    sizes = {"tp": "TP", "pp": "PP_SIZE", "dcp_size": "DCP_SIZE", "pcp_size": "PCP_SIZE", "ep": names[0]}
    engine: dict[str, Any] = {
        f"{key}{name}": int(environ[f"{prefix}{variable}"])
        for name, variable in sizes.items()
        if f"{prefix}{variable}" in environ
    }
    return {**engine, f"{key}dp_attention": environ.get(f"{prefix}{names[1]}") == "true"}


def _count_gpus(environ: Mapping[str, str]) -> int:
    if "GPU_COUNT" in environ:
        return int(environ["GPU_COUNT"])
    return sum(
        int(environ[f"{role}_NUM_WORKERS"])
        * int(environ[f"{role}_TP"])
        * int(environ.get(f"{role}_PP_SIZE", "1"))
        * int(environ.get(f"{role}_PCP_SIZE", "1"))
        for role in _ROLES
        if f"{role}_NUM_WORKERS" in environ
    )


def _make_eval(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the files of one set, which is batched if there are several concurrencies."""
    concs = [int(conc) for conc in (environ.get("EVAL_CONC") or environ["CONC"]).split()]
    score = round(0.95 + _make_fraction(environ["RESULT_FILENAME"]) * 0.04, 4)
    meta: dict[str, Any] = {
        "hw": environ["RUNNER_TYPE"],
        "image": environ["IMAGE"],
        "model": environ["MODEL"],
        "infmax_model_prefix": environ["MODEL_PREFIX"],
        "framework": environ["FRAMEWORK"],
        "precision": environ["PRECISION"],
        "spec_decoding": environ["SPEC_DECODING"],
    }
    result = {
        "lm_eval_version": "0.4",
        "results": {"gsm8k": {"exact_match,strict-match": score, "exact_match,flexible-extract": score}},
        "n-samples": {"gsm8k": {"original": 1319, "effective": 1319}},
    }
    if len(concs) == 1:
        return {"meta_env.json": {**meta, "conc": concs[0]}, "results.json": result}
    files: dict[str, Any] = {"meta_env.json": {**meta, "eval_concs": concs, "completed_eval_concs": concs}}
    return files | {f"results_conc{conc}.json": result for conc in concs}


def _describe_deployment(environ: Mapping[str, str]) -> str:
    """Return a text that is the same for all points of a curve."""
    names = (
        "RUNNER_TYPE",
        "MODEL_PREFIX",
        "FRAMEWORK",
        "PRECISION",
        "ISL",
        "EP_SIZE",
        "DP_ATTENTION",
        "DECODE_TP",
    )
    return "/".join(environ.get(name, "") for name in names)


def _make_fraction(text: str) -> float:
    """Return a number between 0 and 1 that is always the same for the same text."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF


if __name__ == "__main__":
    for path, value in make_files(os.environ).items():
        Path(path).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
