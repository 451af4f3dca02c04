"""What a launch needs to know about a job, and the clusters that may get it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from infx import schema
from infx.bench.config import Runners
from infx.bench.family import family_of
from infx.bench.identity import row_ids
from infx.bench.jobs import RowJob
from infx.bench.row import RowReader
from infx.bench.uploads import list_uploaded
from infx.errors import InfxError, UsageError
from infx.launch.clusters import Clusters
from infx.launch.render import render_row_launch
from infx.launch.steps import render_launch
from infx.launch.texts import LaunchTask
from infx.matrix.environment import project_job
from infx.policy.model import Policy


def make_task(job: RowJob, policy: Policy) -> LaunchTask:
    """Return a job as a machine runs it. Raises InfxError for an invalid setting or too long a value."""
    return LaunchTask(
        id=job.id,
        row=job.row,
        environment=project_job(job, max_bytes=policy.limits.environment_bytes),
        gathered=list_uploaded(job),
        minutes=policy.sweep.row_minutes,
    )


def find_clusters(label: str, runners: Runners, clusters: Clusters) -> tuple[str, ...]:
    """Return the names of the clusters whose runners have a label, in the inventory's order."""
    names = map(clusters.find_name, runners.labels.get(label, ()))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def render_launches(
    jobs: Iterable[RowJob], policy: Policy, runners: Runners, clusters: Clusters
) -> Iterator[str]:
    """Yield what `infx.rowfile.launch_steps` reads: a line for each row and each cluster that may get it.

    A row that its clusters cannot launch, because it needs several nodes, has no line, and runs the row command. A line
    with `refused` says why one of the clusters cannot run the row.
    """
    for job in jobs:
        if job.row.recipe.is_multinode:
            continue
        task = make_task(job, policy)
        for name in find_clusters(job.row.recipe.runner, runners, clusters):
            names = [
                runner
                for runner in runners.labels[job.row.recipe.runner]
                if clusters.find_name(runner) == name
            ]
            yield (
                json.dumps(
                    {"row": job.id, "cluster": name, "runners": names, **_render(task, name, clusters)}
                )
                + "\n"
            )


def _render(task: LaunchTask, name: str, clusters: Clusters) -> dict[str, Any]:
    try:
        return {"launch": render_launch(render_row_launch(task, name, clusters))}
    except InfxError as error:
        return {"refused": str(error)}


def parse_row_job(data: bytes, path: str) -> RowJob:
    """Parse a row, alone or as `infx row show` prints it, as a job without a place in a queue. Raises UsageError."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The row is not JSON: {error}.", where=path) from None
    if isinstance(value, dict):
        value = value.get("row", value)
    if not schema.is_valid("matrix-row", value):
        raise UsageError("This is not a row of a plan; expected what infx row show prints.", where=path)
    row = RowReader().read(value)
    (row_id,) = row_ids([row])
    family = family_of(row)
    return RowJob(
        id=row_id, row=row, family=family, name=row_id, priority=Decimal(0), queue_token="", shard=0
    )
