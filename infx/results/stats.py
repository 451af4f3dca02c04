"""Count how many jobs of each cluster succeeded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from infx.bench.config import Runners
from infx.model import Conclusion, Job
from infx.records import record

CLUSTER = "cluster:"


@record
class ClusterStats:
    """The jobs of a cluster, over all attempts of a run. Skipped jobs do not count."""

    succeeded: int = 0
    total: int = 0


def list_clusters(runners: Runners) -> list[str]:
    """Return the ids of an inventory's clusters, sorted."""
    labels = {*runners.labels, *runners.hardware}
    return sorted(label.removeprefix(CLUSTER) for label in labels if label.startswith(CLUSTER))


def count_jobs(clusters: Iterable[str], jobs: Iterable[Job]) -> Mapping[str, ClusterStats]:
    """Return cluster → its jobs, also for clusters without a job.

    A job belongs to the first cluster whose id is in the job's name, with no letter or digit next to it.
    """
    ordered = sorted(clusters)
    succeeded, total = dict.fromkeys(ordered, 0), dict.fromkeys(ordered, 0)
    patterns = [
        (cluster, re.compile(rf"(?<![a-z0-9]){re.escape(cluster.lower())}(?![a-z0-9])"))
        for cluster in ordered
    ]
    for job in jobs:
        name = job.name.lower()
        cluster = next((cluster for cluster, pattern in patterns if pattern.search(name)), None)
        if cluster is not None and job.conclusion is not Conclusion.SKIPPED:
            total[cluster] += 1
            succeeded[cluster] += job.conclusion is Conclusion.SUCCESS
    return {name: ClusterStats(succeeded=succeeded[name], total=total[name]) for name in ordered}


def render_stats(stats: Mapping[str, ClusterStats]) -> dict[str, dict[str, int]]:
    """Return the statistics in the form of `run_stats.json`."""
    return {name: {"n_success": item.succeeded, "total": item.total} for name, item in stats.items()}
