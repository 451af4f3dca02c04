"""Check that the harness treats only a silent act as crashed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.act.harness import has_crashed, run_tool
from tests.conftest import ROOT

# Prints on SIGQUIT what a Go program prints, and otherwise waits forever.
SILENT = (
    r"""trap 'printf "SIGQUIT\n\ngoroutine 1\n" >&2; exit 2' QUIT; echo begun; while :; do sleep 0.05; done"""
)


def test_a_silent_tool_is_stopped_and_counts_as_crashed(tmp_path: Path) -> None:
    done = run_tool(["bash", "-c", SILENT], tmp_path, tmp_path, silence=0.3)
    assert has_crashed(done)
    assert done.stdout == "begun\n"


def test_a_tool_that_ignores_signals_is_killed(tmp_path: Path) -> None:
    deaf = "trap '' QUIT INT TERM; echo begun; while :; do sleep 0.05; done"
    done = run_tool(["bash", "-c", deaf], tmp_path, tmp_path, silence=0.3)
    assert has_crashed(done)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "begun\n")


def test_ignored_signals_of_the_parent_process_do_not_matter(tmp_path: Path) -> None:
    """A process inherits ignored signals, and a shell cannot trap them."""
    test = f"{__file__}::{test_a_silent_tool_is_stopped_and_counts_as_crashed.__name__}"
    options = (
        f"-p no:xdist --timeout 60 --basetemp {tmp_path}/inner"  # another one would clean up old folders
    )
    command = f"trap '' INT QUIT TERM HUP; exec {sys.executable} -m pytest {options} {test}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout


def test_a_failed_run_is_not_a_crash(tmp_path: Path) -> None:
    done = run_tool(["bash", "-c", "echo output; echo error >&2; exit 2"], tmp_path, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "output\n", "error\n")
    assert not has_crashed(done)
