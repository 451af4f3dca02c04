"""The programs that a benchmark gets: from the plan, at a path that it sees, whatever the checkout has in their place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from infx.rowfile.errors import RowError
from infx.rowfile.launch_programs import FOLDER, place_programs
from tests.rowfile.launching import RESULT, RUNNERS, LaunchMachine

VARIABLES = {"INFX_ROW_FILE": "row.py", "INFX_SUPERVISE": "supervise.py"}
SHOWING = 'echo "shown $INFX_ROW_FILE $INFX_SUPERVISE"\n'


@pytest.mark.parametrize("kind", RUNNERS)
def test_a_benchmark_has_the_programs_of_the_plan(kind: str, machine: LaunchMachine) -> None:
    machine.write_benchmark(SHOWING + RESULT)
    launched = machine.run(kind)
    assert launched.code == 0, launched.err
    checkout = machine.workspace if kind == "local" else Path("/workspace")  # of a container
    [shown] = [line.split()[1:] for line in launched.out.splitlines() if line.startswith("shown")]
    assert shown == [f"{checkout}/.infx/{name}" for name in VARIABLES.values()]
    for name in VARIABLES.values():
        assert (machine.workspace / FOLDER / name).read_bytes() == (machine.plan / name).read_bytes()


def test_docker_gets_the_names_of_the_variables(machine: LaunchMachine) -> None:
    machine.run("docker")
    [call] = [call for call in machine.read_argv() if "--env=HF_TOKEN" in call]
    assert {f"--env={name}" for name in VARIABLES} <= set(call)


def test_programs_of_an_earlier_launch_are_replaced(tmp_path: Path) -> None:
    place_programs({"row.py": b"old", "supervise.py": b"old"}, str(tmp_path))
    place_programs({"row.py": b"new"}, str(tmp_path))
    assert (tmp_path / FOLDER / "row.py").read_bytes() == b"new"


def test_git_does_not_list_the_programs(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    place_programs({"row.py": b""}, str(tmp_path))
    listed = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain"], check=True, capture_output=True, text=True
    )
    assert listed.stdout == ""


def test_a_link_in_the_place_of_a_program_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "own").write_bytes(b"of the machine's user")
    (tmp_path / "checkout" / FOLDER).mkdir(parents=True)
    (tmp_path / "checkout" / FOLDER / "row.py").symlink_to(tmp_path / "own")
    place_programs({"row.py": b"new"}, str(tmp_path / "checkout"))
    assert (tmp_path / "own").read_bytes() == b"of the machine's user"
    assert (tmp_path / "checkout" / FOLDER / "row.py").read_bytes() == b"new"


@pytest.mark.parametrize("is_link", [True, False])
def test_a_checkout_that_takes_the_folder_is_refused(is_link: bool, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    place = tmp_path / "checkout" / FOLDER
    place.parent.mkdir()
    if is_link:
        place.symlink_to(tmp_path / "own")
    else:
        place.touch()
    with pytest.raises(RowError, match=r"has a file or a link \.infx"):
        place_programs({"row.py": b"new"}, str(place.parent))
    assert list((tmp_path / "own").iterdir()) == []


def test_a_folder_in_the_place_of_a_program_fails_the_row(machine: LaunchMachine) -> None:
    (machine.workspace / FOLDER / "row.py").mkdir(parents=True)
    launched = machine.run("local")
    assert (launched.code, launched.cause) == (1, "benchmark")
    assert launched.message == "The checkout has a folder .infx/row.py; expected none."
