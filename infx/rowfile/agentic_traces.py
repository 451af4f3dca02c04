"""The output lengths that the replayed traces expect, from the local copy of the data set."""

from __future__ import annotations

import json
import os
from typing import Any

from .agentic_records import GoodRecord
from .agentic_statistics import read_count

DATA_SETS = "datasets--semianalysisai--cc-traces-weka"  # beginning of the folder's name in the cache
_ANSWERED = ("n", "s")  # types of requests in a trace that a replay sends


def find_expected(cache: str, records: list[GoodRecord]) -> list[float]:
    """Return the expected output length of each record whose request is in the traces.

    cache: folder of downloaded data sets; empty if there is none. A cache that cannot be read gives no length.
    """
    snapshot = _find_snapshot(cache) if cache else None
    if snapshot is None:
        return []
    wanted = {record.conversation for record in records}
    lengths = _read_lengths(snapshot, wanted)
    expected = []
    for record in records:
        outputs = lengths.get(record.conversation, [])
        if record.turn is not None and record.turn < len(outputs):
            length = outputs[record.turn]
            if length is not None:
                expected.append(float(length))
    return expected


def _find_snapshot(cache: str) -> str | None:
    """Return the newest snapshot of the traces; of equally old ones, the last by path."""
    snapshots = []
    for name in _list(cache):
        if name.startswith(DATA_SETS):
            folder = os.path.join(cache, name, "snapshots")
            snapshots += [os.path.join(folder, revision) for revision in _list(folder)]
    dated = [(os.stat(path).st_mtime_ns, path) for path in snapshots if os.path.isdir(path)]
    return max(dated)[1] if dated else None


def _list(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _read_lengths(snapshot: str, wanted: set[str]) -> dict[str, list[int | None]]:
    """Return conversation → the output length of each request that a replay sends, in order."""
    lengths: dict[str, list[int | None]] = {}
    for folder, folders, names in os.walk(snapshot):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".jsonl"):
                _read_file(os.path.join(folder, name), wanted, lengths)
    return lengths


def _read_file(path: str, wanted: set[str], lengths: dict[str, list[int | None]]) -> None:
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                trace = _parse(line)
                if trace.get("id") in wanted and isinstance(trace.get("requests"), list):
                    lengths[trace["id"]] = [
                        _read_length(request)
                        for request in trace["requests"]
                        if isinstance(request, dict) and request.get("type") in _ANSWERED
                    ]
    except OSError:
        pass  # the expectation is a note in the aggregate; nothing is judged by it


def _parse(line: str) -> dict[str, Any]:
    try:
        trace = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return trace if isinstance(trace, dict) and isinstance(trace.get("id"), str) else {}


def _read_length(request: dict[str, Any]) -> int | None:
    length = request.get("output_length")
    return read_count(request.get("out") if length is None else length)
