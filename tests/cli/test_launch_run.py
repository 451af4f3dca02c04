"""infx launch run and clean: a row by its launch, without a row file."""

from __future__ import annotations

import errno
import json
import signal
from pathlib import Path

import pytest

from tests.calling import Called, call
from tests.rowfile.launching import RUNNERS, LaunchMachine


@pytest.fixture
def here(machine: LaunchMachine, monkeypatch: pytest.MonkeyPatch) -> LaunchMachine:
    """Return a machine whose programs this process finds too."""
    for name, value in machine.environ(RUNNERS["slurm"]).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(machine.plan.parent)
    return machine


def run(machine: LaunchMachine, kind: str, *options: str) -> Called:
    row = ("--plan", str(machine.plan), "--id", machine.row_id, "--directory", str(machine.workspace))
    chosen = () if "--row" in options else row
    clusters = ("--policy", "policy.yaml", "--clusters", "clusters.yaml", "--runner", RUNNERS[kind])
    return call("launch", "run", *chosen, *clusters, *options)


@pytest.mark.parametrize("kind", RUNNERS)
def test_a_row_runs_here_and_its_exit_code_is_kept(kind: str, here: LaunchMachine) -> None:
    before = signal.getsignal(signal.SIGTERM)
    here.write_benchmark("echo started; exit 7")
    called = run(here, kind)
    assert (called.code, called.err) == (7, "error: The benchmark ended with 7.\n")
    assert "started\n" in called.out
    assert here.list_left("jobs") == here.list_left("containers") == []
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_row_without_a_plan_runs_too(here: LaunchMachine) -> None:
    shown = call("row", "show", "--plan", str(here.plan), "--id", here.row_id)
    Path("row.json").write_text(json.dumps(shown.json["row"]))
    called = run(here, "local", "--row", "row.json", "--directory", str(here.workspace))
    assert called.code == 0, called.err


def test_a_checkout_that_cannot_be_written_is_named(
    here: LaunchMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(programs: dict[str, bytes], workspace: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", f"{workspace}/.infx/row.py")

    monkeypatch.setattr("infx.rowfile.launch.place_programs", refuse)
    called = run(here, "local")
    path = here.workspace / ".infx" / "row.py"
    assert (called.code, called.err) == (1, f"error: {path} cannot be written: No space left on device.\n")


def test_clean_removes_what_the_runner_left(here: LaunchMachine) -> None:
    here.add_job(5, RUNNERS["slurm"])
    options = ("--policy", "policy.yaml", "--clusters", "clusters.yaml")
    called = call("launch", "clean", *options)
    assert (called.code, called.err) == (
        0,
        f"Nothing of the runner {RUNNERS['slurm']} is left on this machine.\n",
    )
    assert here.list_left("jobs") == []


def test_a_runner_without_a_cluster_cannot_be_cleaned(here: LaunchMachine) -> None:
    options = ("--policy", "policy.yaml", "--clusters", "clusters.yaml", "--runner", "xy_00")
    called = call("launch", "clean", *options)
    assert called.code != 0
    assert 'The runner "xy_00" belongs to no cluster' in called.err
