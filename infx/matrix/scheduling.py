"""Build the labels of a job's `runs-on`.

Without a scheduler, a job has only its runner label. A scheduler that assigns runners by priority reads a
job's score, token and attempt from additional labels.
"""

from __future__ import annotations

from infx.bench.jobs import RowJob
from infx.records import record


@record
class Scheduler:
    """A program that assigns runners to jobs by priority."""

    attempt: int  # of the run, so that a runner assigned to an earlier attempt does not match
    node_slots: bool = False  # whether jobs also need a label with their number of nodes


def list_runner_labels(job: RowJob, scheduler: Scheduler | None) -> str | list[str]:
    """Return the value of `runs-on`."""
    if scheduler is None:
        return job.runs_on
    labels = ["self-hosted", job.runs_on]
    if scheduler.node_slots:
        labels.append(f"nodes:{job.nodes}")
    labels += [f"ci-job-{job.priority}-{job.queue_token}", f"ci-attempt-{scheduler.attempt}"]
    if job.skip_queue_pull is not None:
        labels.append(f"ci-skip-queue-pr-{job.skip_queue_pull}")
    return labels
