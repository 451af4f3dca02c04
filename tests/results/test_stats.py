"""Success of clusters: which jobs count, and for which cluster."""

from __future__ import annotations

from typing import Any

import pytest

from infx.bench.config import Runners
from infx.results.stats import count_jobs, list_clusters, render_stats
from tests.builders import job
from tests.golden import read_cases, require_data

CASES = [case for case in read_cases("stats") if case["run_stats"] is not None]
CLUSTERS = ("b200-dgxc", "h100-dgxc", "h200-cw")


def count(*jobs: tuple[str, str | None]) -> dict[str, dict[str, int]]:
    """Return the statistics of the clusters that have jobs."""
    items = [job(name, conclusion) for name, conclusion in jobs]
    stats = render_stats(count_jobs(CLUSTERS, items))
    assert list(stats) == sorted(CLUSTERS)
    return {name: item for name, item in stats.items() if item["total"]}


@pytest.mark.golden
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_jobs_are_counted_like_by_the_existing_tool(case: dict[str, Any]) -> None:
    jobs = [job(item["name"], item["conclusion"]) for item in case["jobs"]]
    assert render_stats(count_jobs(case["clusters"], jobs)) == case["run_stats"]


@pytest.mark.golden
def test_there_are_cases() -> None:
    require_data()
    assert CASES


@pytest.mark.parametrize(
    ("name", "cluster"),
    [
        ("id · single-node 8k1k · cluster:h100-dgxc · m1 c64", "h100-dgxc"),
        ("H100-DGXC", "h100-dgxc"),
        ("h100-dgxc-slurm_03", "h100-dgxc"),
        ("xh100-dgxc", None),
        ("h100-dgxc2", None),
        ("h100", None),
        ("h200-cw and b200-dgxc", "b200-dgxc"),  # the first id in the order of ids
        ("sweep / collect", None),
    ],
)
def test_a_job_belongs_to_the_cluster_that_its_name_names(name: str, cluster: str | None) -> None:
    expected = {} if cluster is None else {cluster: {"n_success": 1, "total": 1}}
    assert count((name, "success")) == expected


def test_every_end_except_skipped_counts_as_an_attempt() -> None:
    ends = ["success", "failure", "cancelled", "timed_out", "skipped", None]
    assert count(*(("h200-cw", end) for end in ends)) == {"h200-cw": {"n_success": 1, "total": 5}}


def test_clusters_are_the_labels_of_whole_clusters() -> None:
    labels = {"h100": ("a",), "cluster:h100-b": ("b",), "cluster:h100-a": ("a",)}
    assert list_clusters(Runners(labels=labels, hardware={}, path="x")) == ["h100-a", "h100-b"]
