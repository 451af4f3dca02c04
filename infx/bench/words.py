"""Describe rows in words for names of jobs, messages and tables."""

from __future__ import annotations

from decimal import Decimal

from infx.bench.config import Parallelism, SpecDecoding, Worker
from infx.bench.row import AgenticWorkload, Recipe, Row

_SHORT_FRAMEWORKS = {"sglang": "sgl", "dynamo-sglang": "dyn-sgl", "sglang-disagg": "sgl-disagg"}


def describe_row(row: Row, priority: Decimal | None = None) -> str:
    """Describe a row in one line: priority, model, precision, runner, framework, layout, offload and points."""
    recipe = row.recipe
    words = (
        recipe.model_prefix,
        recipe.precision,
        recipe.runner,
        _SHORT_FRAMEWORKS.get(recipe.framework, recipe.framework),
        describe_layout(recipe),
        recipe.spec_decoding.value if recipe.spec_decoding is not SpecDecoding.NONE else "",
        _describe_offload(recipe),
        "c" + ",".join(map(str, row.conc)),
    )
    text = " ".join(word for word in words if word)
    mark = f"p{priority} | " if priority is not None else ""
    tail = " | eval-only" if row.eval_only else " | eval" if row.run_eval else ""
    return plain(f"{mark}{text}{tail}")


def describe_deployment(recipe: Recipe) -> str:
    """Describe model, framework and runner without the layout: `dsv4 fp8 sglang on cluster:b200`."""
    return f"{recipe.model_prefix} {recipe.precision} {recipe.framework} on {recipe.runner}"


def describe_recipe(recipe: Recipe) -> str:
    return f"{describe_deployment(recipe)}, {describe_layout(recipe)}"


def describe_layout(recipe: Recipe) -> str:
    """Describe the layout: `TP8/EP8/DPA`, or `1P (TP8) x 2D (TP4)` for a disaggregated deployment."""
    layout = recipe.layout
    if isinstance(layout, Parallelism):
        return _describe_parallelism(layout)
    if not recipe.disagg:
        return _describe_workers(layout.prefill)
    prefill = f"{layout.prefill.num_worker}P ({_describe_parallelism(layout.prefill)})"
    return f"{prefill} x {layout.decode.num_worker}D ({_describe_parallelism(layout.decode)})"


def _describe_workers(worker: Worker) -> str:
    text = _describe_parallelism(worker)
    return text if worker.num_worker == 1 else f"{worker.num_worker}x {text}"


def _describe_parallelism(engine: Parallelism) -> str:
    degrees = (("PP", engine.pp), ("DCP", engine.dcp_size), ("PCP", engine.pcp_size), ("EP", engine.ep or 1))
    parts = [f"TP{engine.tp}", *(f"{name}{value}" for name, value in degrees if value != 1)]
    return "/".join([*parts, "DPA"] if engine.dp_attn else parts)


def _describe_offload(recipe: Recipe) -> str:
    workload = recipe.workload
    if not isinstance(workload, AgenticWorkload) or not workload.offloads:
        return ""
    backend = workload.kv_offload_backend
    return f"kv{workload.kv_offloading.value}" + (f"-{backend.name}" if backend else "")


def plain(text: str) -> str:
    """Return the text on one line, without the separators of job names."""
    return " ".join(text.replace("·", " ").replace(" / ", "/").split())
