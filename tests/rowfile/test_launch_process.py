"""Processes of a launch: their output, their end, and their time limits."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from infx.policy.load import default_policy
from infx.rowfile import launch_limits as limits
from infx.rowfile.launch_process import Cancellation, ProcessRunner
from infx.rowfile.launch_text import MAX_LINES, Tail
from tests.conftest import ROOT


@pytest.fixture
def processes() -> Iterator[ProcessRunner]:
    cancellation = Cancellation()
    cancellation.listen()
    yield ProcessRunner(cancellation, [])
    cancellation.stop()


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


@pytest.mark.parametrize(
    ("script", "code", "text"),
    [
        ("echo a; echo b >&2", 0, "a\nb"),
        ("echo a; exit 3", 3, "a"),
        ("kill -9 $$", 137, ""),
        ("exec > /dev/null 2>&1; sleep 0.05; exit 4", 4, ""),  # its output ends before it does
        ("sleep 100 & exit 5", 5, ""),  # a child keeps the output open
        ("head -c 3000000 /dev/zero | tr '\\0' x; exit 6", 6, "x" * 20_000),
    ],
)
def test_a_program_ends_with_its_code_and_its_last_words(
    script: str, code: int, text: str, processes: ProcessRunner
) -> None:
    began = time.monotonic()
    ended = processes.ask(sh(script), dict(os.environ), 60)
    assert (ended.code, ended.text, ended.is_overdue) == (code, text, False)
    assert time.monotonic() - began < 50


def test_a_program_that_does_not_exist(processes: ProcessRunner) -> None:
    ended = processes.ask(["no-such-program"], {}, 60)
    assert (ended.code, ended.lines) == (
        127,
        ["no-such-program cannot be started: No such file or directory."],
    )


def test_a_program_that_does_not_answer_is_ended(processes: ProcessRunner) -> None:
    ended = processes.ask(sh("trap '' TERM; echo asked; sleep 100"), dict(os.environ), 0.2)
    assert (ended.code, ended.is_overdue) == (137, True)


def test_stdout_may_go_to_a_file(tmp_path: Path, processes: ProcessRunner) -> None:
    output = tmp_path / "out"
    ended = processes.run(sh("echo data; echo words >&2"), dict(os.environ), 60, str(tmp_path), str(output))
    assert (ended.code, ended.lines, output.read_text()) == (0, ["words"], "data\n")


def test_the_end_of_a_log_is_kept() -> None:
    tail = Tail()
    tail.take(b"".join(b"line %d\r\n" % number for number in range(1000)) + b"\n\xff\n")
    lines = tail.list_lines()
    assert len(lines) == MAX_LINES
    assert lines[-2:] == ["line 999", "�"]


def test_a_launch_ends_before_its_job_is_ended() -> None:
    """The outermost limit is the job's, in the workflow; it must not be the one that fires."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/benchmark.yml").read_text())
    outer = workflow["jobs"]["row"]["timeout-minutes"] * 60
    sweeps = 2 * limits.SWEEP  # what a driver finds, and processes
    after = limits.GRACE + limits.KILLED + 2 * limits.ASK + sweeps
    assert default_policy().sweep.row_minutes * 60 + after < outer
    assert max(limits.TERM, limits.ASK, sum(limits.PAUSES)) < limits.SWEEP
    assert limits.CANCEL_GRACE + limits.CANCEL_RELEASE < 7.5 + 2.5
