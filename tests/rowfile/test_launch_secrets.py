"""A secret reaches the benchmark, and no argv, log, record or file of the plan has its value."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.rowfile.launch_text import HIDDEN, Hiding
from tests.rowfile.launching import RESULT, RUNNERS, LaunchMachine

CANARY = "canary-4f1d0c9be2"
PRINTING = 'env; echo "token: $HF_TOKEN"; printf %s "$HF_TOKEN" > "$STAND_IN/seen"\n'
VARIABLES = {"HF_TOKEN": CANARY, "MODAL_TOKEN_SECRET": CANARY + "2", "GITHUB_TOKEN": CANARY + "3"}


def find_canary(folder: Path) -> list[str]:
    """Return the files of a folder that have the canary."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if CANARY.encode() in path.read_bytes()]


@pytest.mark.parametrize("ends", [RESULT, pytest.param("exit 7", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kind", RUNNERS)
def test_only_the_benchmark_gets_a_secret(kind: str, ends: str, machine: LaunchMachine) -> None:
    """The canary is what the benchmark wrote on purpose, and nowhere else: not in argv, the record or the log."""
    machine.variables.update(VARIABLES)
    machine.write_benchmark(PRINTING + ends)
    launched = machine.run(kind)
    assert launched.code == (0 if ends == RESULT else 7)
    assert CANARY not in launched.out + launched.err
    assert "token: ***" in launched.out
    assert find_canary(machine.folder) == ["state/seen"]
    assert find_canary(machine.plan) == []
    assert (machine.state / "seen").read_text() == CANARY


@pytest.mark.parametrize("name", ["salloc", "squeue", "scancel", "enroot"])
def test_no_other_program_gets_a_secret(name: str, machine: LaunchMachine) -> None:
    """A program of Slurm that prints its environment when it fails leaves no secret in the record."""
    machine.variables.update(VARIABLES)
    machine.break_program(name, 'env >> "$STAND_IN/environment"; env >&2; exit 1')
    launched = machine.run("slurm", limits={"SWEEP": 0.2})
    assert (machine.state / "environment").exists()
    assert find_canary(machine.folder) == []
    assert CANARY not in launched.out + launched.err


def test_docker_gets_the_name_of_a_secret_and_no_value(machine: LaunchMachine) -> None:
    machine.variables.update(VARIABLES)
    machine.run("docker")
    [call] = [call for call in machine.read_argv() if "--env=HF_TOKEN" in call]
    assert not any("=" in word.removeprefix("--env=") for word in call if word.startswith("--env="))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 100])
def test_a_secret_is_hidden_however_it_arrives(size: int) -> None:
    text = b"a canary-4f1d0c9be2 canary canary-4f1d0c9be canary-4f1d0c9be2x canary-"
    hiding = Hiding(["canary-4f1d0c9be2", "canary-4f1d0c9be2x", "short"])
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    shown = b"".join(map(hiding.take, parts)) + hiding.end()
    assert shown in {
        b"a *** canary canary-4f1d0c9be *** canary-",
        b"a *** canary canary-4f1d0c9be ***x canary-",  # the shorter secret was complete
    }
    assert HIDDEN in shown
