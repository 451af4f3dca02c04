"""Take over why supervised processes failed, and how long they took, into the record of a row's job.

The benchmark writes the file, so it is untrusted: it only explains a failure that has happened with the same exit code.
"""

from __future__ import annotations

import json
import os
import re
import stat
from typing import Any

from .failure import BENCHMARK, CANCELLED, INFRASTRUCTURE
from .record import SUPERVISED, JobRecord, describe_error

MAX_BYTES = 200_000
MAX_NAMES = 20  # of stages and of processes
MAX_SECONDS = 1e7
_WORD = re.compile(r"[a-z][a-z0-9-]{0,40}\Z")


def take_over(record: JobRecord, folder: str, started_at: float, code: int) -> None:
    """Add what a benchmark's supervision has recorded, if it did so after a time in seconds since 1970."""
    values = _read(os.path.join(folder, SUPERVISED), started_at)
    if values.get("schema") != 1 or values.get("exit_code") != code:
        return
    error = _parse_error(values.get("error"), code)
    if code and error is not None:
        record.explain(error)
    record.add_supervised(_list_seconds(values.get("stages"), "stage", "seconds"))
    record.add_supervised(_list_seconds(values.get("processes"), "name", "ready_after"))


def _read(path: str, started_at: float) -> dict[str, Any]:
    """Return the file's values; nothing if it is missing, older, too large, not a regular file or not JSON."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return {}
    try:
        state = os.fstat(descriptor)
        # a second of grace, because clocks of file systems are coarse
        if not stat.S_ISREG(state.st_mode) or state.st_mtime < started_at - 1 or state.st_size > MAX_BYTES:
            return {}
        values = json.loads(os.read(descriptor, MAX_BYTES).decode())
    except (OSError, ValueError, RecursionError):
        return {}
    finally:
        os.close(descriptor)
    return values if isinstance(values, dict) else {}


def _parse_error(values: Any, code: int) -> dict[str, object] | None:
    """Return an error in the form of a record; None if it does not have that form."""
    if not isinstance(values, dict):
        return None
    stage, kind, cause, message = (values.get(name) for name in ("stage", "type", "cause", "message"))
    if not _is_word(stage) or not _is_word(kind) or cause not in (BENCHMARK, INFRASTRUCTURE, CANCELLED):
        return None
    if not isinstance(message, str) or not message:
        return None
    lines = values.get("evidence")
    evidence = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    return describe_error(
        stage,
        str(kind),
        message,
        code,
        retriable=cause == INFRASTRUCTURE,
        evidence=evidence,
        cause=str(cause),
    )


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(_WORD.match(value))


def _list_seconds(items: Any, name: str, number: str) -> list[tuple[str, float]]:
    """Return the names of some objects with a duration."""
    seconds_by_name: list[tuple[str, float]] = []
    for item in items[:MAX_NAMES] if isinstance(items, list) else []:
        word, seconds = (item.get(name), item.get(number)) if isinstance(item, dict) else (None, None)
        if _is_word(word) and isinstance(seconds, (int, float)) and 0 <= seconds < MAX_SECONDS:
            seconds_by_name.append((str(word), round(float(seconds), 3)))
    return seconds_by_name
