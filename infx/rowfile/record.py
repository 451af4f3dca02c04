"""The record of a row's job: what ran, how long, and the first error. It is uploaded with the row's results."""

from __future__ import annotations

import os
import time

from .runner import print_line

RECORD = "job_event.json"
SUPERVISED = "supervise.json"  # the record of supervised processes
SCHEMA = 1
MAX_EVIDENCE, MAX_TEXT = 20, 500  # lines, and characters of a line
MAX_FILES = 200
# The record is read by everyone: it names variables that it may repeat, and no other.
_OF_ROW = (
    "RUNNER_TYPE", "MODEL", "MODEL_PREFIX", "FRAMEWORK", "PRECISION", "SPEC_DECODING", "IMAGE", "ISL", "OSL", "CONC",
    "CONC_LIST", "EVAL_CONC", "SCENARIO_TYPE", "DISAGG", "IS_MULTINODE", "RECIPE_FINGERPRINT",
)  # fmt: skip
_OF_JOB = (
    "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "GITHUB_SHA", "RUNNER_NAME",
)  # fmt: skip


class JobRecord:
    """The stages of a job, and its first error.

    Attributes:
        error: the first error; None if every stage so far has passed.
    """

    def __init__(self, row_id: str, artifact: str, environment: dict[str, str]) -> None:
        self.error: dict[str, object] | None = None
        self._row_id = row_id
        self._artifact = artifact
        self._environment = environment
        self._stages: list[dict[str, object]] = []
        self._files: list[str] = []
        self._leftovers: list[str] = []
        self._supervised: list[dict[str, object]] = []

    def begin(self, stage: str) -> None:
        """Begin a stage; the one before ends."""
        self._end()
        self._stages.append({"stage": stage, "started_at": time.time()})

    def fail(
        self,
        kind: str,
        message: str,
        code: int,
        *,
        retriable: bool = False,
        evidence: list[str] | None = None,
        cause: str = "benchmark",
    ) -> None:
        """Record an error of the current stage, unless an earlier one is recorded.

        kind: a word for the class of the error. retriable: whether the same job may pass if it runs again. cause: what
        failed, the `benchmark` or the `infrastructure`, or `cancelled`.
        """
        if self.error is None and self._stages:
            self.error = describe_error(
                self._stages[-1]["stage"],
                kind,
                message,
                code,
                retriable=retriable,
                evidence=evidence,
                cause=cause,
            )

    def explain(self, error: dict[str, object]) -> None:
        """Replace the recorded error by a better description of the same one."""
        if self.error is not None:
            self.error = error

    def add_supervised(self, seconds: list[tuple[str, float]]) -> None:
        """Record how long parts of the benchmark took."""
        self._supervised += [{"name": name, "seconds": value} for name, value in seconds]

    def add_leftovers(self, sentences: list[str]) -> None:
        """Record what could not be cleaned up; it fails nothing."""
        self._leftovers += [sentence[:MAX_TEXT] for sentence in sentences[:MAX_EVIDENCE]]

    def add_files(self, names: list[str]) -> None:
        self._files += names

    def write(self, folder: str) -> None:
        """Write the record. A record that cannot be written does not fail the job."""
        self._end()
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, RECORD), "w", encoding="ascii") as file:
                file.write(_render(self._list(folder)) + "\n")
        except OSError as error:
            print_line("The record of this job cannot be written: " + str(error) + ".")

    def _end(self) -> None:
        if self._stages and "seconds" not in self._stages[-1]:
            self._stages[-1]["seconds"] = round(time.time() - float(str(self._stages[-1]["started_at"])), 3)

    def _list(self, folder: str) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "identity": {
                "row_id": self._row_id,
                "artifact": self._artifact,
                **{name.lower(): self._environment[name] for name in _OF_ROW if name in self._environment},
                **{name.lower(): os.environ[name] for name in _OF_JOB if name in os.environ},
            },
            "stages": self._stages,
            "outcome": "success" if self.error is None else "failure",
            "error": self.error,
            "left": self._leftovers,
            **({"supervised": self._supervised} if self._supervised else {}),
            "files": [
                {"name": name, "bytes": os.path.getsize(os.path.join(folder, name))}
                for name in self._files[:MAX_FILES]
            ],
            "file_count": len(self._files),
        }


def describe_error(
    stage: object,
    kind: str,
    message: str,
    code: int,
    *,
    retriable: bool,
    evidence: list[str] | None,
    cause: str,
) -> dict[str, object]:
    """Return an error in the form of a record."""
    return {
        "stage": stage,
        "type": kind,
        "cause": cause,
        "message": message[:MAX_TEXT],
        "exit_code": code,
        "retriable": retriable,
        "evidence": [line[:MAX_TEXT] for line in (evidence or [])[:MAX_EVIDENCE]],
    }


def _render(value: object) -> str:
    """Return a value as JSON, in ASCII. The module `json` does the same, but its import would double a row's start."""
    if isinstance(value, dict):
        return "{" + ", ".join(_quote(str(key)) + ": " + _render(item) for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_render, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value) if isinstance(value, (int, float)) else _quote(str(value))


def _quote(text: str) -> str:
    return '"' + "".join(char if _is_plain(char) else _escape(char) for char in text) + '"'


def _is_plain(char: str) -> bool:
    return " " <= char <= "~" and char not in '"\\'


def _escape(char: str) -> str:
    """Return the UTF-16 code units of a character as escapes; a lone surrogate becomes a question mark."""
    units = char.encode("utf-16-be", "replace")
    return "".join("\\u" + units[at : at + 2].hex() for at in range(0, len(units), 2))
