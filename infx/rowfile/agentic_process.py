"""Process an AgentX replay: read what the client left, write the aggregate, and check the replay."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

from .agentic import ReplayFiles, make_aggregate, mark_outcome
from .agentic_errors import LIMIT, parse_limit
from .errors import RowError


def process_agentic(environment: Mapping[str, str]) -> str:
    """Write the aggregate of a replay, and return its path.

    Raises RowError if there is no aggregate. One without a good record is written, because it says why, and is refused
    all the same.
    """
    results, path = find_places(environment)
    limit = parse_limit(environment.get("AIPERF_FAILED_REQUEST_THRESHOLD") or LIMIT)
    files = ReplayFiles(results)
    aggregate = make_aggregate(environment, files, results)
    has_result = mark_outcome(aggregate, files.replay, limit)
    _write(path, aggregate)
    if not has_result:
        raise RowError(
            path
            + " has no figures: none of "
            + str(files.replay.total)
            + " requests was measured and answered."
        )
    return path


def find_places(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the folder of results, and the path of the aggregate. Raises RowError if a variable is missing or unusable."""
    names = ("RESULT_DIR", "AGENTIC_OUTPUT_DIR", "RESULT_FILENAME")
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise RowError("Set " + " and ".join(missing) + ": without, there is no place for the aggregate.")
    name = environment["RESULT_FILENAME"]
    if os.path.basename(name) != name:
        raise RowError("RESULT_FILENAME is " + name + ". It must be a file's name without a folder.")
    return environment["RESULT_DIR"], os.path.join(environment["AGENTIC_OUTPUT_DIR"], name + ".json")


def _write(path: str, aggregate: dict[str, Any]) -> None:
    text = json.dumps(aggregate, indent=2, allow_nan=False) + "\n"
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise RowError(path + " cannot be written: " + str(error.strerror) + ".") from None
