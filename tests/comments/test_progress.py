"""The progress of a sweep, read from its jobs."""

from __future__ import annotations

from typing import Any

import pytest

from infx.comments.progress import Counts, SweepProgress, SweepState, read_sweep
from infx.model import Job
from tests.builders import job, row_job, run


def read(*jobs: Job, **more: Any) -> SweepProgress:
    return read_sweep(run(**more), jobs, "sweep")


def test_rows_and_evals_are_counted_separately() -> None:
    sweep = read(
        job("gate"),
        row_job(1, family="canary"),
        row_job(2),
        row_job(3, "failure"),
        row_job(4, "cancelled"),
        row_job(5, None),
        row_job(6, None, status="queued"),
        row_job(7, family="multi-node agentic eval"),
        row_job(8, "timed_out", family="eval"),
        job("sweep / collect"),
        job("sweep-status"),
    )
    assert sweep.rows == Counts(done=2, failed=1, stopped=1, running=1, waiting=1)
    assert sweep.evals == Counts(done=1, failed=1)
    assert sweep.has_results


@pytest.mark.parametrize("name", ["sweep / rows (0) / list", "sweep / collect", row_job(2).name])
def test_a_plan_that_another_job_replaced_is_noticed(name: str) -> None:
    steps = ("Check the plan",)
    assert read(row_job(1), job(name, "failure", failed_steps=steps), conclusion="failure").plan_was_replaced
    assert not read(row_job(1), job(name, "failure", failed_steps=("Run it",))).plan_was_replaced


def test_a_row_counts_once_by_its_newest_attempt() -> None:
    sweep = read(
        row_job(1, "failure", attempt=1), row_job(1, "success", attempt=2), row_job(2, "failure", attempt=1)
    )
    assert sweep.rows == Counts(done=1, failed=1)
    assert read(row_job(1, "success", attempt=2), row_job(1, "failure", attempt=1)).rows == Counts(done=1)


FIRST = (
    job("gate"),
    job("sweep / plan", at=1),
    row_job(1, at=2),
    row_job(2, "failure", at=2),
    row_job(3, at=3),
    job("sweep-status", "failure", at=4),
)


def test_a_partial_re_run_keeps_the_rows_that_it_does_not_repeat() -> None:
    again = (row_job(2, None, attempt=2, at=9), job("sweep-status", None, status="queued", attempt=2, at=9))
    assert read(*FIRST, *again, attempt=2, conclusion=None).rows == Counts(done=2, running=1)
    only_status = read(*FIRST, job("sweep-status", attempt=2, at=9), attempt=2)
    assert (only_status.rows, only_status.swept) == (Counts(done=2, failed=1), True)


def test_a_full_re_run_keeps_no_rows() -> None:
    gate = job("gate", attempt=2, at=9)
    assert read(*FIRST, gate, attempt=2, conclusion=None).rows == Counts()
    assert read(*FIRST, gate, attempt=2, conclusion=None).swept is None
    stopped = read(*FIRST, gate, job("sweep", "skipped", attempt=2, at=10), attempt=2)
    assert (stopped.rows, stopped.swept) == (Counts(), False)
    begun = read(*FIRST, gate, row_job(1, None, attempt=2, at=11), attempt=2, conclusion=None)
    assert begun.rows == Counts(running=1)


@pytest.mark.parametrize(
    ("jobs", "conclusion", "swept"),
    [
        ((), None, None),  # its gate has not decided
        ((job("gate", None),), None, None),
        ((job("gate"), job("sweep", "skipped")), "success", False),
        ((job("gate", "failure"),), "failure", False),
        ((job("gate"), job("sweep / plan", None)), None, True),
        ((job("gate"), job("sweep / plan", "failure")), "failure", True),
        ((job("gate"), job("sweep / plan"), job("sweep / dropped", "skipped"), row_job(1)), "success", True),
        ((job("gate"), job("sweep / plan"), job("sweep / dropped", None)), None, False),
        ((job("gate"), job("sweep / plan"), job("sweep / dropped")), "success", False),
        ((job("gate"), job("sweep-status")), None, None),  # another job whose name starts in the same way
        ((job("gate"), job("sweep", "skipped"), job("stop")), "success", False),
    ],
)
def test_a_run_has_swept_unless_its_gate_decided_against_it(
    jobs: tuple[Job, ...], conclusion: str | None, swept: bool | None
) -> None:
    assert read(*jobs, conclusion=conclusion).swept is swept


@pytest.mark.parametrize(
    ("conclusion", "state"),
    [
        (None, SweepState.RUNNING),
        ("success", SweepState.DONE),
        ("failure", SweepState.FAILED),
        ("timed_out", SweepState.FAILED),
        ("startup_failure", SweepState.FAILED),
        ("action_required", SweepState.FAILED),
        ("cancelled", SweepState.CANCELLED),
    ],
)
def test_the_state_follows_the_conclusion_of_the_run(conclusion: str | None, state: SweepState) -> None:
    assert SweepProgress(run=run(conclusion=conclusion)).state is state


def test_facts_are_ordered_by_run_attempt_and_progress() -> None:
    ordered = [
        read(row_job(1), id=899),
        read(row_job(1, None), conclusion=None),
        read(row_job(1), row_job(2, None), conclusion=None),
        read(row_job(1), row_job(2)),
        read(row_job(1), attempt=2, conclusion=None),
        read(id=901, conclusion=None),
    ]
    orders = [sweep.order for sweep in ordered]
    assert orders == sorted(orders)
    assert len(set(orders)) == len(orders)
