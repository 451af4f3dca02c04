"""What a launched row leaves: its result row, also if the benchmark leaves only the client's output."""

from __future__ import annotations

import json

import pytest

from tests.rowfile.launching import LaunchMachine
from tests.rowfile.outputs import VLLM
from tests.rowfile.playing import OLDER, find_python

OUTPUT = "cat > \"$RESULT_FILENAME.json\" <<'END'\n{}\nEND\n"


def test_the_clients_output_becomes_a_row(machine: LaunchMachine) -> None:
    machine.write_benchmark(OUTPUT.replace("{}", json.dumps({**VLLM, "max_concurrency": 8})))
    launched = machine.run_packed("local")
    assert launched.code == 0, launched.err
    stages = [stage["stage"] for stage in launched.record["stages"]]
    assert stages == ["prepare", "clean", "command", "release", "process", "gather"]
    [name] = [path.name for path in (machine.folder / "out").glob("agg_*.json")]
    assert json.loads((machine.folder / "out" / name).read_bytes())["conc"] == 8


@pytest.mark.parametrize(
    "version", [OLDER[0], *(pytest.param(version, marks=pytest.mark.nightly) for version in OLDER[1:])]
)
def test_a_launch_needs_no_newer_python(version: str, machine: LaunchMachine) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    launched = machine.run_packed("slurm", python)
    assert (launched.code, launched.record["left"]) == (0, []), launched.err


def test_a_bad_output_fails_the_row(machine: LaunchMachine) -> None:
    machine.write_benchmark(OUTPUT)
    launched = machine.run_packed("local")
    assert (launched.code, launched.cause) == (1, "benchmark")
    assert launched.record["error"]["stage"] == "process"


def test_a_benchmark_that_leaves_nothing_has_failed(machine: LaunchMachine) -> None:
    machine.write_benchmark("true")
    launched = machine.run("local")
    assert launched.code == 1
    assert launched.record["error"]["type"] == "missing-results"
