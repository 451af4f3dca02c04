"""One row of a plan folder, as `infx shards` wrote it for the row's machine."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from .errors import RowError

COMMON, JOBS = "row.json", "jobs.jsonl"


class RowTask(NamedTuple):
    """Everything that a row's machine needs to know.

    Attributes:
        id: of the row, as its job's name begins.
        environment: variables for the row command.
        artifact: name under which the results are uploaded.
        gathered: patterns of file names that are results of this row.
        required: patterns of which each must match a file, or the row has failed.
        command: argv of the row command.
        minutes: how long the row command may run.
        rules: what a later attempt asks GitHub; None if nothing.
    """

    id: str
    environment: dict[str, str]
    artifact: str
    gathered: list[str]
    required: list[str]
    command: list[str]
    minutes: float
    rules: dict[str, Any] | None


def read_row(folder: str, row_id: str) -> RowTask:
    """Read one row of the plan in a folder.

    Raises RowError (2) if the folder holds no readable plan, or the plan has no such row.
    """
    try:
        with open(os.path.join(folder, COMMON), encoding="utf-8") as file:
            common = json.load(file)
        line = _find_line(os.path.join(folder, JOBS), row_id)
        if line is not None:
            job = json.loads(line)["run"]
            return RowTask(
                id=row_id,
                environment=job["environment"],
                artifact=job["artifact"],
                gathered=job["gathered"],
                required=job["required"],
                command=common["command"],
                minutes=common["minutes"],
                rules=common["rules"],
            )
    except OSError as error:
        raise RowError(folder + ": there is no plan folder here: " + str(error.strerror), 2) from None
    except (ValueError, LookupError, TypeError) as error:
        raise RowError(folder + ": the plan folder cannot be read: " + repr(error), 2) from None
    raise RowError(folder + ": the plan has no row " + row_id + ".", 2)


def _find_line(path: str, row_id: str) -> bytes | None:
    """Return the line of a row. The id comes first in it, so that no other line has to be parsed."""
    start = ('{"id":' + json.dumps(row_id) + ",").encode()
    with open(path, "rb") as file:
        return next((line for line in file if line.startswith(start)), None)
