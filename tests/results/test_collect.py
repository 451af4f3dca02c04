"""Compare a plan with the artifacts of its jobs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from infx.bench.jobs import RowJob
from infx.bench.uploads import artifact_name
from infx.bench.words import describe_row
from infx.errors import Level
from infx.policy.results import ResultRules
from infx.results.artifact import ReadArtifact
from infx.results.collect import (
    Collection,
    RowState,
    collect,
    describe_collection,
    list_problems,
    render_files,
)
from tests.matrix.rows import DISAGG, row
from tests.results.made import (
    AGENTIC_JOB,
    DISAGG_JOB,
    EVAL_JOB,
    FIXED_JOB,
    JOBS,
    MULTI,
    RULES,
    artifact,
    good,
    harness,
    make_jobs,
    result,
)


def run(files: dict[str, dict[str, Any]]) -> Collection:
    return collect(JOBS, [artifact(name, content) for name, content in files.items()], RULES)


def states(collection: Collection) -> list[RowState]:
    return [item.state for item in collection.coverage]


def test_names_of_artifacts() -> None:
    assert artifact_name(FIXED_JOB) == f"bmk_{FIXED_JOB.result_name}"
    assert artifact_name(AGENTIC_JOB) == f"bmk_agentic_{AGENTIC_JOB.result_name}"
    assert artifact_name(EVAL_JOB) == f"eval_{EVAL_JOB.result_name}"


def test_a_complete_sweep_has_no_problems() -> None:
    collection = run(good())
    assert states(collection) == [RowState.PRESENT] * 4
    assert [point.row.conc for point in collection.points] == [64, 8, 4, 8]
    assert [row_id for row_id, _ in collection.evals] == [EVAL_JOB.id]
    assert list_problems(collection) == []


def test_published_results_are_as_the_scripts_wrote_them() -> None:
    files = render_files(run(good()))
    rows = json.loads(files["results_bmk/agg_bmk.json"])
    assert rows[0] == result()
    assert len(rows) == 4
    assert [row["task"] for row in json.loads(files["eval_results_all/agg_eval_all.json"])] == ["gsm8k"]
    coverage = json.loads(files["coverage.json"])
    assert (coverage["planned"], coverage["present"], coverage["missing"], coverage["failed"]) == (4, 4, 0, 0)


def test_without_artifacts_every_row_is_missing() -> None:
    collection = run({})
    assert states(collection) == [RowState.MISSING] * 4
    assert sorted(render_files(collection)) == ["coverage.json", "rejected_rows.json"]
    assert [problem.rule for problem in list_problems(collection)] == ["result-missing"] * 4
    assert describe_collection(collection) == (
        "0 of 4 planned rows complete, 0 failed, 4 missing; 0 throughput results and 0 accuracy results published."
    )


@pytest.mark.parametrize("lost", JOBS, ids=lambda job: job.family)
def test_a_row_without_a_result_is_an_error_with_its_id(lost: RowJob) -> None:
    files = good()
    del files[artifact_name(lost)]
    [problem] = list_problems(run(files))
    assert (problem.rule, problem.level) == ("result-missing", Level.ERROR)
    assert problem.message == (
        f"The row {lost.id} has no result ({describe_row(lost.row)}): no artifact {artifact_name(lost)}."
    )


def test_an_empty_plan() -> None:
    """Only a plan without rows, such as a correction of links, has no results and no problems."""
    collection = collect([], [], RULES)
    assert collection.coverage == ()
    assert list_problems(collection) == []
    assert describe_collection(collection) == "No rows were planned, so there is nothing to collect."


def test_every_state_except_present_is_an_error() -> None:
    """This must hold for states that do not exist yet."""
    files = good()
    del files[artifact_name(FIXED_JOB)]
    files[artifact_name(AGENTIC_JOB)] = {}
    collection = run(files)
    assert {item.state for item in collection.coverage} == set(RowState)
    text = "\n".join(f"{problem.path} {problem.message}" for problem in list_problems(collection))
    for item in collection.coverage:
        assert (item.job.id in text) is (item.state is not RowState.PRESENT)


def test_a_bad_row_is_named_and_the_others_are_published() -> None:
    files = good()
    files[artifact_name(DISAGG_JOB)]["agg_conc4.json"] = result(conc=4, **{**MULTI, "framework": "vllm"})
    collection = run(files)
    assert states(collection) == [RowState.PRESENT, RowState.PRESENT, RowState.FAILED, RowState.PRESENT]
    assert [point.row.conc for point in collection.points] == [64, 8, 8]
    [problem] = list_problems(collection)
    assert problem.path == f"{artifact_name(DISAGG_JOB)}/agg_conc4.json"
    assert "framework is vllm, the plan says dynamo-vllm" in problem.message
    assert "no result for concurrency 4" in collection.coverage[2].faults


def test_a_concurrency_that_is_missing() -> None:
    """The job may have succeeded, so collect must report the failure."""
    files = good()
    del files[artifact_name(DISAGG_JOB)]["agg_conc4.json"]
    collection = run(files)
    assert collection.coverage[2].faults == ("no result for concurrency 4",)
    [problem] = list_problems(collection)
    assert problem.message == f"The row {DISAGG_JOB.id} failed: no result for concurrency 4."
    assert problem.path == artifact_name(DISAGG_JOB)


def test_two_results_for_one_point_are_rejected() -> None:
    """It is unknown which result counts, so neither is published."""
    files = good()
    files[artifact_name(FIXED_JOB)]["agg_2.json"] = result(tput_per_gpu=1)
    collection = run(files)
    assert states(collection)[0] is RowState.FAILED
    assert 64 not in [point.row.conc for point in collection.points]


def test_too_many_failed_requests_fail_the_row_but_are_published() -> None:
    files = good()
    outcome = {"requested": 10, "completed": 5, "failed": 5, "status": "failed"}
    files[artifact_name(FIXED_JOB)] = {"agg.json": result(benchmark_outcome=outcome)}
    collection = run(files)
    assert states(collection)[0] is RowState.FAILED
    assert len(collection.points) == 4
    [problem] = list_problems(collection)
    assert (
        "too many requests failed at concurrency 64: 5 of 10 requests failed, at most 5 % may"
        in problem.message
    )


@pytest.mark.parametrize(("failed", "state"), [(10, RowState.PRESENT), (11, RowState.FAILED)])
def test_a_replay_may_fail_more_requests_than_other_rows(failed: int, state: RowState) -> None:
    """10 % of its requests may fail, and 5 % of another row's. The result itself allows 20 %."""
    outcome = {
        "requested": 100,
        "completed": 100 - failed,
        "failed": failed,
        "status": "passed",
        "max_failure_rate": 0.2,
    }
    files = good()
    [name] = files[artifact_name(AGENTIC_JOB)]
    files[artifact_name(AGENTIC_JOB)][name]["benchmark_outcome"] = outcome
    assert states(run(files))[1] is state


def test_a_result_cannot_allow_more_failures_than_the_policy() -> None:
    """639 of 640 requests failed, and the result allows all of them to fail."""
    laxer = {"requested": 640, "completed": 1, "failed": 639, "status": "passed", "max_failure_rate": 1}
    files = good()
    files[artifact_name(FIXED_JOB)] = {"agg.json": result(benchmark_outcome=laxer)}
    collection = run(files)
    assert states(collection)[0] is RowState.FAILED
    words = "too many requests failed at concurrency 64: 639 of 640 requests failed, at most 5 % may"
    assert words in list_problems(collection)[0].message


@pytest.mark.parametrize(
    "changes",
    [
        {"tput_per_gpu": 0},
        {"tput_per_gpu": -1},
        {"output_tput_per_gpu": 0},
        {"median_ttft": 0},
        {"median_tpot": 0},
        {"benchmark_outcome": {"requested": 640, "completed": 0, "failed": 640, "status": "failed"}},
        {"benchmark_outcome": {"requested": 640, "completed": 0, "failed": 640, "status": "passed"}},
    ],
    ids=str,
)
def test_a_row_without_any_work_has_failed(changes: dict[str, Any]) -> None:
    files = good()
    files[artifact_name(FIXED_JOB)] = {"agg.json": result(**changes)}
    collection = run(files)
    assert states(collection)[0] is RowState.FAILED
    assert 64 not in [point.row.conc for point in collection.points]
    assert "result-rejected" in [problem.rule for problem in list_problems(collection)]


def test_an_empty_artifact_is_a_failure() -> None:
    files = good()
    files[artifact_name(FIXED_JOB)] = {}
    assert states(run(files))[0] is RowState.FAILED


def test_an_artifact_that_cannot_be_read() -> None:
    collection = collect(
        JOBS[:1], [ReadArtifact(name=artifact_name(FIXED_JOB), fault="it is no zip file")], RULES
    )
    assert collection.coverage[0].faults == ("it is no zip file",)


def test_a_result_of_another_row_does_not_count() -> None:
    """An artifact may claim to belong to any row, so its contents are compared with the plan."""
    files = good()
    files[artifact_name(FIXED_JOB)] = files[artifact_name(AGENTIC_JOB)]
    assert states(run(files))[:2] == [RowState.FAILED, RowState.PRESENT]


def test_unexpected_artifacts_are_ignored() -> None:
    files = good()
    files["bmk_evil"] = {"agg.json": result()}
    files["bmk_../../etc/passwd"] = {"agg.json": result()}
    collection = run(files)
    assert collection.unexpected == ("bmk_../../etc/passwd", "bmk_evil")
    assert len(collection.points) == 4


@pytest.mark.parametrize(
    ("values", "absent"),
    [
        ({"eval_concs": [4, 8], "completed_eval_concs": [4, 8]}, None),
        ({"eval_concs": [4, 8], "completed_eval_concs": [8]}, "no accuracy result for concurrency 4"),
        ({"eval_concs": [4, 8], "completed_eval_concs": []}, "no accuracy result for concurrency 4, 8"),
        ({"conc": 8}, "no accuracy result for concurrency 4"),
    ],
)
def test_a_batched_evaluation_needs_all_its_concurrencies(values: dict[str, Any], absent: str | None) -> None:
    planned = replace(row(DISAGG, 4, 8, eval_only=True), eval_all_concs=True)
    [job] = make_jobs([planned])
    files = {
        "meta_env.json": values,
        "results_conc4.json": harness(0.4),
        "results_conc8.json": harness(0.8),
    }
    [coverage] = collect([job], [artifact(artifact_name(job), files)], RULES).coverage
    assert (coverage.state is RowState.PRESENT) == (absent is None)
    assert absent is None or absent in coverage.faults


def test_an_evaluation_at_one_concurrency() -> None:
    planned = replace(row(DISAGG, 4, 8, eval_only=True), eval_conc=8)
    [job] = make_jobs([planned])
    for conc, state in ((8, RowState.PRESENT), (4, RowState.FAILED)):
        files = {"meta_env.json": {"conc": conc}, "results.json": harness()}
        [coverage] = collect([job], [artifact(artifact_name(job), files)], RULES).coverage
        assert coverage.state is state


def test_a_failed_evaluation_is_published_as_a_failure() -> None:
    files = good()
    files[artifact_name(EVAL_JOB)]["results.json"] = harness(2.0)
    collection = run(files)
    assert states(collection)[3] is RowState.FAILED
    [values] = json.loads(render_files(collection)["eval_results_all/agg_eval_all.json"])
    assert (values["score"], values["infrastructure_success"]) == (None, False)
    assert [problem.rule for problem in list_problems(collection)] == ["result-failed"]


def test_an_unplanned_accuracy_result_is_rejected() -> None:
    planned = replace(row(DISAGG, 4, 8, eval_only=True), eval_all_concs=True)
    [job] = make_jobs([planned])
    concs = [4, 8, 16]
    files = {"meta_env.json": {"eval_concs": concs, "completed_eval_concs": concs}}
    files |= {f"results_conc{conc}.json": harness() for conc in concs}
    collection = collect([job], [artifact(artifact_name(job), files)], RULES)
    assert [row.conc for _, row in collection.evals] == [4, 8]
    assert collection.coverage[0].faults == ("conc is 16, the plan says 4, 8",)


def test_two_accuracy_results_of_one_task_are_rejected() -> None:
    files = good()
    for number, score in enumerate((0.2, 0.95)):
        files[artifact_name(EVAL_JOB)] |= {f"{number}/meta_env.json": {}, f"{number}/r.json": harness(score)}
    collection = run(files)
    assert collection.evals == ()
    assert collection.coverage[3].faults == ("several results of gsm8k at concurrency 64, expected one",)


def test_concurrencies_that_the_harness_calls_failed() -> None:
    files = good()
    files[artifact_name(EVAL_JOB)]["meta_env.json"] = {"conc": 64, "failed_eval_concs": [64]}
    collection = run(files)
    assert collection.evals == ()
    assert collection.coverage[3].faults == ("failed_eval_concs is 64, expected none",)


@pytest.mark.parametrize(
    ("effective", "original", "state"),
    [
        (1319, 1319, RowState.PRESENT),
        (1254, 1319, RowState.PRESENT),  # 95.07 %
        (1253, 1319, RowState.FAILED),  # 94.996 %
        (5, 1319, RowState.FAILED),
        (1320, 1319, RowState.FAILED),
        (1319, None, RowState.PRESENT),
        (1319, 0, RowState.FAILED),
        (1319, 10**400, RowState.FAILED),
        (10**400, 10**400, RowState.PRESENT),  # without a meaning, but it must not raise
        (1319, "1319", RowState.FAILED),
    ],
)
def test_most_samples_of_a_task_must_count(effective: int, original: Any, state: RowState) -> None:
    files = good()
    counts = {"gsm8k": {"effective": effective, **({} if original is None else {"original": original})}}
    files[artifact_name(EVAL_JOB)]["results.json"] = {**harness(), "n-samples": counts}
    collection = run(files)
    assert states(collection)[3] is state
    [values] = json.loads(render_files(collection)["eval_results_all/agg_eval_all.json"])
    assert values["infrastructure_success"] is (state is RowState.PRESENT)
    problems = [(problem.rule, problem.level) for problem in list_problems(collection)]
    if state is RowState.FAILED:
        assert problems == [("result-failed", Level.ERROR)]
        assert values["score"] is None
    else:
        assert problems == ([("samples-unknown", Level.WARNING)] if original is None else [])


def test_the_policy_sets_the_share_of_samples() -> None:
    files = {"meta_env.json": {"conc": 64}, "results.json": harness(samples=5)}
    artifacts = [artifact(artifact_name(EVAL_JOB), files)]
    [coverage] = collect([EVAL_JOB], artifacts, RULES).coverage
    assert coverage.faults == ("gsm8k: 5 of 1,319 samples counted, but the policy requires 95 %",)
    [coverage] = collect([EVAL_JOB], artifacts, ResultRules(effective_samples=0.001)).coverage
    assert coverage.state is RowState.PRESENT


@pytest.mark.parametrize("conc", [64, "64", "", None])
def test_a_row_with_one_concurrency_may_leave_it_out(conc: object) -> None:
    files = good()
    files[artifact_name(EVAL_JOB)]["meta_env.json"] = {"conc": conc} if conc else {}
    collection = run(files)
    assert states(collection)[3] is RowState.PRESENT
    assert [row.conc for _, row in collection.evals] == [64]


@pytest.mark.parametrize("conc", [32, "32", " 32 ", 64.0, True, [32], "sixty", "32 64", "\u0666\u0664"])
def test_an_unreadable_concurrency_is_not_a_missing_one(conc: object) -> None:
    """Harnesses may write numbers as text; other text is not a concurrency."""
    files = good()
    files[artifact_name(EVAL_JOB)]["meta_env.json"] = {"conc": conc}
    collection = run(files)
    assert (states(collection)[3], collection.evals) == (RowState.FAILED, ())
    assert "conc is " in collection.coverage[3].faults[0]


@pytest.mark.parametrize(
    "bad",
    [
        json.dumps(result(image="\ud800")).encode(),
        json.dumps(result(image="x")).encode().replace(b'"x"', b'"\xed\xa0\x80"'),
        json.dumps({**result(), "\udfff": 1}).encode(),
        json.dumps(result()).encode()[:-1] + b', "more": 1e999}',
        json.dumps(result()).encode("utf-16"),
    ],
    ids=["lone surrogate", "its bytes", "as a key", "too large a number", "another encoding"],
)
def test_unwritable_values_reject_only_their_own_row(bad: bytes) -> None:
    files = good()
    files[artifact_name(FIXED_JOB)] = {"agg.json": bad}
    files[artifact_name(EVAL_JOB)]["meta_env.json"] = b'{"conc": 64, "x": 1e999}'
    collection = run(files)
    assert states(collection) == [RowState.FAILED, RowState.PRESENT, RowState.PRESENT, RowState.FAILED]
    for text in render_files(collection).values():
        json.loads(text.encode(), parse_constant=pytest.fail)
