"""The uploads of a row's job: the artifact's name, and the files that the row command leaves for it."""

from __future__ import annotations

from infx.bench.jobs import RowJob

THROUGHPUT, AGENTIC_THROUGHPUT, ACCURACY = "bmk_", "bmk_agentic_", "eval_"  # beginnings of artifact names
META = "meta_env.json"  # of an accuracy run


def artifact_name(job: RowJob) -> str:
    """Return the name of the one artifact that makes a job's row present."""
    if job.row.eval_only:
        return ACCURACY + job.result_name
    return (AGENTIC_THROUGHPUT if job.row.recipe.is_agentic else THROUGHPUT) + job.result_name


def list_uploaded(job: RowJob) -> tuple[str, ...]:
    """Return patterns for the names of all files that belong to a job's results."""
    return f"agg_{job.result_name}*.json", META, "results*.json", "samples*.jsonl"


def list_required(job: RowJob) -> tuple[str, ...]:
    """Return patterns for the files without which a row has no result."""
    return (META, "results*.json") if job.row.eval_only else (f"agg_{job.result_name}*.json",)
