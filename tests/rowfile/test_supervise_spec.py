"""The file of supervise.py: its faults, its variables and its order."""

from __future__ import annotations

import glob
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile import supervise
from infx.rowfile.supervise_process import SupervisedProcess
from infx.rowfile.supervise_spec import ProcessSpec, SuperviseSpec, check_variables, parse_spec
from infx.rowfile.supervise_table import read_entry, read_title
from infx.rowfile.supervise_text import fill_variables
from infx.rowfile.supervise_variables import ProcessVariables

ENGINE = {"argv": ["engine", "${PORT_ENGINE}"], "ports": ["engine"], "ready": {"path": "/health"}}
ROUTER = {"argv": ["router"], "ports": ["router", "router-api"], "after": ["engine"]}


def parse(**fields: Any) -> SuperviseSpec:
    spec, faults = parse_spec(json.dumps(fields).encode())
    assert faults == []
    assert spec is not None
    return spec


def find_faults(values: object) -> list[str]:
    return parse_spec(json.dumps(values).encode())[1]


def test_all_faults_are_reported_at_once() -> None:
    faults = find_faults(
        {
            "processes": {
                "Engine": {"argv": [], "ports": ["e", "e"], "ready": {"path": "health"}},
                "b": {"after": ["c", "b"], "grace": -1, "env": {"a b": "c"}, "x": 1, "ready": {"tcp": True}},
                "client": {"argv": ["true"], "required": "no", "ports": "p", "workers": "w"},
            },
            "entry": "f",
            "limits": {"client": 1, "progress": 2, "memory": 0},
        }
    )
    assert [fault.partition(":")[0] for fault in faults] == [
        "processes.Engine",
        "processes.Engine.argv",
        "processes.Engine.ports",
        "processes.Engine.ready.path",
        "processes.Engine.ready.port",
        "processes.b.x",
        "processes.b.argv",
        "processes.b.ready.port",
        "processes.b.after",
        "processes.b.after",
        "processes.b.grace",
        "processes.b.env",
        "processes.client",
        "processes.client.ports",
        "processes.client.workers",
        "processes.client.workers",
        "processes.client.required",
        "entry",
        "limits.memory",
        "limits.memory",
    ]


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ([], "The file: expected an object; it is []."),
        ({}, "processes: the field is missing."),
        ({"processes": {}}, "processes: expected an object with a field for each process; it is {}."),
        ({"processes": {"a": ENGINE | {"argv": ["a\0"]}}}, "processes.a.argv: expected a list of texts"),
        ({"processes": {"a": {"argv": ["a"], "workers": ["b"]}}}, "processes.a.workers: they are looked at when"),
        ({"processes": {"a": ENGINE | {"ready": {}}}}, 'processes.a.ready: expected either "path": "/health" or'),
        ({"processes": {"a": ENGINE | {"ready": {"path": "/a b"}}}}, "processes.a.ready.path: expected a path"),
        ({"processes": {"a": ENGINE | {"grace": True}}}, "processes.a.grace: expected a number of seconds"),
        ({"processes": {"a": ENGINE, "b": ENGINE}}, "processes.b.ports: a has a port 'engine' already."),
        ({"processes": {"a": ENGINE}, "limits": {"client": 0}}, "limits.client: expected a number of seconds above 0"),
        (
            {"processes": {"a": ENGINE}, "limits": {"client": 5, "progress": 9}},
            "limits.progress: it is longer than limits.client, 5.",
        ),
        (
            {"processes": {"a": {"argv": ["a"], "after": ["b"]}, "b": {"argv": ["b"], "after": ["a"]}}},
            "processes: these wait for each other: a, b. Remove an `after`.",
        ),
    ],
)  # fmt: skip
def test_a_fault_of_the_file(values: object, fault: str) -> None:
    faults = find_faults(values)
    assert any(text.startswith(fault) for text in faults), faults


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[" * 100_000, b'{"processes": NaN}', b'{"a": 1, "a": 2}'])
def test_a_file_that_is_not_json(data: bytes) -> None:
    assert parse_spec(data)[0] is None


def test_all_missing_variables_are_reported_at_once() -> None:
    spec = parse(processes={"a": {"argv": ["a", "${X} ${PORT_B}"], "env": {"Y": "${Z} ${HOME}", "W": "${"}}})
    faults = check_variables(spec, ["c", "${V:-v} ${PORT}"], {"HOME": "/"})
    assert [fault.partition(". ")[0] for fault in faults] == [
        "processes.a.argv[1]: the variable X is not set",
        "processes.a.argv[1]: the variable PORT_B is not set",
        "processes.a.env.Y: the variable Z is not set",
        "processes.a.env.W: a variable must be ${NAME} or ${NAME:-default}; write $${ for ${ itself.",
        "client[1]: the variable PORT is not set",
    ]


def test_the_port_of_the_client_needs_an_entry() -> None:
    """A PORT from outside would be that of another server."""
    spec = parse(processes={"engine": ENGINE, "router": ROUTER})
    assert check_variables(spec, ["c", "${PORT:-1}", "${BASE_URL}"], {"PORT": "8888"}) == [
        "client[1]: PORT is that of the port `entry`; add `entry`, one of engine, router, router-api.",
        "client[2]: BASE_URL is that of the port `entry`; add `entry`, one of engine, router, router-api.",
    ]
    assert check_variables(parse(processes={"a": {"argv": ["a"]}}), ["c", "${PORT}"], {"PORT": "8888"}) == []


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${A}-${A}", "${B}-${B}"),  # a value is not read again
        ("${EMPTY}|${EMPTY:-x}|${NONE:-}", "|x|"),
        ("$A $${A} ${B:-c d}", "$A ${A} c d"),
    ],
)
def test_variables_are_replaced(text: str, filled: str) -> None:
    assert fill_variables(text, {"A": "${B}", "EMPTY": ""}) == filled


def test_processes_start_behind_those_that_they_wait_for() -> None:
    spec = parse(processes={"router": ROUTER, "engine": ENGINE, "other": {"argv": ["other"]}})
    assert [process.name for process in spec.processes] == ["engine", "router", "other"]


def test_processes_see_the_ports_that_they_need() -> None:
    third = {"argv": ["third", "${PORT}"], "after": []}
    spec = parse(processes={"third": third, "engine": ENGINE, "router": ROUTER}, entry="router-api")
    inherited = {"PORT": "1", "PORT_ENGINE": "2", "PORT_OTHER": "3", "A": "b"}
    variables = ProcessVariables(spec, inherited, "run")
    numbers = {"engine": 10, "router": 11, "router-api": 12}
    environments = {process.name: variables.list_environment(process, numbers) for process in spec.processes}
    entry = {"PORT": "12", "BASE_URL": "http://127.0.0.1:12", "PORT_ROUTER_API": "12"}
    common = {"A": "b", "PORT_OTHER": "3"}
    assert environments == {
        "engine": {**common, "PORT_ENGINE": "10", "INFX_SUPERVISED": "run/engine"},
        "router": {**common, **entry, "PORT_ENGINE": "10", "PORT_ROUTER": "11", "INFX_SUPERVISED": "run/router"},
        "third": {**common, **entry, "INFX_SUPERVISED": "run/third"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("workers", "missing", "count"),
    [
        (["TITLE"], "", 1),
        (["TITLE", "VLLM::*", "other"], "VLLM::*", 1),
        ([], "", 0),
        (None, "", 0),  # those of the known engines are watched if they exist
    ],
)
def test_workers_are_found_by_their_titles(workers: list[str] | None, missing: str, count: int) -> None:
    """The worker is this test, by its command line."""
    own = read_entry(os.getpid())
    assert own is not None
    title = glob.escape(read_title(own.pid))
    values = {} if workers is None else {"workers": [pattern.replace("TITLE", title) for pattern in workers]}
    process = SupervisedProcess(ProcessSpec("engine", {**ENGINE, **values}), ".")
    assert process.find_workers([own]) == missing
    assert [entry for entry, _ in process.workers] == [own] * count
    assert process.find_dead_worker() == ""


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--help"], 0, "Exit codes"),
        ([], 2, "wrong arguments"),
        (["spec.json"], 2, "wrong arguments"),
        (["spec.json", "--"], 2, "wrong arguments"),
        (["none.json", "--", "true"], 2, "none.json cannot be read: No such file or directory."),
        (["--check", "spec.json"], 0, "spec.json is valid: 2 processes, 3 ports."),
        (["--check", "spec.json", "--", "${NONE}"], 2, "client[0]: the variable NONE is not set. Export it."),
    ],
)
def test_the_command_line(
    arguments: list[str],
    code: int,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.json").write_text(json.dumps({"processes": {"engine": ENGINE, "router": ROUTER}}))
    monkeypatch.setattr(sys, "argv", ["supervise.py", *arguments])
    assert supervise.main() == code
    assert text in "".join(capfd.readouterr())


def test_a_text_that_no_process_can_have_is_a_fault() -> None:
    """JSON can write half of a surrogate pair, and a NUL; the kernel takes neither."""
    process = {"argv": ["true", "\ud800"], "env": {"A": "\0"}}
    faults = [fault.partition(":")[0] for fault in find_faults({"processes": {"a": process}})]
    assert faults == ["processes.a.argv", "processes.a.env"]
