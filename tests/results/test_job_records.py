"""The records of jobs: the first error in the summary, and hostile or broken records that change nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infx.bench.uploads import artifact_name
from infx.results.collect import EVENTS_FILE, Collection, RowState, collect, list_problems, render_files
from infx.results.report import render_report
from tests.results.made import FIXED_JOB, JOBS, RULES, artifact, good

ERROR = {
    "stage": "command",
    "type": "exit-code",
    "message": "It ended with 3.",
    "exit_code": 3,
    "retriable": False,
}
FAILED = {"schema": 1, "identity": {"row_id": FIXED_JOB.id}, "outcome": "failure", "error": ERROR}


def run(record: Any, *, with_result: bool = True) -> Collection:
    """Collect a sweep without errors in which one job left a record."""
    files = good()
    name = artifact_name(FIXED_JOB)
    files[name] = {**(files[name] if with_result else {}), "job_event.json": record}
    return collect(JOBS, [artifact(name, content) for name, content in files.items()], RULES)


def test_the_first_error_of_a_failed_row_comes_first() -> None:
    collection = run(FAILED, with_result=False)
    [problem] = list_problems(collection)
    assert (
        problem.message
        == f"The row {FIXED_JOB.id} failed: command: It ended with 3; no result for concurrency 64."
    )
    failed = render_report(collection).partition("### Failed (1)")[2]
    assert failed.index("It ended with 3") < failed.index("no result for concurrency 64")


@pytest.mark.parametrize(
    ("cause", "words"), [("benchmark", ""), ("infrastructure", " (infrastructure)"), ("<x>", ""), (7, "")]
)
def test_a_failure_of_the_machine_says_so(cause: object, words: str) -> None:
    [problem] = list_problems(run({**FAILED, "error": {**ERROR, "cause": cause}}, with_result=False))
    assert f"failed: command: It ended with 3{words}; no result" in problem.message


def test_a_row_whose_job_failed_is_not_present() -> None:
    """Its results are published, as those of every row with complete results."""
    collection = run(FAILED)
    assert collection.coverage[0].state is RowState.FAILED
    assert len(collection.points) == 4
    assert [problem.rule for problem in list_problems(collection)] == ["result-failed"]


def test_records_are_joined_in_the_order_of_the_plan() -> None:
    [line] = render_files(run(FAILED))[EVENTS_FILE].splitlines()
    assert json.loads(line) == {"artifact": artifact_name(FIXED_JOB), **FAILED}
    assert EVENTS_FILE not in render_files(run({"schema": 2}))


@pytest.mark.parametrize(
    "record",
    [b"{", b"\xff", [], "x", {"schema": 2, "error": ERROR}, {"schema": 1}, {"schema": 1, "error": [1]},
     {"schema": 1, "error": {"stage": 1, "message": []}}, b" " * 200_000],
)  # fmt: skip
def test_a_record_that_cannot_be_read_fails_nothing(record: Any) -> None:
    collection = run(record)
    assert collection.coverage[0].state is RowState.PRESENT
    assert list_problems(collection) == []


def test_foreign_text_of_a_record_stays_text() -> None:
    text = "<img src=x>|\n::error::x"
    collection = run({**FAILED, "error": {**ERROR, "message": text}})
    markdown = render_report(collection)
    assert "<img" not in markdown
    assert not any(line.startswith("::") for line in markdown.splitlines())
