"""Estimate roughly how long rows run and wait, for tables, warnings and the order of rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from infx.bench.config import Runners
from infx.bench.row import AgenticWorkload, Row
from infx.bench.topology import count_gpus, count_nodes
from infx.policy.model import Estimates
from infx.records import record


@record
class Load:
    """The load that a plan puts on one runner label."""

    label: str
    rows: int
    nodes: int  # of the largest row
    gpus: int  # of the largest row
    gpu_hours: float
    runners: int
    hours: float | None  # until the last job ends if all runners are free; None without a runner


def estimate_minutes(row: Row, estimates: Estimates) -> float:
    """Return the wall time of the row's job."""
    points = len(row.conc)  # measured one after the other
    if row.eval_only:
        return estimates.start_up + estimates.evaluation * points
    workload = row.recipe.workload
    if isinstance(workload, AgenticWorkload):
        return estimates.start_up + (workload.duration / 60 + estimates.agentic_overhead) * points
    return estimates.start_up + estimates.fixed * points


def estimate_gpu_hours(rows: Iterable[Row], estimates: Estimates) -> float:
    """Return the GPU-hours of rows; a row uses all of its GPUs for the wall time of its job."""
    return sum(estimate_minutes(row, estimates) * count_gpus(row.recipe) for row in rows) / 60


def estimate_loads(rows: Iterable[Row], runners: Runners, estimates: Estimates) -> list[Load]:
    """Return the load of each runner label, the busiest first."""
    by_label: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_label[row.recipe.runner].append(row)
    loads = [_estimate_load(label, own, runners, estimates) for label, own in by_label.items()]
    return sorted(loads, key=lambda load: (-(load.hours or 0), load.label))


def _estimate_load(label: str, rows: list[Row], runners: Runners, estimates: Estimates) -> Load:
    serving = len(runners.labels.get(label, ()))
    minutes = [estimate_minutes(row, estimates) for row in rows]
    gpus = [count_gpus(row.recipe) for row in rows]
    return Load(
        label=label,
        rows=len(rows),
        nodes=max(count_nodes(recipe, runners) for recipe in {row.recipe for row in rows}),
        gpus=max(gpus),
        gpu_hours=estimate_gpu_hours(rows, estimates),
        runners=serving,
        hours=sum(minutes) / 60 / serving if serving else None,
    )


def order_rows(rows: Sequence[Row], estimates: Estimates) -> list[int]:
    """Return the positions of the rows in the order in which failures cost least.

    The cheapest point of every recipe comes before any second point, and cheap recipes come first: the first
    point shows whether a recipe works at all.
    """
    by_recipe: dict[object, list[tuple[float, int, int]]] = defaultdict(list)
    for index, row in enumerate(rows):
        cost = estimate_minutes(row, estimates) * count_gpus(row.recipe)
        by_recipe[row.recipe, row.eval_only].append((cost, min(row.conc), index))
    ranked = []
    for points in by_recipe.values():
        points.sort()
        ranked += [(rank, cost, index) for rank, (cost, _, index) in enumerate(points)]
    return [index for *_, index in sorted(ranked)]
