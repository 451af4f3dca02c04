"""A row that is cancelled: the runner sends the signal to the step's own process, and to no other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.matrix.rows import FIXED, row
from tests.rowfile.playing import cut_plan, program, replace_in

SCRIPT = """
import pathlib, signal, subprocess, sys

def clean_up(number, _):
    pathlib.Path("cleaned").write_text(str(number))
    sys.exit(7)

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, clean_up)
print("ready", flush=True)
while True:
    signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cancellation_reaches_the_benchmark(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("work.py").write_text(SCRIPT)
    job = cut_plan(tmp_path, row(FIXED, 8), [sys.executable, "work.py"])
    environ = {**os.environ, "GITHUB_ACTIONS": "true"}
    with subprocess.Popen(program(job.id), env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(line == "ready\n" for line in process.stdout)
        process.send_signal(number)
        assert process.wait() == 7
    assert Path("cleaned").read_text() == str(int(number))


def test_a_command_that_ignores_its_time_limit_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child of the command, which has its output, ends as well."""
    monkeypatch.chdir(tmp_path)
    script = "trap '' TERM; sleep 300 & wait; wait; wait; sleep 300"
    job = cut_plan(tmp_path, row(FIXED, 8), ["bash", "-c", script])
    replace_in("rows.env", "minutes=5\0", "minutes=0.01\0")
    replace_in("row.py", "GRACE = 60.0", "GRACE = 0.3")
    command = program(job.id)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 124, ended.stderr
