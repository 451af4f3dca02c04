"""What a launch gets of a planned row, and the clusters of a label."""

from __future__ import annotations

import json

import pytest

from infx.bench.config import Runners
from infx.errors import UsageError
from infx.matrix.launches import find_clusters, make_task, parse_row_job
from infx.policy.load import default_policy
from tests.launch.samples import ROW, clusters


def test_a_row_becomes_a_task() -> None:
    job = parse_row_job(json.dumps(ROW).encode(), "row.json")
    task = make_task(job, default_policy())
    assert task.id == job.id
    assert task.environment["CONC"] == "64"
    assert task.environment["SCENARIO_SUBDIR"] == "fixed_seq_len/"
    assert task.gathered[0] == f"agg_{job.result_name}*.json"
    assert task.minutes == default_policy().sweep.row_minutes
    assert task.gpus == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "The row is not JSON"),
        ("{}", "This is not a row of a plan"),
        ("[" * 100_000, "The row is not JSON"),
    ],
)
def test_other_text_is_not_a_row(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_row_job(text.encode(), "row.json")


def test_a_row_may_be_alone_or_as_it_is_shown() -> None:
    shown = {"id": "x", "name": "n", "row": ROW}
    assert parse_row_job(json.dumps(shown).encode(), "r") == parse_row_job(json.dumps(ROW).encode(), "r")


def test_a_label_has_the_clusters_of_its_runners() -> None:
    """Runners without a cluster are reported by the checks of configurations."""
    names = ("h200-once_1", "h200-a_0", "h200-b_0", "h200-a_1")
    runners = Runners(labels={"h200": names}, hardware={}, path="r.yaml")
    assert find_clusters("h200", runners, clusters()) == ("h200-once", "h200-a")
    assert find_clusters("h300", runners, clusters()) == ()
