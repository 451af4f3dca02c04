"""Read the files of an evaluation harness into one row for each task."""

from __future__ import annotations

from typing import Any

import pytest

from infx.results.artifact import ArtifactFile
from infx.results.eval_row import MAX_TASKS, EvalRow, render_eval
from infx.results.evals import EvalReader
from tests.results.made import RULES, artifact, harness

READER = EvalReader(check_meta=lambda meta: [], rules=RULES)
META = {"hw": "h200", "conc": 64, "framework": "vllm", "nested": {"dropped": 1}}


def read(files: dict[str, Any]) -> tuple[list[EvalRow], list[tuple[str, str]]]:
    return READER.read(artifact("eval_x", files).files)


def test_one_row_for_each_task() -> None:
    value = harness()
    value["results"]["gpqa"] = {"acc,none": 0.5}
    value["n-samples"]["gpqa"] = {"effective": 7}
    rows, faults = read({"meta_env.json": META, "results.json": value})
    assert faults == []
    assert [(row.task, row.score, row.score_name, row.samples, row.conc) for row in rows] == [
        ("gsm8k", 0.9, "em_strict", 1319, 64),
        ("gpqa", 0.5, "accuracy", 7, 64),
    ]
    flat = render_eval(rows[0])
    assert (flat["hw"], flat["em_strict"], flat["n_eff"], flat["infrastructure_success"]) == (
        "h200",
        0.9,
        1319,
        True,
    )
    assert "nested" not in flat


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"exact_match,strict-match": 0.1, "exact_match,flexible-extract": 0.3}, ("em_strict", 0.1)),
        ({"acc,none": 0.2, "exact_match,flexible-extract": 0.3}, ("accuracy", 0.2)),
        ({"exact_match,flexible-extract": 0.3, "x_stderr,strict-match": 0.9}, ("em_flexible", 0.3)),
        ({"exact_match,get-extract": 1}, ("em_flexible", 1)),
    ],
)
def test_precedence_of_scores(scores: dict[str, float], expected: tuple[str, float]) -> None:
    value = harness()
    value["results"] = {"gsm8k": scores}
    [row], _ = read({"meta_env.json": META, "results.json": value})
    assert (row.score_name, row.score) == expected


@pytest.mark.parametrize("score", [1.5, -0.1, True, "0.9", None, [0.9]])
def test_an_invalid_score_fails_the_row(score: object) -> None:
    [row], _ = read({"meta_env.json": META, "results.json": harness(score)})
    assert row.fault
    assert row.score is None
    assert render_eval(row)["infrastructure_success"] is False


@pytest.mark.parametrize("samples", [0, -1, None, "100", 1.5, True])
def test_an_invalid_count_of_samples(samples: object) -> None:
    [row], _ = read({"meta_env.json": META, "results.json": harness(samples=samples)})
    assert (row.samples, row.score) == (0, None)
    assert "effective samples" in (row.fault or "")


def test_an_integration_error() -> None:
    [row], _ = read({"meta_env.json": META, "results.json": harness(integration_error="no route")})
    assert (row.samples, row.score) == (0, None)


def test_the_newest_of_several_results() -> None:
    files = {
        "meta_env.json": META,
        "results_2026-01-02T10-00-00.5.json": harness(0.2),
        "results_2026-01-02T10-00-00.25.json": harness(0.1),
        "results_2025-12-31T23-59-59.json": harness(0.3),
        "notes.json": {"no": "result"},
    }
    [row], _ = read(files)
    assert row.score == 0.2


def test_without_a_time_in_the_name_the_files_own_time_counts() -> None:
    import json

    files = [
        ArtifactFile(path="meta_env.json", data=json.dumps(META).encode()),
        ArtifactFile(path="results_a.json", data=json.dumps(harness(0.1)).encode(), modified=20.0),
        ArtifactFile(path="results_b.json", data=json.dumps(harness(0.2)).encode(), modified=10.0),
        ArtifactFile(path="results_9999-99-99T99-99-99.json", data=json.dumps(harness(0.3)).encode()),
    ]
    [row], _ = READER.read(files)
    assert row.score == 0.1


def test_a_batched_set_has_a_row_for_each_completed_concurrency() -> None:
    meta = {"hw": "h200", "eval_concs": [4, 8, 16], "completed_eval_concs": [4, 16]}
    files = {
        "set/meta_env.json": meta,
        "set/results_conc4.json": harness(0.4),
        "set/results_conc8.json": harness(0.8),
        "set/results_conc16_2026-01-01T00-00-00.json": harness(0.1),
        "set/results_conc16_2026-01-02T00-00-00.json": harness(0.2),
    }
    rows, faults = read(files)
    assert faults == []
    assert [(row.conc, row.score) for row in rows] == [(4, 0.4), (16, 0.2)]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "no meta_env.json"),
        ({"results.json": harness()}, "no meta_env.json"),
        ({"a/b/meta_env.json": META, "a/b/results.json": harness()}, "no meta_env.json"),
        ({"meta_env.json": META}, "no result file"),
        ({"meta_env.json": [1]}, "not a mapping"),
        ({"meta_env.json": b"{"}, "not JSON"),
        ({"meta_env.json": META, "results.json": b"[" * 100_000}, "nested too deeply"),
        ({"meta_env.json": META, "results.json": b'{"x": NaN}'}, "NaN"),
        ({"meta_env.json": META, "results.json": b'{"x": 1, "x": 2}'}, "key twice"),
        ({"meta_env.json": META, "results.json": b"\xff\xfe"}, "not JSON"),
    ],
)
def test_invalid_sets_have_faults_and_no_rows(files: dict[str, Any], words: str) -> None:
    rows, faults = read(files)
    assert rows == []
    assert words in "; ".join(fault for _, fault in faults)


@pytest.mark.parametrize("results", [None, [], {}, "x", {"gsm8k": None}, {"gsm8k": []}])
def test_results_without_a_task(results: object) -> None:
    [row], _ = read({"meta_env.json": META, "results.json": {**harness(), "results": results}})
    assert row.fault


def test_too_many_tasks() -> None:
    """Tasks that were not read must not pass."""
    value = harness()
    value["results"] = {f"task{number}": {"acc,none": 0.5} for number in range(MAX_TASKS + 1)}
    [row], _ = read({"meta_env.json": META, "results.json": value})
    assert row.fault == "the file holds 201 tasks, more than the limit of 200"
