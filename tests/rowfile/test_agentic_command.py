"""AgentX on the command line: with the row file, as on a row's machine, and with infx."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from infx.matrix.row_file import pack_row_file
from infx.rowfile.main import main
from tests.calling import call
from tests.rowfile.replays import counters, place, record, write_replay

GOOD = {"request_count": {"avg": 100}}
SCENARIO = {"SCENARIO_TYPE": "agentic-coding"}
BAD_RECORD = record(1, error={"code": 500})


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run_row_file(*arguments: str, **environment: str) -> tuple[int, str]:
    """Run the row file's program in this process, and return its exit code and its errors."""
    errors = io.StringIO()
    with (
        mock.patch.dict(os.environ, environment),
        mock.patch.object(sys, "argv", ["row.py", *arguments]),
        contextlib.redirect_stderr(errors),
    ):
        return main(), errors.getvalue()


def run_infx(*arguments: str, **environment: str) -> tuple[int, str]:
    done = call("results", *arguments, environ=environment)
    return done.code, done.err


BOTH = pytest.mark.parametrize("run", [run_row_file, run_infx], ids=["row-file", "infx"])


@BOTH
def test_a_replay_becomes_the_row_that_the_job_gathers(tmp_path: Path, run: Any) -> None:
    write_replay(tmp_path, [record(0)])
    environment = place(tmp_path, AGENTIC_OUTPUT_DIR=None, **SCENARIO)
    code, errors = run("process", **environment)
    assert (code, "Wrote ./agg_m1_tp4.json." in errors) == (0, True)
    assert json.loads(Path("agg_m1_tp4.json").read_text())["num_requests_successful"] == 1


@BOTH
def test_the_existing_layout_has_a_folder_of_its_own(tmp_path: Path, run: Any) -> None:
    write_replay(tmp_path, [record(0)])
    assert run("process", **place(tmp_path))[0] == 0
    assert Path("out/m1_tp4.json").exists()


@BOTH
def test_every_fault_of_a_replay_is_printed(tmp_path: Path, run: Any) -> None:
    write_replay(tmp_path, [record(0)])
    environment = place(tmp_path, KV_OFFLOADING="dram", TP="four", **SCENARIO)
    code, errors = run("process", **environment)
    assert code == 1
    assert "must name a backend" in errors
    assert "TP is 'four'" in errors


@BOTH
def test_failed_requests_are_noted(tmp_path: Path, run: Any) -> None:
    write_replay(tmp_path, [record(0), BAD_RECORD])
    code, errors = run("process", **place(tmp_path))
    assert (code, "1 of 2 measured requests failed" in errors) == (0, True)


@BOTH
@pytest.mark.parametrize(
    ("options", "environment", "code", "words"),
    [
        ((), {}, 0, ""),
        (("--limit", "0.05"), {}, 1, "requests failed, at most 5 % may"),
        ((), {"AIPERF_FAILED_REQUEST_THRESHOLD": "0.05"}, 1, "requests failed, at most 5 % may"),
        (("--limit", "0.2"), {"AIPERF_FAILED_REQUEST_THRESHOLD": "0.05"}, 0, ""),
        (("--limit", "1.5"), {}, 2, "1.5"),
        ((), {"AIPERF_FAILED_REQUEST_THRESHOLD": "many"}, 2, "many"),
        (("--metric", "vllm:x"), {}, 0, ""),
        (("--metric", "vllm:y"), {}, 1, "begins with vllm:y"),
        ((), {"AIPERF_REQUIRED_SERVER_METRIC_PREFIX": "vllm:y"}, 1, "begins with vllm:y"),
        (("--result", "elsewhere"), {}, 2, "elsewhere"),
        (("--result", "."), {}, 1, "left no profile_export_aiperf.json"),
        (("--limit",), {}, 2, ""),
        (("--other", "x"), {}, 2, ""),
    ],
)
def test_a_check_of_a_replay(
    tmp_path: Path, run: Any, options: tuple[str, ...], environment: dict[str, str], code: int, words: str
) -> None:
    """Of 100 requests, 8 failed."""
    summary = {"request_count": {"avg": 92}, "error_request_count": {"avg": 8}}
    write_replay(tmp_path, [record(0)], summary=summary, metrics={"vllm:x": counters(1)})
    done, errors = run("check-replay", *options, RESULT_DIR="results", **environment)
    assert done == code, errors
    assert words in errors


@BOTH
def test_a_check_needs_a_folder(tmp_path: Path, run: Any) -> None:
    assert run("check-replay")[0] == 2


def test_the_row_file_needs_no_package(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)], summary=GOOD)
    (tmp_path / "row.py").write_text(pack_row_file())
    program = [sys.executable, "-I", "-S", "row.py"]
    environment = {"PATH": os.environ["PATH"], **place(tmp_path)}
    for words in (["process"], ["check-replay"]):
        subprocess.run([*program, *words], env=environment, check=True)
    done = subprocess.run([*program, "check-replay", "--help"], capture_output=True, text=True, check=True)
    assert "$AIPERF_FAILED_REQUEST_THRESHOLD, else 0.10" in done.stdout
    assert "$AIPERF_REQUIRED_SERVER_METRIC_PREFIX" in done.stdout


def test_the_client_can_be_named(tmp_path: Path) -> None:
    """The environment of a row with fixed lengths is no reason to read another client's folder."""
    write_replay(tmp_path, [record(0)])
    environment = place(tmp_path, AGENTIC_OUTPUT_DIR=None, RESULT_DIR=None, SCENARIO_TYPE="fixed-seq-len")
    code, errors = run_infx("process", "--result", "results", "--client", "aiperf", **environment)
    assert code == 0, errors
    code, errors = run_infx("process", "--client", "aiperf", "--all", **environment)
    assert (code, "makes one row" in errors) == (1, True)
