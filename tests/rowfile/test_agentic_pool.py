"""The size of the KV cache, from lines that servers print."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.rowfile.agentic_pool import parse_sglang_pool, parse_vllm_pool, read_logs


def size(tokens: str, tag: str = "") -> str:
    return f"INFO {tag}GPU KV cache size: {tokens} tokens"


def test_vllm_engines_are_summed_and_the_last_size_of_each_counts() -> None:
    lines = [
        size("1,000", "(EngineCore_DP0 pid=1) "),
        size("1,200", "(EngineCore_DP0 pid=1) "),
        size("800", "(EngineCore_DP1 pid=2) "),
    ]
    assert parse_vllm_pool(lines) == 2000


def test_vllm_lines_without_an_engine_count_only_alone() -> None:
    assert parse_vllm_pool([size("77"), size("90")]) == 90
    assert parse_vllm_pool([size("77"), size("1,000", "(EngineCore_DP0 pid=1) "), size("90")]) == 1000


def test_a_log_without_sizes_has_no_pool() -> None:
    assert parse_vllm_pool(["ready"]) is None
    assert parse_sglang_pool(["server_args=ServerArgs(dp_size=4)"]) is None


def test_sglang_ranks_are_summed_and_the_last_size_of_each_counts() -> None:
    lines = [
        "server_args=ServerArgs(tp_size=4, dp_size=2)",
        "[2026-07-08 16:49:59 DP0 TP0 EP0] max_total_num_tokens=900, chunked_prefill_size=4096",
        "[2026-07-08 16:49:59 DP0 TP0 EP0] max_total_num_tokens=1000, chunked_prefill_size=4096",
        "[2026-07-08 16:49:59 DP1 TP0 EP0] max_total_num_tokens=1200, chunked_prefill_size=4096",
    ]
    assert parse_sglang_pool(lines) == 2200


@pytest.mark.parametrize(("arguments", "pool"), [("tp_size=4, dp_size=4", 4000), ("tp_size=4", 1000)])
def test_one_sglang_rank_speaks_for_all(arguments: str, pool: int) -> None:
    lines = [
        f"server_args=ServerArgs({arguments})",
        "[2026-07-08 16:49:59 DP0 TP0] max_total_num_tokens=1000",
    ]
    assert parse_sglang_pool(lines) == pool


def test_logs_are_read_here_and_up_to_three_folders_above(tmp_path: Path) -> None:
    """The watcher of a multi-node job writes its log above the results."""
    results = tmp_path / "1/2/3/4/results"
    results.mkdir(parents=True)
    (results / "server.log").write_text("server\n")
    for folder, text in (("1/2/3/4/results", "here"), ("1/2/3/4", "one"), ("1/2", "three"), ("1", "four")):
        (tmp_path / folder / "watchtower-9.out").write_text(text + "\n")
    (results / "other.out").write_text("other\n")
    assert list(read_logs(str(results))) == ["server\n", "here\n", "one\n", "three\n"]


def test_bytes_of_a_log_that_are_not_text_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(b"\xff\n" + size("10").encode())
    assert parse_vllm_pool(read_logs(str(tmp_path))) == 10
