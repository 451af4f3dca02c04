"""A launch that is cancelled or killed at one of its steps: nothing is left, at the latest after `row.py clean`."""

from __future__ import annotations

import signal
from typing import NamedTuple

import pytest

from tests.rowfile.launching import HURRIED, OTHER, RUNNERS, LaunchMachine

HANG = 'touch "$STAND_IN/reached"; sleep 100'
IGNORING = f"trap '' INT TERM; {HANG} & wait; wait; wait"


class Place(NamedTuple):
    """A step in which a launch hangs: a stand-in's fault, or the benchmark's script."""

    kind: str
    program: str = ""
    benchmark: str = HANG


PLACES = {
    "allocate": Place("slurm", program="salloc"),
    "import": Place("slurm", program="enroot"),
    "run (slurm)": Place("slurm"),
    "run (srun)": Place("srun"),
    "run (docker)": Place("docker"),
    "run (local)": Place("local"),
    "run (local), ignoring signals": Place("local", benchmark=IGNORING),
}
FAULTS = {"salloc": 'echo "$name" > "$STAND_IN/jobs/100"; ' + HANG, "enroot": HANG}
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
FAST = {
    *((place, signal.SIGTERM) for place in PLACES),
    *((place, signal.SIGKILL) for place in PLACES if "ignoring" not in place),
    ("run (slurm)", signal.SIGINT),
    ("run (local)", signal.SIGINT),
}
CASES = [
    pytest.param(place, number, marks=() if (place, number) in FAST else pytest.mark.nightly)
    for place in PLACES
    for number in SIGNALS
]


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_signal_at_a_step_leaves_nothing(name: str, number: signal.Signals, machine: LaunchMachine) -> None:
    place = PLACES[name]
    machine.add_job(6, OTHER[place.kind])
    machine.write_benchmark(place.benchmark)
    if place.program:
        machine.break_program(place.program, FAULTS[place.program])
    with machine.start(place.kind) as process:
        machine.wait_for(machine.state / "reached")
        process.send_signal(number)
        if number == signal.SIGKILL:
            process.wait()
            machine.mend()
            assert machine.list_processes(RUNNERS[place.kind])
            assert machine.run(place.kind, "clean").code == 0
        out, err = process.communicate(timeout=30)
    if number != signal.SIGKILL:
        launched = machine.end(process.returncode, out, err)
        assert (launched.code, launched.cause) == (128 + number, "cancelled"), err
        assert launched.record["left"] == []
    assert machine.list_left("jobs") == ["6"]
    assert machine.list_left("containers") == []
    assert machine.list_processes(RUNNERS[place.kind]) == []


def test_two_runners_at_once_do_not_touch_each_other(machine: LaunchMachine) -> None:
    """One is cancelled while both hold an allocation; the other goes on to its end."""
    machine.write_benchmark(
        'touch "$STAND_IN/reached-$RUNNER_NAME"\n'
        'for try in $(seq 600); do test ! -e "$STAND_IN/go" || break; sleep 0.05; done\n'
        'echo {} > "agg_$RESULT_FILENAME.json"\n'
    )
    with machine.start("slurm") as first, machine.start(OTHER["slurm"]) as second:
        for runner in (RUNNERS["slurm"], OTHER["slurm"]):
            machine.wait_for(machine.state / f"reached-{runner}")
        assert machine.list_left("jobs") == ["100", "101"]
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=30)
        assert first.returncode == 128 + signal.SIGTERM
        assert len(machine.list_left("jobs")) == 1
        (machine.state / "go").touch()
        second.communicate(timeout=30)
        assert second.returncode == 0
    assert machine.list_left("jobs") == []


def test_a_cancellation_ends_before_the_runner_kills(machine: LaunchMachine) -> None:
    """Even if Slurm does not answer any more: 7.5 seconds after SIGINT comes SIGTERM, and then SIGKILL."""
    from infx.rowfile import launch_limits as limits

    assert limits.CANCEL_GRACE + limits.CANCEL_RELEASE <= 7.5
    machine.write_benchmark(HANG)
    with machine.start("slurm", limits=HURRIED) as process:
        machine.wait_for(machine.state / "reached")
        machine.break_program("squeue", "exec sleep 100")
        machine.break_program("scancel", "exec sleep 100")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGINT
    machine.mend()
    assert machine.run("slurm", "clean").code == 0
    assert machine.list_left("jobs") == []
