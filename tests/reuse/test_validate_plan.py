"""A source run against its plan: every planned row has its result, and the aggregates hold exactly these."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from infx.bench.jobs import RowJob
from infx.bench.uploads import artifact_name
from infx.errors import Level
from infx.results.collect import EVALS, POINTS, collect, render_files
from infx.reuse.validate import validate_source
from infx.reuse.verdict import Validation, describe_validation
from tests.matrix.rows import DISAGG, FIXED, row
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

Contents = dict[str, dict[str, Any]]


def finish(contents: Contents, jobs: list[RowJob] = JOBS) -> Contents:
    """Return the artifacts of a sweep together with the aggregates that `collect` makes from them."""
    artifacts = [artifact(name, files) for name, files in contents.items()]
    rendered = render_files(collect(jobs, artifacts, RULES))
    aggregates = {name: json.loads(text) for name, text in rendered.items() if "/" in name}
    parts = {name.partition("/")[0]: {"agg.json": value} for name, value in aggregates.items()}
    return {**contents, **parts, "sweep-plan": {"plan.json": {}}}


def judge(contents: Contents, jobs: list[RowJob] = JOBS) -> Validation:
    return validate_source([artifact(name, files) for name, files in contents.items()], jobs, RULES)


def errors_of(validation: Validation) -> list[str]:
    return sorted(p.rule for p in validation.problems if p.level is Level.ERROR)


def test_a_whole_sweep_is_usable() -> None:
    validation = judge(finish(good()))
    assert validation.problems == ()
    assert describe_validation(validation) == (
        "The source is usable: 3 fixed-length results, 1 AgentX result and 1 accuracy run. "
        "They were compared with the plan and with the aggregates."
    )


def test_the_same_sweep_needs_no_plan_to_agree_with_itself() -> None:
    """What collect publishes is what the comparison without a plan expects, if harnesses say what they measured."""
    contents = good()
    meta = {"hw": "cluster:h200-a", "infmax_model_prefix": "m1", "framework": "vllm", "precision": "fp8"}
    contents[artifact_name(EVAL_JOB)]["meta_env.json"] = {"conc": 64, **meta}
    whole = finish(contents)
    validation = validate_source([artifact(name, files) for name, files in whole.items()], None, RULES)
    assert validation.problems == ()
    assert list(validation.counts.values()) == [3, 1, 1]


def change_point(contents: Contents) -> None:
    contents[artifact_name(FIXED_JOB)]["agg.json"]["tput_per_gpu"] = 1.5


def change_score(contents: Contents) -> None:
    contents[artifact_name(EVAL_JOB)]["results.json"] = harness(score=0.2)


def drop_aggregate_row(contents: Contents) -> None:
    contents[POINTS]["agg.json"] = contents[POINTS]["agg.json"][1:]


def repeat_aggregate_row(contents: Contents) -> None:
    contents[POINTS]["agg.json"] *= 2


def add_aggregate_row(contents: Contents) -> None:
    contents[POINTS]["agg.json"].append(result(conc=1))


def rename_eval(contents: Contents) -> None:
    contents[EVALS]["agg.json"][0]["row_id"] = "f" * 12


@pytest.mark.parametrize(
    ("spoil", "rules"),
    [
        (change_point, ["fixed-changed"]),
        (change_score, ["accuracy-changed"]),
        (drop_aggregate_row, ["fixed-not-collected"]),
        (
            repeat_aggregate_row,
            ["agentic-duplicate", "fixed-duplicate", "fixed-duplicate", "fixed-duplicate"],
        ),
        (add_aggregate_row, ["fixed-without-raw"]),
        (rename_eval, ["accuracy-not-collected", "accuracy-without-raw"]),
        (lambda contents: contents.pop(POINTS), ["results-aggregate-missing"]),
        (lambda contents: contents.pop(EVALS), ["accuracy-aggregate-missing"]),
        (lambda contents: contents.update({POINTS: {"agg.json": b"["}}), ["source-unreadable"]),
        (lambda contents: contents.update({POINTS: {"agg.json": []}}), ["results-aggregate-missing"]),
        (lambda contents: contents.update({"bmk_x": {}}), ["source-unplanned"]),
        (lambda contents: contents.update({"eval_x": {}, "eval_server_logs_x": {}}), ["source-unplanned"]),
    ],
)
def test_an_aggregate_holds_exactly_what_the_rows_brought(
    spoil: Callable[[Contents], object], rules: list[str]
) -> None:
    contents = finish(good())
    spoil(contents)
    assert errors_of(judge(contents)) == rules


@pytest.mark.parametrize(
    ("job", "files", "rule", "words"),
    [
        (FIXED_JOB, None, "result-missing", "has no result"),
        (FIXED_JOB, {"agg.json": result(hw="cluster:b200-a")}, "result-rejected", "hw is cluster:b200-a"),
        (FIXED_JOB, {"agg_a.json": result(), "agg_b.json": result()}, "result-rejected", "concurrency 64"),
        (AGENTIC_JOB, {"agg.json": result(conc=8)}, "result-rejected", "isl is 8192"),
        (DISAGG_JOB, {"agg.json": result(conc=4, **MULTI)}, "result-failed", "concurrency 8"),
        (EVAL_JOB, {"meta_env.json": {"conc": 8}, "results.json": harness()}, "result-rejected", "conc is 8"),
    ],
)
def test_a_planned_row_without_its_result_is_a_problem(
    job: RowJob, files: dict[str, Any] | None, rule: str, words: str
) -> None:
    """The aggregate was made from the same artifacts, so that the plan alone shows what is missing."""
    contents = good()
    if files is None:
        del contents[artifact_name(job)]
    else:
        contents[artifact_name(job)] = files
    problems = [p for p in judge(finish(contents)).problems if p.level is Level.ERROR]
    assert [problem.rule for problem in problems] == [rule]
    assert words in problems[0].message


def test_a_batch_that_ran_one_of_ten_fails_against_the_plan() -> None:
    """Its metadata asks for that one only: the list was lost before the harness saw it."""
    concs = [2**power for power in range(10)]
    (job,) = make_jobs([replace(row(DISAGG, *concs, eval_only=True), eval_all_concs=True)])
    meta = {"eval_concs": [512], "completed_eval_concs": [512]}
    contents = finish({artifact_name(job): {"meta_env.json": meta, "results_conc512.json": harness()}}, [job])
    (problem,) = judge(contents, [job]).problems
    assert "no accuracy result for concurrency 1, 2, 4, 8, 16, 32, 64, 128, 256" in problem.message


def test_rows_that_results_cannot_tell_apart_are_not_duplicates() -> None:
    """Their results say the same about themselves, and the plan has two rows."""
    jobs = make_jobs([row(FIXED, 64), row(FIXED, 64)])
    contents = {artifact_name(job): {"agg.json": result(tput_per_gpu=n)} for n, job in enumerate(jobs, 1)}
    whole = finish(contents, jobs)
    assert judge(whole, jobs).problems == ()
    whole[POINTS]["agg.json"][0]["tput_per_gpu"] = 2
    assert errors_of(judge(whole, jobs)) == ["fixed-changed"]


def test_without_planned_rows_there_is_nothing_to_reuse() -> None:
    assert errors_of(judge({}, [])) == ["no-results"]


def test_all_problems_are_listed_at_once() -> None:
    contents = finish(good())
    for spoil in (change_point, change_score, add_aggregate_row):
        spoil(contents)
    contents["bmk_x"] = {}
    del contents[artifact_name(DISAGG_JOB)]
    found = errors_of(judge(contents))
    assert found == [
        "accuracy-changed", "fixed-changed", "fixed-without-raw", "fixed-without-raw", "fixed-without-raw",
        "result-missing", "source-unplanned",
    ]  # fmt: skip
