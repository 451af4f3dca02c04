"""A test that hangs fails at a deadline, and the tests after it run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HANGING = """
import subprocess, threading

def test_waits_for_a_process():
    process = subprocess.Popen(["sleep", "60"])
    try:
        process.wait()
    finally:
        process.kill()

def test_waits_for_a_lock():
    threading.Event().wait()

def test_runs_afterwards():
    pass
"""


def test_a_hanging_test_fails_and_the_others_run(tmp_path: Path) -> None:
    """Use the project's settings, in a worker of pytest-xdist, with a shorter deadline."""
    (tmp_path / "test_hanging.py").write_text(HANGING)
    settings = [
        "-c",
        str(ROOT / "pyproject.toml"),
        "--rootdir",
        str(tmp_path),
        "-o",
        "timeout=0.5",
        "-n",
        "1",
    ]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *settings,
        "--basetemp",
        str(tmp_path / "inner"),
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed, 1 passed" in done.stdout
    assert done.stdout.count("Timeout (>0.5s)") >= 2


def test_there_is_a_deadline(pytestconfig: pytest.Config) -> None:
    assert 0 < float(pytestconfig.getini("timeout")) <= 300
