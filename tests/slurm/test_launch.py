"""Launches on a real Slurm: what the stand-ins of the other tests assume about salloc, srun, squeue and scancel."""

from __future__ import annotations

import signal
import time

import pytest

from tests.rowfile.launching import HURRIED, OTHER, RESULT, RUNNERS, LaunchMachine

HANG = 'touch "$STAND_IN/reached"; sleep 100'


def list_jobs(machine: LaunchMachine) -> list[str]:
    """Return the names of jobs that have not ended. Slurm takes a moment to end one."""
    for _ in range(300):
        names = machine.ask_slurm("squeue", "--noheader", "--format=%j", "--states=RUNNING,PENDING").split()
        if not names:
            break
        time.sleep(0.1)
    return names


@pytest.mark.parametrize("kind", ["slurm", "srun"])
@pytest.mark.parametrize(
    ("benchmark", "code"), [(RESULT + 'echo "job $SLURM_JOB_ID port $PORT"', 0), ("exit 7", 7)]
)
def test_a_row_runs_in_its_allocation(kind: str, benchmark: str, code: int, machine: LaunchMachine) -> None:
    machine.write_benchmark(benchmark)
    launched = machine.run(kind)
    assert launched.code == code, launched.err
    assert launched.record["left"] == []
    if code:
        assert launched.cause == "benchmark"
    else:
        assert "port 8888" in launched.out
    assert list_jobs(machine) == []


def test_an_allocation_that_cannot_be_granted_is_refused(machine: LaunchMachine) -> None:
    machine.replace_in_plan("--gres=gpu:8", "--gres=gpu:9")
    launched = machine.run("slurm")
    assert (launched.code, launched.cause) == (1, "infrastructure")
    assert any(
        "Requested node configuration is not available" in line
        for line in launched.record["error"]["evidence"]
    )
    assert list_jobs(machine) == []


@pytest.mark.parametrize("kind", ["slurm", "srun"])
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.nightly), signal.SIGTERM, signal.SIGKILL]
)
def test_a_signal_leaves_no_job(kind: str, number: signal.Signals, machine: LaunchMachine) -> None:
    machine.write_benchmark(HANG)
    with machine.start(kind) as process:
        machine.wait_for(machine.state / "reached")
        process.send_signal(number)
        if number == signal.SIGKILL:
            process.wait()
            assert machine.run(kind, "clean").code == 0
        process.communicate(timeout=60)
    assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    assert list_jobs(machine) == []
    assert machine.list_processes(RUNNERS[kind]) == []


def test_a_job_that_waits_in_the_queue_is_cancelled(machine: LaunchMachine) -> None:
    """All GPUs are another runner's, whose job stays."""
    machine.ask_slurm("salloc", "--no-shell", "--gres=gpu:8", f"--job-name=infx-{OTHER['slurm']}")
    with machine.start("slurm") as process:
        for _ in range(300):
            waiting = machine.ask_slurm("squeue", "--noheader", "--format=%j", "--states=PENDING").split()
            if waiting:
                break
            time.sleep(0.05)
        assert waiting == [f"infx-{RUNNERS['slurm']}"]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    names = machine.ask_slurm("squeue", "--noheader", "--format=%j", "--states=RUNNING,PENDING").split()
    assert names == [f"infx-{OTHER['slurm']}"]


@pytest.mark.nightly  # slow; stand-ins test the same in every run
def test_a_controller_that_does_not_answer_is_no_empty_queue(
    machine: LaunchMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.use_other_controller()
    launched = machine.run("slurm", limits=HURRIED)
    assert (launched.code, launched.cause) == (1, "infrastructure")
    assert "The Slurm jobs of this runner cannot be removed: squeue" in launched.message
