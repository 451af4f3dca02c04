"""Raw results against aggregates, without a plan: what a source run of other tools must hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from infx.errors import Level, Problem, has_errors
from infx.policy.load import default_policy
from infx.results.artifact import MAX_FILE, ArtifactFile, ReadArtifact
from infx.reuse.compare import limit_problems
from infx.reuse.source_results import MAX_ROWS
from infx.reuse.validate import validate_source
from infx.reuse.verdict import Validation, describe_validation
from tests.results.made import artifact, harness

POINT: dict[str, Any] = {
    "hw": "h100", "infmax_model_prefix": "m1", "framework": "vllm", "precision": "fp8", "spec_decoding": "none",
    "isl": 1024, "osl": 1024, "tp": 8, "ep": 1, "conc": 16, "tput_per_gpu": 7.5,
}  # fmt: skip
AGENTIC = {**POINT, "scenario_type": "agentic-coding", "offloading": "cpu"}
META = {**POINT, "isl": 8192}
ROW = {**META, "task": "gsm8k"}
Files = Mapping[str, Mapping[str, Any]]


def judge(files: Files) -> Validation:
    artifacts = [artifact(name, content) for name, content in files.items()]
    return validate_source(artifacts, None, default_policy().results)


def rules_of(files: Files) -> list[str]:
    return sorted(problem.rule for problem in judge(files).problems)


def points(*rows: Any, **more: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {"results_bmk": {"agg.json": list(rows)}, "run-stats": {"s.json": {}}, **more}


def evals(*rows: Any, **more: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {"eval_results_all": {"agg.json": list(rows)}, **more}


OTHER = {**POINT, "conc": 32}
TRACED = {"bmk_agentic_a": {"agg.json": AGENTIC}, "agentic_a": {}}


@pytest.mark.parametrize(
    ("files", "rules"),
    [
        (points(POINT, OTHER), []),
        (points([POINT, [OTHER]]), []),  # a collector that appends whole files
        (points(POINT, {"power": 3}), []),  # a sidecar that it took for a row
        (points(POINT, POINT), ["fixed-duplicate"]),
        (points(POINT, {**POINT, "tput_per_gpu": 1}), ["fixed-duplicate"]),
        ({"results_bmk": {"agg.json": [POINT]}}, ["statistics-missing"]),
        (points(POINT, bmk_a={"agg.json": POINT}), []),
        (points(POINT, bmk_a={"agg.json": {**POINT, "tput_per_gpu": 7}}), ["fixed-changed"]),
        (points(POINT, bmk_a={"agg.json": OTHER}), ["fixed-not-collected", "fixed-without-raw"]),
        (points({**POINT, "hw": None}), ["source-unreadable"]),
        (points({**POINT, "hw": None}, {"conc": []}), ["source-unreadable"] * 2),
        (points({**POINT, "hw": None}, POINT, POINT), ["fixed-duplicate", "source-unreadable"]),
        (points({**POINT, "row_id": "x"}, bmk_a={"agg.json": POINT}), []),
        ({**TRACED}, []),
        ({**TRACED, **points(AGENTIC)}, []),
        ({**TRACED, **points({**AGENTIC, "conc": 1})}, ["agentic-not-collected", "agentic-without-raw"]),
        ({**TRACED, "bmk_agentic_b": {"agg.json": AGENTIC}, "agentic_b": {}}, ["agentic-duplicate"]),
        ({"bmk_agentic_a": {"agg.json": AGENTIC}, "agentic_b": {}}, ["agentic-raw-missing", "agentic-raw-unexpected"]),
        ({"bmk_a": {"agg.json": POINT}}, ["no-results"]),
        ({}, ["no-results"]),
    ],
)  # fmt: skip
def test_throughput_results(files: Files, rules: list[str]) -> None:
    assert rules_of(files) == rules


SET = {"meta_env.json": META, "results_2026-01-01T00-00-00.json": harness()}


@pytest.mark.parametrize(
    ("files", "rules"),
    [
        (evals(ROW, eval_a=SET), []),
        (evals(ROW, eval_a={"meta_env.json": META}), []),
        (evals(ROW, eval_a={f"one/{name}": value for name, value in SET.items()}), []),
        (evals(ROW, eval_a=SET, eval_b={f"one/two/{name}": value for name, value in SET.items()}), ["accuracy-metadata"]),
        (evals(ROW, eval_a=SET, eval_server_logs_a={"x.json": 1}, eval_gpu_metrics_a={"x.json": 1}), []),
        (evals({**ROW, "task": "gpqa"}, eval_a=SET), ["accuracy-not-collected", "accuracy-without-raw"]),
        (evals(ROW, {**ROW, "task": "gpqa"}, eval_a=SET), ["accuracy-without-raw"]),
        (evals(ROW, {**ROW, "task": "gpqa"}, eval_a={"meta_env.json": META}), []),
        (evals(ROW, ROW, eval_a=SET), ["accuracy-duplicate"]),
        (evals(META, eval_a=SET), ["accuracy-aggregate-missing", "source-unreadable"]),  # a row without a task
        (evals(eval_a=SET), ["accuracy-aggregate-missing"]),
        ({"eval_a": SET}, ["accuracy-aggregate-missing"]),
        (evals(ROW, eval_a=SET, eval_b={"x.json": {}}), ["accuracy-metadata"]),
        (evals(ROW, eval_a=SET, eval_b={"meta_env.json": []}), ["accuracy-metadata"]),
        (evals(ROW, eval_a=SET, eval_b={"meta_env.json": {**META, "conc": []}}), ["accuracy-metadata"]),
        (evals(ROW, eval_a={**SET, "results_x.json": b"["}), ["source-unreadable"]),
        (evals(ROW), ["accuracy-without-raw", "no-results"]),
    ],
)  # fmt: skip
def test_accuracy_results(files: Files, rules: list[str]) -> None:
    assert rules_of(files) == rules


def batch(requested: Any, completed: Any, failed: Any = None, files: Any = ()) -> dict[str, Any]:
    lists = {"eval_concs": requested, "completed_eval_concs": completed, "failed_eval_concs": failed or []}
    return {"meta_env.json": {**META, **lists}, **{f"results_conc{conc}.json": harness() for conc in files}}


def rows_at(*concs: int) -> list[dict[str, Any]]:
    return [{**ROW, "conc": conc} for conc in concs]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (batch([16, 32], [16, 32]), []),
        (batch([16, 32], [16, 32], files=[16, 32]), []),
        (batch(["16", "32"], ["16", "32"]), []),
        (batch([16, 32, 64], [16, 32], [64]), []),
        (batch([16, 32, 64], [16, 32]), ["Concurrency 64 has no result"]),
        (batch([16], [16, 32]), ["Concurrency 32 was not requested"]),
        (batch([16, 32], [16, 32, 32]), ["Concurrency 32 is in a list twice"]),
        (batch([16, 16, 32], [16, 32]), ["Concurrency 16 is in a list twice"]),
        (batch([16, 32], [16, 32], [32]), ["Concurrency 32 is both completed and failed"]),
        (batch([16, 32], [16, 32], files=[16]), ["There is no result file for concurrency 32"]),
    ],
)
def test_a_batch_has_a_result_for_each_requested_concurrency(files: dict[str, Any], words: list[str]) -> None:
    problems = judge(evals(*rows_at(16, 32), eval_a=files)).problems
    assert [problem.message for problem in problems] == [f"{text}." for text in words]
    assert {problem.rule for problem in problems} <= {"accuracy-batch"}


def test_a_batch_that_ran_one_of_ten_lists_the_nine() -> None:
    """Once, a list was lost on the way, and the check looked only at files that existed."""
    requested = [2**power for power in range(10)]
    files = batch(requested, [512], files=[512])
    (problem,) = judge(evals(*rows_at(512), eval_a=files)).problems
    assert problem.message == "Concurrency 1, 2, 4, 8, 16, 32, 64, 128, 256 has no result."


@pytest.mark.parametrize("bad", [None, "16", [0], [-4], [True], [[16]], [16.5], list(range(1, 1500))])
def test_a_list_of_a_batch_that_cannot_be_read_counts_as_no_result(bad: Any) -> None:
    rules = rules_of(evals(*rows_at(16), eval_a=batch([16], bad)))
    assert rules == ["accuracy-batch", "accuracy-without-raw", "no-results"]


def rerun(*names: str) -> dict[str, dict[str, Any]]:
    """One accuracy run for each name of a result file."""
    return {f"eval_{number}": {"meta_env.json": META, name: harness()} for number, name in enumerate(names)}


def row_of(number: int, **fields: Any) -> dict[str, Any]:
    return {**ROW, "source": f"in/eval_{number}/results.json", **fields}


STAMPS = [f"results_2026-08-21T1{hour}-00-00.json" for hour in (1, 2, 0)]


def test_of_three_runs_the_newest_counts() -> None:
    rows = [row_of(number, score=score) for number, score in enumerate((0.78, 0.95, 0.5))]
    validation = judge({**evals(*rows), **rerun(*STAMPS)})
    assert validation.problems == ()
    assert sorted(run.artifact for run in validation.superseded) == ["eval_0", "eval_2"]
    assert [row.values["score"] for row in validation.evals] == [0.95]
    assert describe_validation(validation).endswith("2 older accuracy runs ignored.")


def test_of_two_runs_without_a_time_none_is_the_newest() -> None:
    rows = [row_of(0), row_of(1), {**ROW, "conc": 32}]
    files = {**evals(*rows), **rerun("results.json", "results_b.json")}
    files["eval_9"] = {"meta_env.json": {**META, "conc": 32}}
    validation = judge(files)
    assert [problem.rule for problem in validation.problems] == ["accuracy-ambiguous", "accuracy-duplicate"]
    assert "(eval_0, eval_1)" in validation.problems[0].message
    assert validation.superseded == ()
    one_time = {**files, **rerun("results.json", STAMPS[0])}
    assert [problem.rule for problem in judge(one_time).problems] == [
        "accuracy-ambiguous",
        "accuracy-duplicate",
    ]


def test_an_aggregate_made_from_the_older_run_is_not_collected() -> None:
    assert rules_of({**evals(row_of(0)), **rerun(*STAMPS[:2])}) == ["accuracy-not-collected"]
    assert rules_of({**evals(ROW), **rerun(*STAMPS[:2])}) == []  # the row names no file


def test_an_older_run_of_one_concurrency_leaves_the_rest_of_its_batch() -> None:
    old = batch([16, 32], [16, 32])
    old["results_conc16_2026-08-21T10-00-00.json"] = harness()
    old["results_conc32_2026-08-21T20-00-00.json"] = harness()  # newer, and of another concurrency
    files = {"eval_0": old, "eval_1": {"meta_env.json": META, STAMPS[0]: harness()}}
    rows = [row_of(0), row_of(1), row_of(0, conc=32)]
    validation = judge({**evals(*rows), **files})
    assert validation.problems == ()
    assert [(row.values["conc"], row.origin[3:9]) for row in validation.evals] == [
        (16, "eval_1"),
        (32, "eval_0"),
    ]


def test_a_row_without_sizes_takes_them_only_from_a_single_raw_result() -> None:
    one = {"eval_a": {"meta_env.json": {**META, "pp": 2}}}
    two = {**one, "eval_b": {"meta_env.json": {**META, "pp": 4}}}
    assert rules_of({**evals(ROW), **one}) == []
    assert rules_of({**evals({**ROW, "pp": 4}), **one}) == ["accuracy-not-collected", "accuracy-without-raw"]
    assert rules_of({**evals(ROW), **two}) == ["accuracy-not-collected"] * 2 + ["accuracy-without-raw"]


def test_a_sweep_of_infx_needs_aggregates_but_no_statistics() -> None:
    plan: Files = {"sweep-plan": {}}
    raw = {"bmk_a": {"agg.json": POINT}}
    assert rules_of({**plan, **raw, "results_bmk": {"agg.json": [POINT]}}) == []
    assert rules_of({**plan, **raw, "results_bmk": {"agg.json": []}}) == ["results-aggregate-missing"]
    assert rules_of({**plan, **raw}) == ["results-aggregate-missing"]
    assert rules_of({**plan, "results_bmk": {"agg.json": [POINT]}}) == ["fixed-without-raw", "no-results"]
    assert rules_of({**plan, "bmk_agentic_a": TRACED["bmk_agentic_a"], **points(AGENTIC)}) == []


def test_two_rows_of_infx_need_not_say_what_distinguishes_them() -> None:
    """Each artifact is another row; the aggregate must have as many results, with the same numbers."""
    slow = {**POINT, "tput_per_gpu": 5}
    raw = {"sweep-plan": {}, "bmk_a": {"agg.json": POINT}, "bmk_b": {"agg.json": slow}}
    assert rules_of({**raw, "results_bmk": {"agg.json": [slow, POINT]}}) == []
    assert rules_of({**raw, "results_bmk": {"agg.json": [POINT]}}) == ["fixed-not-collected"]
    assert rules_of({**raw, "results_bmk": {"agg.json": [POINT, slow, slow]}}) == ["fixed-duplicate"]
    (problem,) = judge({**raw, "results_bmk": {"agg.json": [POINT, {**slow, "tput_per_gpu": 6}]}}).problems
    assert problem.message.endswith("conc 16 differs from its raw result in tput_per_gpu.")
    metas = {f"eval_{name}": {"meta_env.json": META} for name in "ab"}
    rows = [{**ROW, "row_id": "1"}, {**ROW, "row_id": "2"}]
    assert rules_of({**evals(*rows), **metas, "sweep-plan": {}}) == []
    assert rules_of({**evals(*rows, rows[0]), **metas, "sweep-plan": {}}) == ["accuracy-duplicate"]


DEEP = b'{"conc": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[", "it is not JSON"),
        (DEEP, "nested too deeply"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'[{"hw": NaN}]', "NaN"),
        (b'[{"hw": "a", "hw": "b"}]', "a key twice"),
        (b'[{"hw": "\\ud800"}]', "a lone surrogate"),
        ([{"conc": "\x1b[31m::error::x"}], "expected a whole number"),
        ([{"hw": "h" * 10_000}], "expected text"),
        ([POINT | {f"m{number}": 1 for number in range(600)}], "numbers"),
        ([{"conc": 1}] * (MAX_ROWS + 1), "it holds more than 20,000 results"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["results_bmk", "bmk_a"])
def test_hostile_files_are_problems_at_their_path(name: str, content: Any, words: str) -> None:
    validation = judge({name: {"\x1b]0;x/agg.json": content}})
    unreadable = [problem for problem in validation.problems if problem.rule == "source-unreadable"]
    assert any(words in problem.message for problem in unreadable)
    assert all(str(problem).isprintable() and len(str(problem)) < 2000 for problem in validation.problems)
    assert len(validation.problems) < 3000


def test_an_artifact_that_cannot_be_read_says_so_once() -> None:
    """Its results are unknown, so that raw results are not called missing."""
    broken = [
        ReadArtifact(name="results_bmk", fault="it has expired"),
        ReadArtifact(
            name="eval_results_all", files=(ArtifactFile(path="a.json", fault=f"above {MAX_FILE}"),)
        ),
        artifact("bmk_agentic_a", {"agg.json": AGENTIC}),
        artifact("agentic_a", {}),
        artifact("eval_a", SET),
    ]
    validation = validate_source(broken, None, default_policy().results)
    assert [problem.rule for problem in validation.problems] == ["source-unreadable"] * 2
    empty = judge({**TRACED, "results_bmk": {}})
    assert [problem.message for problem in empty.problems] == ["it holds no JSON file."]


def test_thousands_of_the_same_problem_end_in_a_number() -> None:
    problems = [Problem(rule=rule, message=str(number)) for number in range(30) for rule in ("a", "b")]
    shown = limit_problems([*problems, Problem(rule="c", message="c")], most=10)
    assert [(p.rule, p.message) for p in shown[9:12]] == [("a", "9"), ("a", "20 more of these."), ("b", "0")]
    assert len(shown) == 23
    warning = Problem(rule="a", message="a", level=Level.WARNING)
    assert not has_errors(limit_problems([warning] * 3, most=2))


def test_the_sentence_says_that_there_was_no_plan() -> None:
    assert describe_validation(judge(points(POINT))) == (
        "The source is usable: 1 fixed-length result, 0 AgentX results and 0 accuracy runs. "
        "No plan was given, so raw results were only compared with the aggregates."
    )
    assert describe_validation(judge({})).startswith("The source is not usable: 0 fixed-length results")
