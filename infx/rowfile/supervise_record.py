"""The record of supervised processes: stages with their times, processes, and the first error."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from .failure import Failure
from .record import MAX_EVIDENCE, MAX_TEXT, SUPERVISED, describe_error
from .runner import print_line
from .supervise_process import SupervisedProcess

SCHEMA = 1


class SuperviseRecord:
    """What is written at the end.

    Attributes:
        failure: the first one; None so far.
    """

    def __init__(self, folder: str) -> None:
        self.failure: Failure | None = None
        self._error: dict[str, object] | None = None
        self._path = os.path.join(folder, SUPERVISED)
        self._stages: list[dict[str, Any]] = []
        self._began_at = 0.0
        self._leftovers: list[str] = []

    def clear(self) -> None:
        """Remove a record of an earlier run, which would be taken for this one's. Raises OSError."""
        new = self._path + ".new"
        with open(new, "wb"):  # whether the record can be written is known before anything starts
            os.replace(new, self._path)
        os.remove(self._path)

    def begin(self, stage: str) -> None:
        """Begin a stage; the one before ends."""
        self._end_stage()
        self._stages.append({"stage": stage, "started_at": round(time.time(), 3)})
        self._began_at = time.monotonic()

    def _end_stage(self) -> None:
        if self._stages and "seconds" not in self._stages[-1]:
            self._stages[-1]["seconds"] = round(time.monotonic() - self._began_at, 3)

    def fail(self, failure: Failure) -> None:
        """Record a failure of the current stage; a later one is only reported."""
        if self.failure is not None:
            self.add_leftover(failure.message)
            return
        self.failure = failure
        stage = self._stages[-1]["stage"] if self._stages else "check"
        self._error = describe_error(
            stage,
            failure.kind,
            failure.message,
            failure.code,
            evidence=failure.evidence,
            cause=failure.cause,
            retriable=failure.cause == "infrastructure",
        )

    def add_leftover(self, sentence: str) -> None:
        """Record what could not be cleaned up; it fails nothing."""
        print_line("supervise: " + sentence)
        self._leftovers.append(sentence[:MAX_TEXT])

    def write(self, processes: list[SupervisedProcess], ports: dict[str, int], code: int) -> None:
        """Write the record. A record that cannot be written is reported."""
        self._end_stage()
        values = {
            "schema": SCHEMA,
            "outcome": "success" if code == 0 else "failure",
            "exit_code": code,
            "error": self._error,
            "stages": self._stages,
            "processes": [_describe(process) for process in processes],
            "ports": ports,
            "left": self._leftovers[:MAX_EVIDENCE],
        }
        try:
            with open(self._path + ".new", "w", encoding="ascii") as file:
                file.write(json.dumps(values, indent=2) + "\n")
            os.replace(self._path + ".new", self._path)
        except OSError as error:
            print_line("supervise: " + self._path + " cannot be written: " + str(error.strerror) + ".")
            return
        if code:
            more = "; the record " + self._path + " and the logs next to it have more."
            print_line("supervise: exit code " + str(code) + more)


def _describe(process: SupervisedProcess) -> dict[str, Any]:
    ready_at = process.ready_at
    return {
        "name": process.spec.name,
        "starts": process.starts,
        "pid": None if process.child is None else process.child.pid,
        "ready_after": None if ready_at is None else round(ready_at - process.began_at, 3),
        "exit_code": process.code,
        "log": os.path.basename(process.log),
        "workers": [title for _, title in process.workers[:MAX_EVIDENCE]],
    }
