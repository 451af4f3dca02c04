"""How far a sweep has come, told from its jobs alone: a row's job carries the row's id and family in its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from infx.bench.jobs import parse_job_name
from infx.model import Conclusion, Job, Run

DROPPED = "dropped"  # job of sweep.yml
PLAN_CHECK = "Check the plan"  # step of sweep.yml and benchmark.yml that compares the plan with its sums


@dataclass(frozen=True, kw_only=True)
class Counts:
    """stopped: ended without a verdict on the row, as the others do when one fails and the sweep ends with it."""

    done: int = 0
    failed: int = 0
    stopped: int = 0
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


@dataclass(frozen=True, kw_only=True)
class SweepProgress:
    """A run of the sweep workflow and what its jobs say.

    rows: throughput rows; evals: accuracy rows; both of the latest attempt of each row. ids: of all rows that have a
    job; done: of those that succeeded. has_results: whether
    anything can be looked at. swept: None while the gate has not decided; False if it decided against a sweep.
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
        """Grows with the run, its attempt and its progress: facts with a smaller order are older."""
        finished = self.rows.finished + self.evals.finished
        return (self.run.id, self.run.attempt, int(self.run.is_completed), finished)


def latest_first(run: Run) -> tuple[bool, float, int]:
    """Sorts the runs of one pull request by who held their concurrency group last. Gates may enter it in either order, so
    the newest run may be the one that was cancelled.
    """
    return (run.is_completed, -run.updated_at.timestamp(), -run.id)


def read_sweep(run: Run, jobs: Iterable[Job], job: str, *, has_results: bool = False) -> SweepProgress:
    """jobs: of all attempts. job: the id of the workflow's job that calls the sweep (policy)."""
    jobs = _select_valid(run, sorted(jobs, key=lambda job: job.attempt))
    latest: dict[str, tuple[bool, Job]] = {}  # a row's id → whether it is an eval, and its newest job
    for row in jobs:
        if name := parse_job_name(row.name):
            latest[name.id] = ("eval" in name.family.split(), row)
    evals = [row for is_eval, row in latest.values() if is_eval]
    others = [row for is_eval, row in latest.values() if not is_eval]
    counted = _count(others), _count(evals)
    return SweepProgress(
        run=run,
        rows=counted[0],
        evals=counted[1],
        ids=frozenset(latest),
        done=frozenset(row_id for row_id, (_, row) in latest.items() if _judge(row) == "done"),
        has_results=has_results or any(counts.done for counts in counted),
        swept=_has_swept(run, jobs, job),
        plan_was_replaced=any(PLAN_CHECK in job.failed_steps for job in jobs),
    )


def _select_valid(run: Run, jobs: Sequence[Job]) -> Sequence[Job]:
    """Those that tell how the newest attempt stands. A partial re-run leaves the other jobs as they were; one that
    repeats what had ended before any row began, the gate, begins anew and leaves nothing.
    """
    newest = [job for job in jobs if job.attempt == run.attempt]
    earlier = [job for job in jobs if job.attempt < run.attempt]
    begun = min(
        (job.started_at for job in earlier if job.started_at and parse_job_name(job.name)), default=None
    )
    before_rows = {job.name for job in earlier if begun and job.completed_at and job.completed_at < begun}
    return newest if any(job.name in before_rows for job in newest) else jobs


def _count(jobs: Iterable[Job]) -> Counts:
    return Counts(**Counter(map(_judge, jobs)))


def _judge(job: Job) -> str:
    """What it is counted as."""
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
    """A called workflow's jobs are named `<caller> / <job>`; where the caller was skipped, only `<caller>` exists.

    One of them runs only if the gate, asked again, has decided against the sweep.
    """
    called = [job for job in jobs if job.name == name or job.name.startswith(f"{name} / ")]
    begun = {job.name for job in called if job.conclusion is not Conclusion.SKIPPED}
    if begun:
        return f"{name} / {DROPPED}" not in begun
    return False if called or run.is_completed else None
