"""Render a row as environment variables for its benchmark script, under the names that existing scripts read.

A variable that does not apply to a row is not set, because scripts treat an empty text in the same way. Values are data:
quote them in a shell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from infx.bench.config import Component, Parallelism, ScenarioType, Worker
from infx.bench.jobs import RowJob
from infx.bench.row import AGENTIC_DURATION, FAST_DURATION, AgenticWorkload, FixedWorkload, Recipe, Roles, Row
from infx.errors import InfxError
from infx.matrix.row_rules import belongs_to_runner
from infx.rowfile.agentic_errors import LIMIT as FAILED_REQUEST_LIMIT
from infx.rowfile.agentic_errors import LIMIT_VARIABLE

PORT = 8888  # where no launcher chooses another one
MULTI_NODE_DRAM_GB = 600  # for multi-node rows without a memory budget of their own
CONSTANTS = {
    "RANDOM_RANGE_RATIO": "0.8",
    "SWEBENCH_USE_MODAL": "true",
    "PYTHONDONTWRITEBYTECODE": "1",  # the checkout is shared by containers of different users
    "PYTHONPYCACHEPREFIX": "/tmp/inferencex-pycache",  # noqa: S108 - in the container, which runs one row
}
# What the container of a single-node row has; the launcher of a multi-node row decides it by itself.
SINGLE_NODE = {
    "HF_HUB_CACHE": "/mnt/hf_hub_cache/",
    "RESULT_DIR": "/workspace/results",
    LIMIT_VARIABLE: FAILED_REQUEST_LIMIT,
    "PORT": str(PORT),
}
_SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def project_job(job: RowJob, *, max_bytes: int) -> dict[str, str]:
    """Return all variables of one job. Raises InfxError for an invalid setting or too long a value."""
    row, recipe = job.row, job.row.recipe
    values: dict[str, str] = {
        "ROW_ID": job.id,
        "RESULT_FILENAME": job.result_name,
        "RUNNER_TYPE": recipe.runner,
        "IMAGE": recipe.image,
        "MODEL": recipe.model,
        "MODEL_PREFIX": recipe.model_prefix,
        "PRECISION": recipe.precision,
        "FRAMEWORK": recipe.framework,
        "SPEC_DECODING": recipe.spec_decoding.value,
        "DISAGG": _render_flag(recipe.disagg),
        "EXP_NAME": row.exp_name,
        "IS_MULTINODE": _render_flag(recipe.is_multinode),
        **CONSTANTS,
        **({} if recipe.is_multinode else SINGLE_NODE),
        **_render_workload(recipe),
        **_render_layout(recipe),
        **_render_concurrency(row),
        **_render_evaluation(row),
        **_render_components(recipe),
    }
    if row.recipe_fingerprint is not None:
        values["RECIPE_FINGERPRINT"] = row.recipe_fingerprint
    for name, value in values.items():
        if len(f"{name}={value}".encode()) >= max_bytes:
            raise InfxError(f"The variable {name} of row {job.id} is longer than an environment can hold.")
    return values


def _render_workload(recipe: Recipe) -> dict[str, str]:
    workload = recipe.workload
    if isinstance(workload, FixedWorkload):
        return {
            "SCENARIO_TYPE": ScenarioType.FIXED.value,
            "SCENARIO_SUBDIR": "fixed_seq_len/",
            "IS_AGENTIC": "0",
            "ISL": str(workload.isl),
            "OSL": str(workload.osl),
            "MAX_MODEL_LEN": str(workload.max_model_len),
            "REQUIRE_POWER": _render_number(bool(workload.require_power)),
            # Scripts check that these are set, whether or not they apply.
            "DURATION": str(AGENTIC_DURATION),
            "AIPERF_EXPERIMENTAL_FAST": "0",
            "TOTAL_CPU_DRAM_GB": str(MULTI_NODE_DRAM_GB if recipe.is_multinode else 0),
        }
    return {
        "SCENARIO_TYPE": ScenarioType.AGENTIC.value,
        "SCENARIO_SUBDIR": "agentic/",
        "IS_AGENTIC": "1",
        "ISL": "0",
        "OSL": "0",
        "MAX_MODEL_LEN": "0",
        "REQUIRE_POWER": "0",
        "DURATION": str(workload.duration),
        "AIPERF_EXPERIMENTAL_FAST": _render_number(workload.duration == FAST_DURATION),
        "WARMUP_REQUESTS": str(workload.warmup_requests),
        "THINKING_MODE": "thinking_on",
        **_render_offload(workload),
    }


def _render_offload(workload: AgenticWorkload) -> dict[str, str]:
    values = {
        "KV_OFFLOADING": workload.kv_offloading.value,
        "TOTAL_CPU_DRAM_GB": str(workload.total_cpu_dram_gb),
    }
    if workload.offloads and workload.kv_offload_backend is not None:
        values["KV_OFFLOAD_BACKEND"] = workload.kv_offload_backend.name
        values["KV_OFFLOAD_BACKEND_METADATA"] = _render_metadata(workload.kv_offload_backend)
    return values


def _render_layout(recipe: Recipe) -> dict[str, str]:
    if isinstance(recipe.layout, Roles):
        return {
            **_render_role("PREFILL", recipe.layout.prefill),
            **_render_role("DECODE", recipe.layout.decode),
        }
    engine = recipe.layout
    return {**_render_engine("", engine, ep="EP_SIZE", dp="DP_ATTENTION"), "GPU_COUNT": str(engine.gpus)}


def _render_role(prefix: str, worker: Worker) -> dict[str, str]:
    values = {f"{prefix}_NUM_WORKERS": str(worker.num_worker)}
    values.update(_render_engine(f"{prefix}_", worker, ep="EP", dp="DP_ATTN"))
    if worker.hardware is not None:
        values[f"{prefix}_HARDWARE"] = worker.hardware
    values.update(_parse_settings(worker.additional_settings or ()))
    return values


def _render_engine(prefix: str, engine: Parallelism, *, ep: str, dp: str) -> dict[str, str]:
    engine = engine.filled()
    return {
        f"{prefix}TP": str(engine.tp),
        f"{prefix}PP_SIZE": str(engine.pp),
        f"{prefix}DCP_SIZE": str(engine.dcp_size),
        f"{prefix}PCP_SIZE": str(engine.pcp_size),
        f"{prefix}{ep}": str(engine.ep),
        f"{prefix}{dp}": _render_flag(bool(engine.dp_attn)),
    }


def _parse_settings(settings: tuple[str, ...]) -> Mapping[str, str]:
    values = {}
    for setting in settings:
        match = _SETTING.fullmatch(setting)
        if match is None or "\0" in setting:
            raise InfxError(
                f"The additional setting {setting!r} is not an assignment.", hint="Write NAME=value."
            )
        if belongs_to_runner(match[1]):
            raise InfxError(
                f"The additional setting {match[1]} belongs to the runner.", hint="Choose another name."
            )
        values[match[1]] = match[2]
    return values


def _render_concurrency(row: Row) -> dict[str, str]:
    """Return the concurrency of a single-node row, or the list of a multi-node row."""
    if not row.recipe.is_multinode:
        return {"CONC": str(row.conc[0])}
    if not row.recipe.is_agentic:
        return {"CONC_LIST": " ".join(map(str, row.conc))}
    # AgentX measures one concurrency per server, so its script needs both forms.
    conc = str(row.conc[0] if row.eval_conc is None else row.eval_conc)
    return {"CONC": conc, "CONC_LIST": conc}


def _render_evaluation(row: Row) -> dict[str, str]:
    values = {"RUN_EVAL": _render_flag(bool(row.run_eval)), "EVAL_ONLY": _render_flag(bool(row.eval_only))}
    if row.required_concs:
        values["EVAL_CONC"] = " ".join(map(str, row.required_concs))
    if row.eval_framework is not None:
        values["EVAL_FRAMEWORK"] = row.eval_framework
    if row.eval_suite is not None:
        values["EVAL_SUITE"] = row.eval_suite
    return values


def _render_components(recipe: Recipe) -> dict[str, str]:
    values = {}
    if recipe.router is not None:
        values["ROUTER_METADATA"] = _render_metadata(recipe.router)
    if recipe.kv_p2p_transfer is not None:
        values["KV_P2P_TRANSFER"] = recipe.kv_p2p_transfer
    if recipe.srt_recipe is not None:
        values["SRT_RECIPE"] = recipe.srt_recipe
    if recipe.eval_srt_recipe is not None:
        values["EVAL_SRT_RECIPE"] = recipe.eval_srt_recipe
    return values


def _render_metadata(component: Component) -> str:
    values = {"name": component.name, "version": component.version}
    return json.dumps(
        {key: value for key, value in values.items() if value is not None}, separators=(",", ":")
    )


def _render_flag(value: bool) -> str:
    return "true" if value else "false"


def _render_number(value: bool) -> str:
    return "1" if value else "0"
