"""The client counts what it measures, and failed requests fail it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.demo.servers import Server, run_client, start, start_engine
from tests.rowfile.playing import OLDER, find_python

LENGTHS = ("--isl", "40", "--osl", "12", "--concurrencies", "4")


@pytest.fixture(scope="module")
def engine() -> Iterator[Server]:
    with start_engine("--stream-interval", "4", "--accuracy", "1") as server:
        yield server


def read(folder: Path, name: str = "r.json") -> dict[str, Any]:
    values: dict[str, Any] = json.loads((folder / name).read_text())
    return values


def test_requests_and_tokens_are_counted_exactly(engine: Server, tmp_path: Path) -> None:
    before = engine.read_metrics()
    done = run_client(engine, tmp_path, "throughput", *LENGTHS, "--num-prompts", "10", "--num-warmups", "2")
    assert done.returncode == 0, done.stderr
    result = read(tmp_path)
    assert [result[name] for name in ("num_prompts", "completed", "failed", "max_concurrency")] == [
        10,
        10,
        0,
        4,
    ]
    assert (result["total_input_tokens"], result["total_output_tokens"]) == (400, 120)
    after = engine.read_metrics()
    warmed = {name: after[name] - before[name] for name in after}
    assert warmed["vllm:generation_tokens_total{}"] == 12 * 12
    assert warmed["vllm:prefix_cache_hits_total{}"] == 0  # no prompt begins like another


def test_the_times_agree_with_each_other(engine: Server, tmp_path: Path) -> None:
    assert run_client(engine, tmp_path, "throughput", *LENGTHS).returncode == 0
    result = read(tmp_path)
    assert result["duration"] == pytest.approx(
        result["benchmark_end_time_unix"] - result["benchmark_start_time_unix"], abs=1e-3
    )
    assert result["output_throughput"] * result["duration"] == pytest.approx(result["total_output_tokens"])
    assert 0 < result["mean_ttft_ms"] < result["mean_e2el_ms"] <= result["duration"] * 1000
    # Eleven tokens follow the first, in three events.
    assert result["mean_tpot_ms"] * 11 == pytest.approx(result["mean_itl_ms"] * 3)
    assert result["mean_ttft_ms"] + result["mean_tpot_ms"] * 11 == pytest.approx(result["mean_e2el_ms"])


def test_the_engine_bounds_the_times_from_below(tmp_path: Path) -> None:
    """50 tokens per second, 10 times as fast: an answer of 12 tokens takes 22 ms here and 220 ms of the engine's time."""
    with start_engine("--decode-speed", "50", "--capacity", "1e9", scale=10) as server:
        done = run_client(server, tmp_path, "throughput", *LENGTHS, "--time-scale", "10")
    assert done.returncode == 0
    assert read(tmp_path)["mean_e2el_ms"] >= 11 * 1000 / 50


def test_the_engine_admits_a_limited_number_of_sessions(tmp_path: Path) -> None:
    """Eight answers of 22 ms, two at the same time, take 88 ms or more."""
    limits = ("--max-num-seqs", "2", "--decode-speed", "50", "--capacity", "1e9")
    with start_engine(*limits, scale=10) as server:
        assert run_client(server, tmp_path, "throughput", *LENGTHS, "--num-prompts", "8").returncode == 0
    assert read(tmp_path)["duration"] >= 4 * 11 / (50 * 10)


def test_a_list_of_concurrencies_has_a_file_for_each(engine: Server, tmp_path: Path) -> None:
    done = run_client(engine, tmp_path, "throughput", ISL="8", OSL="4", CONC_LIST="2 16")
    assert done.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r_conc16.json", "r_conc2.json"]
    results = [read(tmp_path, f"r_conc{conc}.json") for conc in (2, 16)]
    assert [(result["max_concurrency"], result["completed"]) for result in results] == [(2, 8), (16, 16)]


@pytest.mark.parametrize(("every", "failed", "code"), [(40, 1, 0), (5, 4, 1)])
def test_failed_requests_fail_the_client_if_they_are_many(
    tmp_path: Path, every: int, failed: int, code: int
) -> None:
    """One of 40 requests may fail, because the limit is 5 %."""
    with start_engine("--fail", f"error-every={every}") as server:
        number = "40" if code == 0 else "20"
        done = run_client(
            server, tmp_path, "throughput", *LENGTHS, "--num-prompts", number, "--num-warmups", "0"
        )
    assert done.returncode == code
    assert read(tmp_path)["failed"] == failed
    assert "status 500" in done.stderr


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("drop-after=2", "the connection ended in the middle of a message"),
        ("die-after=5", "connection"),
        ("out-of-memory-at=2", "connection"),
        ("hang-after=1", "no answer in time"),
    ],
)
def test_a_fault_of_the_engine_fails_the_client(tmp_path: Path, fault: str, words: str) -> None:
    with start_engine("--fail", fault, scale=1) as server:
        options = ("--num-warmups", "0", "--timeout", "0.5" if "hang" in fault else "30")
        done = run_client(server, tmp_path, "throughput", *LENGTHS, *options)
    assert done.returncode == 1
    assert read(tmp_path)["failed"] > 0
    assert words in done.stderr


def test_a_warmup_that_fails_leaves_no_result(tmp_path: Path) -> None:
    with start_engine("--fail", "error-every=1") as server:
        done = run_client(server, tmp_path, "throughput", *LENGTHS)
    assert done.returncode == 1
    assert "The warm-up failed: status 500" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there_fails_the_client(tmp_path: Path) -> None:
    with start_engine() as server:
        url = server.url
    for mode in ("throughput", "replay", "accuracy"):
        assert run_client(url, tmp_path, mode, *LENGTHS).returncode == 1
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["other"],
        ["throughput", "--isl", "8"],
        ["throughput", *LENGTHS, "--concurrencies", "0"],
        ["throughput", *LENGTHS, "--model", ""],
        ["throughput", *LENGTHS, "--base-url", "https://127.0.0.1:1"],
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, words: list[str]) -> None:
    assert run_client("http://127.0.0.1:1", tmp_path, *words, MODEL="").returncode == 2


def test_an_accuracy_run_of_several_concurrencies(engine: Server, tmp_path: Path) -> None:
    done = run_client(engine, tmp_path, "accuracy", "--questions", "10", EVAL_CONC="2 4", TP="8", EP_SIZE="1")
    assert done.returncode == 0, done.stderr
    meta = read(tmp_path, "meta_env.json")
    assert (meta["eval_concs"], meta["completed_eval_concs"], meta["failed_eval_concs"]) == (
        [2, 4],
        [2, 4],
        [],
    )
    assert (meta["tp"], meta["ep"]) == (8, 1)
    for conc in (2, 4):
        [path] = tmp_path.glob(f"results_*_conc{conc}.json")
        result = read(tmp_path, path.name)
        assert result["results"]["gsm8k"]["exact_match,strict-match"] == 1
        assert result["n-samples"]["gsm8k"] == {"original": 10, "effective": 10}


def test_wrong_answers_lower_the_score(tmp_path: Path) -> None:
    with start_engine("--accuracy", "0") as server:
        assert run_client(server, tmp_path, "accuracy", "--questions", "10", CONC="4").returncode == 0
    [path] = tmp_path.glob("results_*.json")
    scores = read(tmp_path, path.name)["results"]["gsm8k"]
    assert (scores["exact_match,strict-match"], scores["exact_match,flexible-extract"]) == (0, 0)


def test_an_accuracy_run_with_failed_requests_is_not_complete(tmp_path: Path) -> None:
    with start_engine("--fail", "error-every=2") as server:
        done = run_client(server, tmp_path, "accuracy", "--questions", "10", EVAL_CONC="2 4")
    assert done.returncode == 1
    assert read(tmp_path, "meta_env.json")["failed_eval_concs"] == [2, 4]
    assert list(tmp_path.glob("results_*")) == []


@pytest.mark.parametrize(
    "version",
    ["3.8", *(pytest.param(version, marks=pytest.mark.nightly) for version in OLDER if version != "3.8")],
)
def test_an_older_python_runs_all_programs(tmp_path: Path, version: str) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    with (
        start_engine("--workers", "1", python=python) as engine,
        start("router.py", "--engine", engine.url, python=python) as router,
    ):
        for mode in ("throughput", "replay", "accuracy"):
            done = run_client(router, tmp_path, mode, *LENGTHS, python=python)
            assert done.returncode == 0, done.stderr
    assert read(tmp_path)["failed"] == 0
