"""What a launch needs to know about a job, and the clusters that may get it."""

from __future__ import annotations

import json
from decimal import Decimal

from infx import schema
from infx.bench.config import Runners
from infx.bench.family import family_of
from infx.bench.identity import row_ids
from infx.bench.jobs import RowJob
from infx.bench.row import RowReader
from infx.bench.uploads import list_uploaded
from infx.errors import UsageError
from infx.launch.clusters import Clusters
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
