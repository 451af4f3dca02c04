"""The launch of a row as it travels in the plan folder; `infx.launch.steps` has the form.

The file `launches.jsonl` has a line for each row and each cluster that may take it. It begins with the row's id.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, Iterator

from .errors import RowError
from .plan import LAUNCHES

RUN = "run"  # the step that is the benchmark
# Steps after the benchmark that only clean up: a failure is reported, and the benchmark's code stays.
CLEANING = ("remove", "give-back")
# The words of salloc, of sbatch, and of srtctl.
_GRANTED = re.compile(r"(?:Granted job allocation|Submitted batch job|\bJob) ([0-9]+)\b(?!\w)")


class StepForm:
    """A process of a launch; see `infx.launch.steps.Step`."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.name: str = values["name"]
        self.argv: list[str] = values["argv"]
        self.environment: dict[str, str] = values.get("environment", {})
        self.seconds = float(values["seconds"])
        self.is_always_run = values.get("always", False) is True
        self.grants_job = values.get("grants") == "job"
        self.output: str = values.get("output", "")
        self.release: list[str] = values.get("release", [])


class LaunchForm:
    """The launch of a row on a cluster; see `infx.launch.steps.Launch`. Raises LookupError or TypeError."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.cluster: str = values["cluster"]
        self.driver: str = values["driver"]
        self.job_name: str = values["job-name"]
        self.secrets: list[str] = values["secrets"]
        self.row_names: list[str] | None = values.get("row-names")
        self.choices: list[dict[str, Any]] = values["choices"]
        self.port: dict[str, Any] = values["port"]
        self.checkout: str = values["checkout"]  # where the benchmark runs
        self.steps = [StepForm(step) for step in values["steps"]]


def parse_job(lines: list[str]) -> str:
    """Return the id of the allocation from the words of its grant; empty if they are not there."""
    found = [match.group(1) for match in map(_GRANTED.search, lines) if match]
    return found[-1] if found else ""


def has_launches(plan: str) -> bool:
    return os.path.exists(os.path.join(plan, LAUNCHES))


def read_launch(plan: str, row_id: str, runner: str) -> LaunchForm | None:
    """Return the launch of a row on a runner; None if the row has no launch, and so runs the row command.

    Raises RowError: 1 if the row cannot run on this runner, 2 if the plan cannot be read.
    """
    others = []
    try:
        for values in _read_lines(plan, '{"row": ' + json.dumps(row_id) + ","):
            if runner in values["runners"]:
                if "refused" in values:
                    raise RowError("The row cannot run on " + runner + ": " + str(values["refused"]))
                return LaunchForm(values["launch"])
            others.append(str(values["cluster"]))
    except (ValueError, LookupError, TypeError) as error:
        raise RowError(plan + ": the launches of the plan cannot be read: " + repr(error), 2) from None
    if others:
        message = "The runner " + repr(runner) + " belongs to no cluster that takes the row; expected one of "
        raise RowError(message + ", ".join(others) + ". RUNNER_NAME names the runner.")
    return None


def find_driver(plan: str, runner: str) -> tuple[str, str]:
    """Return the driver of a runner, and the name of its Slurm jobs; empty texts if no launch is for the runner."""
    try:
        for values in _read_lines(plan, "{"):
            if runner in values["runners"] and "launch" in values:
                return values["launch"]["driver"], values["launch"]["job-name"]
    except (ValueError, LookupError, TypeError) as error:
        raise RowError(plan + ": the launches of the plan cannot be read: " + repr(error), 2) from None
    return "", ""


def _read_lines(plan: str, start: str) -> Iterator[dict[str, Any]]:
    """Yield the values of the lines that begin with a text. Raises RowError (2), or ValueError."""
    try:
        with open(os.path.join(plan, LAUNCHES), encoding="utf-8") as file:
            for line in file:
                if line.startswith(start):
                    yield json.loads(line)
    except FileNotFoundError:
        return
    except OSError as error:
        raise RowError(plan + ": the launches cannot be read: " + str(error.strerror) + ".", 2) from None
