"""The planned rows and the scores of a page, from the files that collect writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infx.bench.uploads import artifact_name
from infx.errors import UsageError
from infx.page.facts import parse_coverage
from infx.results.artifact import ReadArtifact
from infx.results.collect import COVERAGE_FILE, RowState, collect, render_files
from infx.results.compare import flatten_results, read_results
from infx.results.series import identify_planned
from infx.rowfile.record import RECORD, SCHEMA
from tests.page.made import make_scores
from tests.results.made import AGENTIC_JOB, DISAGG_JOB, FIXED_JOB, JOBS, RULES, artifact, good


def read_coverage(artifacts: list[ReadArtifact]) -> Any:
    return json.loads(render_files(collect(JOBS, artifacts, RULES))[COVERAGE_FILE])


def test_planned_rows_have_the_first_error_of_their_jobs() -> None:
    files = good()
    del files[artifact_name(AGENTIC_JOB)]
    error = {"stage": "server", "type": "exit", "message": "CUDA out of memory."}
    files[artifact_name(FIXED_JOB)][RECORD] = {"schema": SCHEMA, "error": error}
    coverage = parse_coverage(read_coverage([artifact(key, content) for key, content in files.items()]), "x")
    fixed, agentic, disagg, accuracy = coverage
    assert (fixed.state, fixed.error) == (RowState.FAILED, "server: CUDA out of memory")
    assert (agentic.state, agentic.error.startswith("no artifact ")) == (RowState.MISSING, True)
    assert (disagg.state, disagg.error, disagg.concs) == (RowState.PRESENT, "", (4, 8))
    assert (accuracy.series, accuracy.words.endswith("eval-only")) == (None, True)


def test_a_planned_row_has_the_series_of_its_results() -> None:
    points = collect(JOBS, [artifact(key, content) for key, content in good().items()], RULES).points
    rows = read_results(flatten_results([("x", [point.values for point in points])]), RULES).rows
    planned = {identify_planned(job.row).key for job in (FIXED_JOB, AGENTIC_JOB, DISAGG_JOB)}
    assert {row.series.key for row in rows} <= planned
    assert len(planned) == 3


@pytest.mark.parametrize(
    "value",
    [None, [], {}, {"rows": 1}, {"rows": [{}]}, {"rows": [{"row": {}, "state": "present", "faults": []}]}],
    ids=str,
)
def test_a_list_of_another_form_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match=r"^a/coverage\.json does not have the planned rows in the form"):
        parse_coverage(value, "a/coverage.json")


def test_scores_are_judged_by_their_bars() -> None:
    scores = make_scores(
        {"score": 0.9, "hw": "a"},  # a score equal to its bar passes
        {"score": 0.89, "hw": "b"},
        {"score": None, "error": "it has no score", "hw": "c"},
        {"score": 0.86, "task": "other", "hw": "d"},  # the bar without a threshold is 0.85
        {"score": 0.99, "error": "an integration error", "hw": "e"},
    )
    found = {score.words.split()[1]: (score.has_passed, score.bar.score) for score in scores}
    assert found == {
        "a": (True, 0.9),
        "b": (False, 0.9),
        "c": (False, 0.9),
        "d": (True, 0.85),
        "e": (False, 0.9),
    }
    assert [score.has_passed for score in scores] == [False] * 3 + [True] * 2


@pytest.mark.parametrize("score", ["0.9", True, [1], {}], ids=str)
def test_a_score_that_is_not_a_number_has_not_passed(score: Any) -> None:
    assert make_scores({"score": score})[0].score is None
