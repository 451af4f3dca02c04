"""The failure of supervised processes in the record of the row's job; its file is hostile data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.record import MAX_TEXT, SUPERVISED, JobRecord
from infx.rowfile.supervised import MAX_BYTES, MAX_NAMES, take_over

EARLIER: dict[str, object] = {
    "stage": "command",
    "type": "exit-code",
    "message": "The row command ended with 91.",
}
ERROR: dict[str, object] = {
    "stage": "client",
    "type": "process-ended",
    "cause": "benchmark",
    "message": "Signal 9 ended the process engine before the client ended.",
    "exit_code": 91,
    "retriable": False,
    "evidence": ["out of memory"],
}
VALUES: dict[str, Any] = {
    "schema": 1,
    "exit_code": 91,
    "error": ERROR,
    "stages": [{"stage": "start", "seconds": 12.5}, {"stage": "client", "seconds": 3}],
    "processes": [{"name": "engine", "ready_after": 12.25}, {"name": "router", "ready_after": None}],
}
BAD_FIELDS: list[tuple[str, object]] = [
    ("stage", "a b"), ("stage", None), ("type", "::error::"), ("type", "x" * 100), ("cause", "me"), ("cause", []),
    ("message", ""), ("message", 3),
]  # fmt: skip


class TakenOver(JobRecord):
    """A record in memory that has failed with 91."""

    def __init__(self) -> None:
        super().__init__("row", "artifact", {})
        self.begin("command")
        self.fail("exit-code", "The row command ended with 91.", 91)

    def read(self, folder: Path) -> dict[str, Any]:
        self.write(str(folder / "out"))
        values: dict[str, Any] = json.loads((folder / "out/job_event.json").read_text())
        return values


def write(folder: Path, values: object) -> None:
    (folder / SUPERVISED).write_text(json.dumps(values))


def test_a_failure_is_taken_over(tmp_path: Path) -> None:
    write(tmp_path, VALUES)
    record = TakenOver()
    take_over(record, str(tmp_path), 0, 91)
    values = record.read(tmp_path)
    assert values["error"] == ERROR
    seconds = {"start": 12.5, "client": 3.0, "engine": 12.25}
    assert values["supervised"] == [{"name": name, "seconds": value} for name, value in seconds.items()]


def test_the_times_of_a_success_are_taken_over(tmp_path: Path) -> None:
    write(tmp_path, {**VALUES, "exit_code": 0, "error": ERROR})
    record = JobRecord("row", "artifact", {})
    take_over(record, str(tmp_path), 0, 0)
    assert record.error is None


@pytest.mark.parametrize("cause", ["benchmark", "infrastructure"])
def test_an_infrastructure_failure_may_be_retried(cause: str, tmp_path: Path) -> None:
    write(tmp_path, {**VALUES, "error": {**ERROR, "cause": cause, "retriable": True}})
    record = TakenOver()
    take_over(record, str(tmp_path), 0, 91)
    assert record.error is not None
    assert (record.error["cause"], record.error["retriable"]) == (cause, cause == "infrastructure")


@pytest.mark.parametrize(
    "values",
    [
        [],
        {**VALUES, "schema": 2},
        {**VALUES, "exit_code": 92},  # of another run
        {**VALUES, "error": [ERROR]},
        *({**VALUES, "error": {**ERROR, name: bad}} for name, bad in BAD_FIELDS),
    ],
)
def test_another_form_is_ignored(values: object, tmp_path: Path) -> None:
    write(tmp_path, values)
    record = TakenOver()
    earlier = record.error
    take_over(record, str(tmp_path), 0, 91)
    assert record.error == earlier


def write_deep(path: Path) -> None:
    path.write_text("[" * 100_000)


def write_large(path: Path) -> None:
    path.write_text(json.dumps({**VALUES, "x": "x" * MAX_BYTES}))


def write_link(path: Path) -> None:
    path.with_name("other").write_text(json.dumps(VALUES))
    path.symlink_to("other")


def write_pipe(path: Path) -> None:
    os.mkfifo(path)


def write_old(path: Path) -> None:
    path.write_text(json.dumps(VALUES))
    os.utime(path, (1000, 1000))


def write_bytes(path: Path) -> None:
    path.write_bytes(b"\xff\0")


@pytest.mark.parametrize(
    "write_file",
    [write_deep, write_large, write_link, write_pipe, write_old, write_bytes, Path.mkdir, lambda _: None],
)
def test_another_file_is_ignored(write_file: Callable[[Path], object], tmp_path: Path) -> None:
    write_file(tmp_path / SUPERVISED)
    record = TakenOver()
    earlier = record.error
    take_over(record, str(tmp_path), 2000, 91)
    assert record.error == earlier


def test_texts_and_lists_are_cut(tmp_path: Path) -> None:
    error = {**ERROR, "message": "m" * 10_000, "evidence": ["e" * 1000, 3] * 30}
    stages: list[object] = [{"stage": "start", "seconds": bad} for bad in (True, "1", None, -1, 1e300)]
    write(tmp_path, {**VALUES, "error": error, "stages": [*stages, 3, *VALUES["stages"] * 100]})
    record = TakenOver()
    take_over(record, str(tmp_path), 0, 91)
    values = record.read(tmp_path)
    assert len(values["error"]["message"]) == MAX_TEXT
    assert [len(line) for line in values["error"]["evidence"]] == [MAX_TEXT] * 20
    assert len(values["supervised"]) <= 2 * MAX_NAMES
    assert all(isinstance(item["seconds"], float) for item in values["supervised"])
