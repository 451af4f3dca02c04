"""infx results compare."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infx.git import Git
from infx.results.artifact import ArtifactFile
from infx.results.compare_digest import parse_digest
from tests.calling import Called, call
from tests.cli.stores import publish
from tests.results.comparisons import result


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Make a store with one row of 100 tokens per second."""
    address = f"sqlite:{tmp_path / 'results.db'}"
    publish(address, tmp_path, result())
    return address


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Make a folder with one result of 120 tokens per second, and one that has no baseline."""
    folder = tmp_path / "results_bmk"
    folder.mkdir()
    write(folder / "agg_bmk.json", [result(tput_per_gpu=120.0), result(conc=8)])
    return folder


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def compare(results: Path, store: str, *arguments: str) -> Called:
    return call("results", "compare", str(results), *arguments, environ={"INFX_STORE": store})


def test_the_table(results: Path, store: str) -> None:
    called = compare(results, store, "--format", "table")
    assert (called.code, called.out, called.err) == (
        0,
        """\
result                               conc  TPUT/GPU  change   TTFT  Intvty   E2EL  baseline
m1 b200 vllm fp4 none 1024-1024 tp4     8       100     N/A    N/A     N/A    N/A  none
m1 b200 vllm fp4 none 1024-1024 tp4    64       120  +20.0%  +0.0%   +0.0%  +0.0%  run 7 of 2026-08-01
""",
        "1 of 2 results have a published baseline; throughput per GPU: 1 better; 1 without a baseline.\n",
    )


def test_json(results: Path, store: str) -> None:
    called = compare(results, store, "--format", "json")
    assert [(row["conc"], row["baseline"] and row["baseline"]["run"]) for row in called.json["rows"]] == [
        (8, None),
        (64, 7),
    ]


def test_the_summary_and_the_digest(results: Path, store: str, tmp_path: Path) -> None:
    called = compare(results, store, "--out", str(tmp_path / "out"))
    assert "| TPUT/GPU | 120 | 100 | 🟢 +20.00 (+20.0%) |" in called.summary
    data = (tmp_path / "out" / "results_compare" / "comparison.json").read_bytes()
    digest = parse_digest(ArtifactFile(path="comparison.json", data=data))
    assert digest is not None
    assert (digest.rows, digest.compared, digest.better) == (2, 1, 1)


def test_results_that_cannot_be_compared_are_warnings(results: Path, store: str) -> None:
    (results / "deep").mkdir()
    write(results / "deep" / "b.json", result(tp=None))
    (results / "c.json").write_bytes(b"{")
    called = compare(results, store)
    assert called.code == 0
    assert "deep/b.json: The result cannot be compared: tp is missing." in called.err
    assert "c.json: The result cannot be compared: it is not JSON." in called.err
    assert len(called.json["rows"]) == 2


@pytest.mark.parametrize(
    ("address", "code", "fault"),
    [
        ("branch:infx-results", 3, "the remote origin"),
        ("postgresql://infx:hunter2@127.0.0.1:1/x", 3, "127.0.0.1"),
        ("mysql:x", 2, "address"),
    ],
)
def test_a_store_that_cannot_be_read_is_said(
    results: Path, tmp_path: Path, address: str, code: int, fault: str
) -> None:
    """The comparison is still written, so that the comment can say that it has no numbers, but not on which host."""
    Git(tmp_path).run("init", "--quiet", str(tmp_path))
    called = compare(results, address, "--clone", str(tmp_path), "--out", str(tmp_path))
    assert called.code == code
    assert fault in called.json["fault"]
    digest = (tmp_path / "results_compare" / "comparison.json").read_text("utf-8")
    assert json.loads(digest)["store-failed"]
    assert fault not in digest
    assert fault in called.err
    assert "No baseline could be read" in called.summary
    assert "hunter2" not in called.out + called.err + called.summary


def test_a_store_that_does_not_exist_yet_has_no_baseline(results: Path, tmp_path: Path) -> None:
    called = compare(results, f"sqlite:{tmp_path / 'none.db'}")
    assert (called.code, called.json["compared"]) == (0, 0)
    assert "No result of 2 has a published baseline." in called.summary


def test_without_results_no_store_is_opened(tmp_path: Path) -> None:
    called = compare(tmp_path, "mysql:x")
    assert (called.code, called.json["rows"]) == (0, [])
    assert "There is nothing to compare." in called.summary


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path, store: str) -> None:
    assert compare(tmp_path / "none", store).code == 2


def test_the_branch_of_another_clone_is_read_without_writing(results: Path, tmp_path: Path) -> None:
    """The job that collects results is not in the clone, and may only read the repository."""
    upstream, clone = tmp_path / "upstream.git", tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", "--bare", str(upstream)], check=True)
    subprocess.run(["git", "clone", "--quiet", str(upstream), str(clone)], check=True, capture_output=True)
    publish("branch:infx-results", clone, result())
    before = subprocess.run(
        ["git", "-C", str(upstream), "for-each-ref"], check=True, capture_output=True
    ).stdout
    called = compare(results, "branch:infx-results", "--clone", str(clone))
    assert (called.code, called.json["compared"]) == (0, 1)
    after = subprocess.run(
        ["git", "-C", str(upstream), "for-each-ref"], check=True, capture_output=True
    ).stdout
    assert before == after
    shutil.rmtree(upstream)
    assert compare(results, "branch:infx-results", "--clone", str(clone)).code == 3
