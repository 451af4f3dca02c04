"""Read the progress of a sweep from the names and states of its jobs. A row's job has the row's id and family in its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from infx.bench.job_names import parse_job_name
from infx.model import Conclusion, Job, Run
from infx.records import record

DROPPED = "dropped"  # job of sweep.yml
PLAN_CHECK = "Check the plan"  # step of sweep.yml and benchmark.yml that compares the plan with its sums


@record
class Counts:
    """Numbers of rows by state."""

    done: int = 0
    failed: int = 0
    stopped: int = 0  # ended with the sweep before the row had a result
    running: int = 0
    waiting: int = 0

    @property
    def total(self) -> int:
        return self.finished + self.running + self.waiting

    @property
    def finished(self) -> int:
        return self.done + self.failed + self.stopped


class SweepState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@record
class SweepProgress:
    """A run of the sweep workflow and the progress of its jobs.

    Attributes:
        rows: throughput rows, by their latest attempts.
        evals: accuracy runs, by their latest attempts.
        ids: ids of all rows that have a job.
        done: ids of the rows that succeeded.
        has_results: whether any result can be viewed.
        swept: None while the gate has not decided; False if it decided against a sweep.
    """

    run: Run
    rows: Counts = Counts()
    evals: Counts = Counts()
    ids: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()
    has_results: bool = False
    swept: bool | None = None
    plan_was_replaced: bool = False  # a job of the sweep found another plan than the one that was made

    @property
    def state(self) -> SweepState:
        if not self.run.is_completed:
            return SweepState.RUNNING
        match self.run.conclusion:
            case Conclusion.SUCCESS | Conclusion.NEUTRAL | Conclusion.SKIPPED:
                return SweepState.DONE
            case Conclusion.CANCELLED | Conclusion.STALE:
                return SweepState.CANCELLED
            case _:
                return SweepState.FAILED

    @property
    def order(self) -> tuple[int, ...]:
        """Return a key that grows with the run, its attempt and its progress, so that older facts sort first."""
        finished = self.rows.finished + self.evals.finished
        return (self.run.id, self.run.attempt, int(self.run.is_completed), finished)


def latest_first(run: Run) -> tuple[bool, float, int]:
    """Return a sort key that puts the run that held the concurrency group last first."""
    # Gates may enter the group in any order, so the newest run may be a cancelled one.
    return (run.is_completed, -run.updated_at.timestamp(), -run.id)


def read_sweep(run: Run, jobs: Iterable[Job], job: str, *, has_results: bool = False) -> SweepProgress:
    """Read the progress of a run. jobs: jobs of all attempts. job: id of the job that calls the sweep (policy)."""
    jobs = _select_valid(run, sorted(jobs, key=lambda job: job.attempt))
    latest: dict[str, tuple[bool, Job]] = {}  # a row's id → whether it is an eval, and its newest job
    for row in jobs:
        if name := parse_job_name(row.name):
            latest[name.id] = ("eval" in name.family.split(), row)
    evals = [row for is_eval, row in latest.values() if is_eval]
    others = [row for is_eval, row in latest.values() if not is_eval]
    row_counts, eval_counts = _count(others), _count(evals)
    return SweepProgress(
        run=run,
        rows=row_counts,
        evals=eval_counts,
        ids=frozenset(latest),
        done=frozenset(row_id for row_id, (_, row) in latest.items() if _judge(row) == "done"),
        has_results=has_results or bool(row_counts.done or eval_counts.done),
        swept=_has_swept(run, jobs, job),
        plan_was_replaced=any(PLAN_CHECK in job.failed_steps for job in jobs),
    )


def _select_valid(run: Run, jobs: Sequence[Job]) -> Sequence[Job]:
    """Select the jobs that count for the newest attempt.

    A partial re-run keeps the other jobs of earlier attempts. A re-run that repeats the gate, or another job that ended
    before the first row began, keeps none of them.
    """
    newest = [job for job in jobs if job.attempt == run.attempt]
    earlier = [job for job in jobs if job.attempt < run.attempt]
    first_row = min(
        (job.started_at for job in earlier if job.started_at and parse_job_name(job.name)), default=None
    )
    before_rows = {
        job.name for job in earlier if first_row and job.completed_at and job.completed_at < first_row
    }
    return newest if any(job.name in before_rows for job in newest) else jobs


def _count(jobs: Iterable[Job]) -> Counts:
    return Counts(**Counter(map(_judge, jobs)))


def _judge(job: Job) -> str:
    """Return the name of the field in `Counts` for this job."""
    match job.status, job.conclusion:
        case "completed", Conclusion.SUCCESS:
            return "done"
        case "completed", Conclusion.CANCELLED | Conclusion.SKIPPED:
            return "stopped"
        case "completed", _:
            return "failed"
        case "in_progress", _:
            return "running"
        case _:
            return "waiting"


def _has_swept(run: Run, jobs: Iterable[Job], name: str) -> bool | None:
    """Return whether the run got as far as its sweep; None if that is not known yet."""
    # Jobs of a called workflow are named `<caller> / <job>`; if the caller was skipped, only `<caller>` exists. The job
    # `dropped` runs only if the gate, asked again, decided against the sweep.
    called = [job for job in jobs if job.name == name or job.name.startswith(f"{name} / ")]
    started_names = {job.name for job in called if job.conclusion is not Conclusion.SKIPPED}
    if started_names:
        return f"{name} / {DROPPED}" not in started_names
    return False if called or run.is_completed else None
