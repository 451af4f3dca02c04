"""Cancellation of a row: the runner signals only the step's own process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infx.matrix.folder import read_jobs
from tests.calling import call
from tests.cli.plans import write_plan
from tests.matrix.rows import FIXED, row

SCRIPT = """
import pathlib, signal, sys

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
    write_plan(tmp_path / "plan.json", [row(FIXED, 8)])
    assert call("shards", "--plan", "plan.json", "--out", "sweep-plan").code == 0
    [job] = read_jobs((tmp_path / "sweep-plan" / "jobs.jsonl").read_text().splitlines())
    (tmp_path / "work.py").write_text(SCRIPT)
    (tmp_path / "policy.yaml").write_text(f"sweep: {{row-command: [{sys.executable}, work.py]}}\n")
    command = [
        sys.executable,
        "-m",
        "infx",
        "row",
        "run",
        "--plan",
        "sweep-plan",
        "--id",
        job.id,
        "--out",
        "out",
    ]
    environ = {**os.environ, "GITHUB_ACTIONS": "true", "INFX_POLICY": "policy.yaml"}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(line == "ready\n" for line in process.stdout)
        process.send_signal(number)
        assert process.wait() == 7
    assert (tmp_path / "cleaned").read_text() == str(int(number))
