"""A row whose benchmark runs under supervision: the job's record says whose failure it was."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile import supervise_codes as codes
from infx.rowfile.record import RECORD, SUPERVISED
from tests.matrix.rows import FIXED, row
from tests.rowfile.launching import LaunchMachine
from tests.rowfile.playing import cut_plan, play
from tests.rowfile.supervising import SERVER, server, spec

DYING = "kill -9 $(cat engine.pid); exec sleep 1000"


def write_recipe(folder: Path, client: str) -> str:
    """Write the files of a recipe into a folder, and return its script."""
    (folder / "server.py").write_text(SERVER)
    (folder / "recipe.json").write_text(json.dumps(spec(server("engine"))))
    rest = ["recipe.json", "--", "sh", "-c", client]
    program = f'{shlex.quote(sys.executable)} -I -S "$INFX_SUPERVISE"'
    return f"export PYTHON={sys.executable} SERVER=server.py\nexec {program} {shlex.join(rest)}\n"


def check_record(record: dict[str, Any]) -> None:
    error = record["error"]
    assert (error["stage"], error["type"], error["exit_code"]) == ("client", "process-ended", codes.DIED)
    assert error["message"] == "Signal 9 ended the process engine before the client ended."
    assert error["evidence"][0].startswith("engine begins on ")
    assert {"start", "client", "stop", "engine"} <= {item["name"] for item in record["supervised"]}


def test_a_row_command_under_supervision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job = cut_plan(tmp_path, row(FIXED, 8), ["sh", "work.sh"])
    Path("work.sh").write_text(write_recipe(tmp_path, DYING))
    played = play(job)
    assert played.code == codes.DIED, played.err
    check_record(json.loads(Path("out", RECORD).read_text()))


def test_a_launched_row_under_supervision(machine: LaunchMachine) -> None:
    machine.write_benchmark(write_recipe(machine.workspace, DYING))
    launched = machine.run("local")
    assert launched.code == codes.DIED, launched.err
    check_record(launched.record)


def test_a_record_of_an_earlier_row_is_not_taken_over(machine: LaunchMachine) -> None:
    (machine.workspace / SUPERVISED).write_text("{}")
    client = 'echo {} > "agg_$RESULT_FILENAME.json"'
    machine.write_benchmark(write_recipe(machine.workspace, client))
    launched = machine.run("local")
    assert (launched.code, launched.record["error"]) == (0, None), launched.err
    assert "engine" in {item["name"] for item in launched.record["supervised"]}
    machine.write_benchmark(f"rm -f {SUPERVISED}; exit {codes.DIED}\n")
    launched = machine.run("local")
    assert launched.record["error"]["type"] == "exit-code"
    assert "supervised" not in launched.record
