"""The harness takes a silent act for a crashed one, and nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.act.harness import has_crashed, run_tool
from tests.conftest import ROOT

# Says what a Go program says of SIGQUIT, and waits for a line that never comes.
SILENT = (
    r"""trap 'printf "SIGQUIT\n\ngoroutine 1\n" >&2; exit 2' QUIT; echo begun; while :; do sleep 0.05; done"""
)


def test_a_silent_tool_is_ended_as_crashed(tmp_path: Path) -> None:
    done = run_tool(["bash", "-c", SILENT], tmp_path, tmp_path, silence=0.3)
    assert has_crashed(done)
    assert done.stdout == "begun\n"


def test_a_tool_that_heeds_no_signal_is_killed_as_crashed(tmp_path: Path) -> None:
    deaf = "trap '' QUIT INT TERM; echo begun; while :; do sleep 0.05; done"
    done = run_tool(["bash", "-c", deaf], tmp_path, tmp_path, silence=0.3)
    assert has_crashed(done)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "begun\n")


def test_it_is_so_whatever_those_who_start_us_ignore() -> None:
    """What is ignored is inherited, and a shell cannot trap it then."""
    test = f"{__file__}::{test_a_silent_tool_is_ended_as_crashed.__name__}"
    command = f"trap '' INT QUIT TERM HUP; exec {sys.executable} -m pytest -p no:xdist --timeout 60 {test}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout


def test_a_failed_run_is_no_crash(tmp_path: Path) -> None:
    done = run_tool(["bash", "-c", "echo told; echo blamed >&2; exit 2"], tmp_path, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "told\n", "blamed\n")
    assert not has_crashed(done)
