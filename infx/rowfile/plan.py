"""One row of a plan folder, as `infx.matrix.row_file` writes it for the row's machine.

The file `rows.env` consists of items `<kind>=<value>`, each ended by a NUL, as in the environment of a process. An
empty item ends a group. The first group holds what all rows share; every other group begins with the id of a row.
"""

from __future__ import annotations

from .errors import RowError

ROWS = "rows.env"
LAUNCHES = "launches.jsonl"  # only if a cluster is described; see `launch_steps`


class RowTask:
    """Everything that a row's machine needs to know.

    Attributes:
        id: of the row, as its job's name begins.
        environment: variables for the row command.
        artifact: name under which the results are uploaded.
        gathered: patterns of file names that are results of this row.
        required: patterns of which each must match a file, or the row has failed.
        command: argv of the row command.
        minutes: how long the row command may run.
        rules: JSON, what a later attempt asks GitHub; empty if nothing.
        is_accuracy: whether its scores are judged.
        expected: concurrencies that an accuracy run must measure, separated by blanks; None if its command chooses.
    """

    def __init__(self, items: list[tuple[str, str]]) -> None:
        """Take the items of the shared group and of the row's group. Raises LookupError if one is missing."""
        single = dict(items)
        self.id = single["id"]
        self.environment = dict(_split(value) for kind, value in items if kind == "set")
        self.artifact = single["artifact"]
        self.gathered = [value for kind, value in items if kind == "gather"]
        self.required = [value for kind, value in items if kind == "require"]
        self.command = [value for kind, value in items if kind == "argument"]
        self.minutes = float(single["minutes"])
        self.rules = single["rules"]
        self.is_accuracy = "scores" in single
        self.expected = single.get("scores") or None


def read_row(folder: str, row_id: str) -> RowTask:
    """Read one row of the plan in a folder.

    Raises RowError (2) if the folder holds no readable plan, or the plan has no such row.
    """
    try:
        with open(folder + "/" + ROWS, "rb") as file:
            data = file.read()
        start = data.find(b"\0\0id=" + row_id.encode() + b"\0")
        if start >= 0:
            return RowTask([*_read_group(data, 0), *_read_group(data, start + 2)])
    except OSError as error:
        raise RowError(folder + ": there is no plan folder here: " + str(error.strerror) + ".", 2) from None
    except (ValueError, LookupError) as error:
        raise RowError(folder + ": the plan folder cannot be read: " + repr(error), 2) from None
    raise RowError(folder + ": the plan has no row " + row_id + ".", 2)


def _read_group(data: bytes, start: int) -> list[tuple[str, str]]:
    """Return the items of a group. Raises ValueError if the group has no end or an item has no kind."""
    end = data.index(b"\0\0", start)
    return [_split(item) for item in data[start:end].decode().split("\0")]


def _split(item: str) -> tuple[str, str]:
    name, mark, value = item.partition("=")
    if not mark:
        raise ValueError("an item without a kind: " + item)
    return name, value
