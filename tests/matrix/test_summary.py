"""Warnings about the numbers of a plan."""

from __future__ import annotations

import pytest

from infx.errors import Level
from infx.matrix.estimate import Load
from infx.matrix.summary import PlanSummary, find_long_queues


def load(hours: float | None, rows: int = 1_400, runners: int = 2) -> Load:
    return Load(label="h200", rows=rows, nodes=1, gpus=8, gpu_hours=1.0, runners=runners, hours=hours)


@pytest.mark.parametrize(
    ("estimated", "message"),
    [
        (load(24.0), None),  # GitHub cancels only jobs that wait longer
        (load(None, runners=0), None),  # a label without runners has a warning of its own
        (
            load(1_204.4),
            "h200: about 1,204 hours for 1,400 rows on 2 runners; GitHub cancels a job that waits 24.",
        ),
        (load(25.0, 1, 1), "h200: about 25 hours for 1 row on 1 runner; GitHub cancels a job that waits 24."),
    ],
)
def test_a_queue_of_more_than_a_day_is_a_warning(estimated: Load, message: str | None) -> None:
    problems = find_long_queues(PlanSummary(lines=(), loads=(estimated,), asked=True), 24)
    assert [(problem.message, problem.level) for problem in problems] == (
        [(message, Level.WARNING)] if message else []
    )
