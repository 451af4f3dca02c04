"""Rows of every kind are measured on this machine: servers under supervision, the client's output, collect, compare, the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infx.bench.row import FixedWorkload, Row
from infx.bench.uploads import artifact_name
from infx.results.collect import RowState, collect
from tests.calling import call
from tests.cli.stores import publish
from tests.demo.measuring import ROLES, SINGLE, Measured, measure, read_chart, write_collection
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row
from tests.results.made import RULES, artifact, make_jobs

SHORT = replace(FIXED, workload=FixedWorkload(isl=512, osl=512, max_model_len=1280))
FIXED_ROW, OTHER_ROW = row(SHORT, 4), row(SHORT, 16)


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Measured, Measured]:
    folder = tmp_path_factory.mktemp("fixed")
    return measure(folder / "4", FIXED_ROW), measure(folder / "16", OTHER_ROW)


def test_fixed_rows_become_results(fixed: tuple[Measured, Measured]) -> None:
    """Two tokens go through the engine for each that comes out."""
    for measured, conc in zip(fixed, (4, 16), strict=True):
        assert measured.code == 0, measured.err
        collection = measured.collect()
        assert [item.state for item in collection.coverage] == [RowState.PRESENT], collection.rejected
        [point] = collection.points
        numbers = point.row.metrics
        assert (point.row.conc, point.row.isl, point.row.osl) == (conc, 512, 512)
        assert numbers["tput_per_gpu"] == pytest.approx(2 * numbers["output_tput_per_gpu"])
        # 100 tokens per second on one GPU are 348 on eight, and less with further sessions.
        assert 0 < numbers["median_intvty"] < 348
        assert numbers["median_intvty"] == pytest.approx(1 / numbers["median_tpot"])


def test_fixed_rows_are_compared_and_drawn(
    fixed: tuple[Measured, Measured], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two results is published with half the throughput."""
    monkeypatch.chdir(tmp_path)
    jobs = make_jobs([FIXED_ROW, OTHER_ROW])
    uploads = [
        artifact(
            artifact_name(job), {path.name: path.read_bytes() for path in measured.folder.glob("agg*.json")}
        )
        for job, measured in zip(jobs, fixed, strict=True)
    ]
    collection = collect(jobs, uploads, RULES)
    write_collection(collection, tmp_path / "results")
    values = collection.points[0].values
    store = f"sqlite:{tmp_path / 'results.db'}"
    publish(store, tmp_path, {**values, "tput_per_gpu": float(values["tput_per_gpu"]) / 2})
    compared = call(
        "results", "compare", "results/results_bmk", "--format", "table", environ={"INFX_STORE": store}
    )
    assert compared.code == 0, compared.err
    assert "+100.0%" in compared.out
    assert "throughput per GPU: 1 better; 1 without a baseline" in compared.err
    drawn = call("results", "page", "results", "--out", "page.html", environ={"INFX_STORE": store})
    assert drawn.code == 0, drawn.err
    [line] = read_chart(tmp_path / "page.html")
    assert [point[0] for point in line["points"]] == [4, 16]


def test_a_row_with_two_roles_becomes_a_result_for_each_concurrency(tmp_path: Path) -> None:
    measured = measure(tmp_path, row(DISAGG, 4, 8), ROLES)
    assert measured.code == 0, measured.err
    collection = measured.collect()
    assert [item.state for item in collection.coverage] == [RowState.PRESENT], collection.rejected
    assert {point.row.conc for point in collection.points} == {4, 8}
    assert {
        (point.values["num_prefill_gpu"], point.values["num_decode_gpu"]) for point in collection.points
    } == {(16, 16)}


@pytest.mark.nightly
def test_a_row_with_two_roles_and_one_concurrency_becomes_a_result(tmp_path: Path) -> None:
    measured = measure(tmp_path, replace(row(DISAGG, 4), recipe_fingerprint="a" * 64), ROLES)
    assert measured.code == 0, measured.err
    assert [item.state for item in measured.collect().coverage] == [RowState.PRESENT]


def test_a_replay_becomes_a_result(tmp_path: Path) -> None:
    """Four sessions of three turns; every turn but a session's first finds the turns before it in the cache."""
    measured = measure(tmp_path, row(AGENTIC, 4))
    assert measured.code == 0, measured.err
    collection = measured.collect()
    assert [item.state for item in collection.coverage] == [RowState.PRESENT], collection.rejected
    aggregate = measured.read(f"agg_{measured.job.result_name}.json")
    assert (aggregate["num_requests_total"], aggregate["num_requests_successful"]) == (13, 12)
    server = aggregate["server_metrics"]
    assert server["adapter"] == "vllm"
    assert server["tokens"]["generation_total"] == 12 * 96
    assert server["tokens"]["prompt_total"] == sum_inputs(measured)
    assert 0.3 < server["cache"]["overall_cache_hit_rate"] < 0.9


def sum_inputs(measured: Measured) -> int:
    """Return the tokens of all measured prompts."""
    lines = (measured.folder / "aiperf_artifacts/profile_export.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return sum(
        record["metrics"]["input_sequence_length"]["value"]
        for record in records
        if record["metadata"]["benchmark_phase"] == "profiling"
    )


@pytest.mark.parametrize(
    "planned",
    [
        replace(row(FIXED, 4, 8, eval_only=True), eval_all_concs=True),
        pytest.param(row(FIXED, 8, eval_only=True), marks=pytest.mark.nightly),
        pytest.param(row(AGENTIC, 8, eval_only=True), marks=pytest.mark.nightly),
        pytest.param(replace(row(DISAGG, 8, eval_only=True), eval_conc=8), marks=pytest.mark.nightly),
        pytest.param(
            replace(row(DISAGG, 4, 8, eval_only=True), eval_all_concs=True), marks=pytest.mark.nightly
        ),
    ],
    ids=["all concurrencies", "one concurrency", "agentic", "roles", "all concurrencies of roles"],
)
def test_an_accuracy_run_has_scores(tmp_path: Path, planned: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = measure(tmp_path, planned, ROLES if planned.recipe.is_multinode else SINGLE)
    assert measured.code == 0, measured.err
    collection = measured.collect()
    assert [item.state for item in collection.coverage] == [RowState.PRESENT], collection.rejected
    monkeypatch.chdir(tmp_path)
    scores = call("results", "scores", "--expected-concs", " ".join(map(str, planned.conc)))
    assert scores.code == 0, scores.err
    assert scores.err.count("PASS gsm8k exact_match,strict-match") == len(planned.conc)


@pytest.mark.parametrize(
    ("spec", "fault", "code", "words"),
    [
        (SINGLE, "out-of-memory-at=2", 91, "torch.OutOfMemoryError"),
        (SINGLE, "error-every=2", 1, "status 500"),
        pytest.param(ROLES, "die-after=3", 91, "Signal 9 ended the process", marks=pytest.mark.nightly),
        pytest.param(SINGLE, "worker-dies-after=1", 91, "VLLM::Worker_TP0", marks=pytest.mark.nightly),
        pytest.param(
            SINGLE, "die-at-start", 92, "Engine core initialization failed", marks=pytest.mark.nightly
        ),
    ],
)
def test_a_fault_of_an_engine_is_not_a_result(
    tmp_path: Path, spec: dict[str, Any], fault: str, code: int, words: str
) -> None:
    """The supervision's codes: 91 a process ended before the client, 92 a process did not become ready.

    At twice the speed an answer takes half a second or more, so the client is still at work when something dies.
    """
    planned = row(DISAGG, 4, 8) if spec is ROLES else row(SHORT, 8)
    measured = measure(tmp_path, planned, spec, 2 if code == 91 else 500, FAULT=fault, NUM_WARMUPS="1")
    assert measured.code == code, measured.err
    assert words in measured.err
    assert [item.state for item in measured.collect().coverage] != [RowState.PRESENT]
