"""The labels that a job asks its runner for.

Without a scheduler that is the runner label alone. A scheduler that hands out runners by priority finds a job's
score, token and attempt in further labels, in the forms that it knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from infx.bench.jobs import RowJob


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    """attempt: of the run, so that a runner meant for an earlier one does not match. node_slots: it counts nodes."""

    attempt: int
    node_slots: bool = False


def runner_labels(job: RowJob, scheduler: Scheduler | None) -> str | list[str]:
    """For `runs-on`."""
    if scheduler is None:
        return job.runs_on
    labels = ["self-hosted", job.runs_on]
    if scheduler.node_slots:
        labels.append(f"nodes:{job.nodes}")
    labels += [f"ci-job-{job.priority}-{job.queue_token}", f"ci-attempt-{scheduler.attempt}"]
    if job.skip_queue_pull is not None:
        labels.append(f"ci-skip-queue-pr-{job.skip_queue_pull}")
    return labels
