"""Launches that something goes wrong in: the first failure decides, nothing is left, other runners are untouched."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from infx.rowfile.launch_drivers import LocalDriver
from infx.rowfile.launch_machine import find_foreign
from tests.rowfile.launching import HURRIED, OTHER, RESULT, RUNNERS, LaunchMachine

CONTAINER = "c" * 63 + "5"  # the id of a container that was there before


class Fault(NamedTuple):
    """A stand-in's fault, and what the launch must make of it."""

    kind: str
    program: str
    line: str
    code: int
    cause: str
    words: str
    benchmark: str = RESULT


REFUSED = 'echo "salloc: error: Unable to allocate resources: Invalid qos" >&2; exit 1'
FAULTS = {
    "allocation refused": Fault(
        "slurm", "salloc", REFUSED, 1, "infrastructure", "The step allocate ended with 1."
    ),
    "allocation granted, but salloc fails": Fault(
        "slurm", "salloc", "trap 'exit 3' EXIT", 3, "infrastructure", "The step allocate ended with 3."
    ),
    "job id unreadable": Fault(
        "slurm", "salloc", "exec 2> /dev/null", 1, "infrastructure", "does not say which job it granted"
    ),
    "import fails": Fault(
        "slurm", "enroot", "exit 1", 74, "infrastructure", "The step import ended with 74."
    ),
    "imported file is not an image": Fault(
        "slurm",
        "enroot",
        'echo rubbish > "$3"; exit 0',
        73,
        "infrastructure",
        "The step import ended with 73.",
    ),
    "benchmark fails (slurm)": Fault(
        "slurm", "", "", 7, "benchmark", "The benchmark ended with 7.", "exit 7"
    ),
    "benchmark fails (srun)": Fault("srun", "", "", 7, "benchmark", "The benchmark ended with 7.", "exit 7"),
    "benchmark fails (docker)": Fault(
        "docker", "", "", 7, "benchmark", "The benchmark ended with 7.", "exit 7"
    ),
    "benchmark fails (local)": Fault(
        "local", "", "", 7, "benchmark", "The benchmark ended with 7.", "exit 7"
    ),
    "benchmark is killed": Fault(
        "local", "", "", 137, "benchmark", "Signal 9 ended the benchmark.", "kill -9 $$"
    ),
    "docker does not start": Fault(
        "docker",
        "docker",
        'test "$1" != run || { echo "docker: no such runtime" >&2; exit 125; }',
        125,
        "infrastructure",
        "Docker did not start the container: docker: no such runtime",
    ),
    "node drained": Fault(
        "slurm",
        "sinfo",
        'echo "node-1|drained|Kill task failed"; exit 0',
        1,
        "infrastructure",
        "Node node-1 is drained: Kill task failed.",
        "exit 1",
    ),
    "node lost": Fault(
        "slurm",
        "scontrol",
        'echo "JobId=100 JobState=NODE_FAIL NodeList=node-1"; exit 0',
        1,
        "infrastructure",
        "Slurm ended job 100 on node-1: NODE_FAIL.",
        "exit 1",
    ),
    "container does not start": Fault(
        "srun",
        "srun",
        'echo "slurmstepd: error: pyxis: failed to create container" >&2; exit 1',
        1,
        "infrastructure",
        "slurmstepd: error: pyxis: failed to create container",
    ),
    "Slurm cannot say why": Fault(
        "slurm", "scontrol", "exit 1", 7, "benchmark", "The benchmark ended with 7.", "exit 7"
    ),
    "squeue hangs before the launch": Fault(
        "slurm", "squeue", "exec sleep 100", 1, "infrastructure", "squeue does not answer."
    ),
    "squeue answers nonsense": Fault(
        "slurm", "squeue", "echo slurm_load_jobs error; exit 0", 1, "infrastructure", "expected ids"
    ),
    "docker does not answer": Fault("docker", "docker", "exit 1", 1, "infrastructure", "docker ended with 1"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_its_exit_code_and_its_cause(name: str, machine: LaunchMachine) -> None:
    fault = FAULTS[name]
    machine.write_benchmark(fault.benchmark)
    if fault.program:
        machine.break_program(fault.program, fault.line)
    launched = machine.run(fault.kind, limits=HURRIED if fault.program in {"squeue", "docker"} else {})
    assert (launched.code, launched.cause) == (fault.code, fault.cause), launched.err
    assert fault.words in launched.message
    assert launched.message in launched.err
    assert machine.list_left("jobs") == machine.list_left("containers") == []
    assert machine.list_processes(RUNNERS[fault.kind]) == []
    assert list((machine.folder / "tmp").iterdir()) == []


@pytest.mark.parametrize("name", ["allocation refused", "job id unreadable", "import fails"])
def test_no_container_starts_after_an_earlier_step_failed(name: str, machine: LaunchMachine) -> None:
    machine.break_program(FAULTS[name].program, FAULTS[name].line)
    machine.run("slurm")
    calls = machine.read_argv()
    assert not any(word.startswith("--container-image") for call in calls for word in call)


def test_the_record_has_the_last_words_of_a_failed_step(machine: LaunchMachine) -> None:
    machine.break_program("salloc", REFUSED)
    error = machine.run("slurm").record["error"]
    assert error["stage"] == "allocate"
    assert error["evidence"] == ["salloc: error: Unable to allocate resources: Invalid qos"]
    assert error["retriable"] is True


def test_a_lock_that_another_import_holds_is_a_failure(machine: LaunchMachine) -> None:
    """The image is not imported without the lock."""
    lock = machine.folder / "images/vllm_vllm-openai_v1.sqsh.lock"
    lock.parent.mkdir()
    with subprocess.Popen(
        ["flock", str(lock), "sh", "-c", "echo; exec sleep 100"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        launched = machine.run("slurm")
        os.killpg(holder.pid, signal.SIGKILL)
    assert (launched.code, launched.cause) == (75, "infrastructure")
    assert not any(call[0] == "enroot" for call in machine.read_argv())
    assert machine.list_left("jobs") == []


def test_a_good_run_stays_good_if_the_queue_cannot_be_asked(machine: LaunchMachine) -> None:
    """A question that hangs is not an empty answer: it is reported, and the job is cancelled by name as well."""
    machine.break_program("squeue", '! grep -q salloc "$STAND_IN/argv" || exec sleep 100')
    launched = machine.run("slurm", limits=HURRIED)
    assert launched.code == 0, launched.err
    [left] = launched.record["left"]
    assert left == "The Slurm jobs of this runner cannot be removed: squeue does not answer."
    assert f"Cleaning up: {left}" in launched.err
    cancelled = [call[1:] for call in machine.read_argv() if call[0] == "scancel"]
    assert cancelled[:2] == [
        ["100"],
        [f"--user={pwd.getpwuid(os.getuid()).pw_name}", f"--name=infx-{RUNNERS['slurm']}"],
    ]
    assert machine.list_left("jobs") == []


@pytest.mark.parametrize(
    ("benchmark", "code"), [(RESULT, 0), pytest.param("exit 7", 7, marks=pytest.mark.nightly)]
)
def test_a_failed_release_changes_no_exit_code(benchmark: str, code: int, machine: LaunchMachine) -> None:
    machine.write_benchmark(benchmark)
    machine.break_program("scancel", "exit 1")
    launched = machine.run("slurm", limits=HURRIED)
    assert launched.code == code
    left = launched.record["left"]
    assert left[0] == "The step allocate was not released: scancel ended with 1: no output"
    assert left[1].startswith("The Slurm jobs of this runner cannot be removed: still there: 100;")
    assert machine.list_left("jobs") == ["100"]
    cleaned = machine.run("slurm", "clean", limits=HURRIED)
    assert (cleaned.code, "still there: 100" in cleaned.err) == (1, True)
    machine.mend()
    assert machine.run("slurm", "clean").code == 0
    assert machine.list_left("jobs") == []


def test_a_release_that_fails_once_is_repeated(machine: LaunchMachine) -> None:
    machine.break_program("scancel", 'rm "$fault"; exit 1')
    assert machine.run("slurm").code == 0
    assert machine.list_left("jobs") == []


@pytest.mark.parametrize("name", ["run", "clean"])
def test_only_this_runners_leftovers_are_removed(name: str, machine: LaunchMachine) -> None:
    other = "c" * 63 + "6"
    machine.add_job(5, RUNNERS["slurm"])
    machine.add_job(6, OTHER["slurm"])
    machine.add_container(CONTAINER, RUNNERS["docker"])
    machine.add_container(other, OTHER["docker"])
    for kind in ("slurm", "docker"):
        launched = machine.run(kind, name)
        assert launched.code == 0, launched.err
    assert machine.list_left("jobs") == ["6"]
    assert machine.list_left("containers") == [other]
    removing = [call for call in machine.read_argv() if call[0] == "scancel" or call[1] == "rm"]
    assert not any(word in {"6", other} for call in removing for word in call)


@pytest.mark.parametrize("ignores", [False, True])
def test_processes_of_an_earlier_launch_end_before_the_next(ignores: bool, machine: LaunchMachine) -> None:
    """Also one that ignores SIGTERM, and that has left its process group."""
    script = ("trap '' TERM; " if ignores else "") + "echo; while :; do sleep 0.1; done"
    started = []
    for runner in (RUNNERS["local"], OTHER["local"]):
        process = subprocess.Popen(
            ["sh", "-c", script],
            env={**os.environ, "INFX_LAUNCH": runner},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        started.append(process)
    own, other = started
    assert machine.run("local").code == 0
    assert own.wait(10) != 0
    assert other.poll() is None
    other.kill()
    for process in started:
        process.communicate()


@pytest.mark.parametrize(
    ("outer", "mark", "ends"),
    [
        ("", "{runner}", True),
        ("", "{runner}/inner_0", True),  # what a launch in a launch of this runner left
        ("", "demo/{runner}", False),  # of a runner of the same name in another launch
        ("demo", "demo/{runner}", True),
        ("demo", "{runner}", False),
        ("demo", "demo", False),
        ("{runner}", "{runner}", True),  # a person cleans from a launch
    ],
)
def test_a_launch_in_a_launch_ends_only_its_own_processes(
    outer: str, mark: str, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = RUNNERS["local"]
    monkeypatch.setenv("INFX_LAUNCH", outer.format(runner=runner))
    environ = {**os.environ, "INFX_LAUNCH": mark.format(runner=runner)}
    with subprocess.Popen(["sleep", "100"], env=environ) as process:
        assert (str(process.pid) in LocalDriver(runner).find()) is ends
        process.kill()


def test_a_server_that_the_benchmark_leaves_ends(machine: LaunchMachine) -> None:
    machine.write_benchmark(RESULT + "setsid sleep 100 > /dev/null 2>&1 &\n")
    launched = machine.run("local")
    assert (launched.code, launched.record["left"]) == (0, [])
    assert machine.list_processes(RUNNERS["local"]) == []


def test_a_workspace_with_files_of_another_user_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results").mkdir()
    assert find_foreign(str(tmp_path)) == ""
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert find_foreign(str(tmp_path)) == str(tmp_path)


@pytest.mark.parametrize(
    ("runner", "code", "words"),
    [
        (
            "xy_00",
            1,
            "The runner 'xy_00' belongs to no cluster that takes the row; expected one of sl, sr, dk, lo.",
        ),
        ("", 2, "The runner has no usable name: RUNNER_NAME is ''; expected"),
    ],
)
def test_a_runner_without_a_cluster_is_refused(
    runner: str, code: int, words: str, machine: LaunchMachine
) -> None:
    launched = machine.run(runner)
    assert (launched.code, launched.cause) == (code, "infrastructure")
    assert words in launched.message


def test_a_row_without_its_script_is_refused(machine: LaunchMachine) -> None:
    (machine.workspace / "bench.sh").unlink()
    launched = machine.run("docker")
    assert (launched.code, launched.cause) == (1, "benchmark")
    assert launched.record["error"]["retriable"] is False
    assert launched.message == "None of the candidates for script exists: bench.sh."


def test_a_step_that_takes_too_long_is_stopped(machine: LaunchMachine) -> None:
    """The plan has whole minutes; a test has less time. Its child, which ignores SIGTERM, is killed."""
    machine.write_benchmark("trap '' TERM\nsleep 100 & wait; wait; sleep 100\n")
    machine.replace_in_plan("minutes=5\0", "minutes=0.01\0")
    launched = machine.run("local")
    assert (launched.code, launched.cause) == (124, "benchmark")
    assert launched.message == (
        "The benchmark took too long and was stopped; the row's limit is 0.01 minutes."
    )
    assert machine.list_processes(RUNNERS["local"]) == []


def test_the_packed_row_file_launches(machine: LaunchMachine) -> None:
    launched = machine.run_packed("slurm")
    assert (launched.code, "Gathered 1 file" in launched.err) == (0, True), launched.err
