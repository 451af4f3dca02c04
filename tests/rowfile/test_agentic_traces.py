"""Expected output lengths, from the local copy of the traces."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from infx.rowfile.agentic_records import parse_replay
from infx.rowfile.agentic_traces import find_expected
from tests.rowfile.replays import record

NEWER = "datasets--semianalysisai--cc-traces-weka-062126"


def write_traces(cache: Path, text: str, *, name: str = NEWER, revision: str = "abc", age: int = 0) -> None:
    folder = cache / name / "snapshots" / revision
    folder.mkdir(parents=True)
    (folder / "traces.jsonl").write_text(text)
    os.utime(folder, (1_000_000 - age, 1_000_000 - age))


def trace(name: str, *requests: dict[str, Any]) -> str:
    return json.dumps({"id": name, "requests": list(requests)}) + "\n"


def expect(cache: Path, *records: dict[str, Any]) -> list[float]:
    return find_expected(str(cache), parse_replay([json.dumps(item) for item in records], "x").good)


def test_a_turn_is_the_place_among_requests_that_a_replay_sends(tmp_path: Path) -> None:
    requests: tuple[dict[str, Any], ...] = (
        {"type": "n", "out": 10},
        {"type": "x", "out": 1},
        {"type": "s", "output_length": 30},
    )
    write_traces(tmp_path, trace("a", *requests) + trace("b", {"type": "n", "out": 7}))
    asked = [record(conversation=name, turn=turn) for name, turn in (("a", 0), ("a", 1), ("b", 0))]
    assert expect(tmp_path, *asked) == [10, 30, 7]


def test_a_conversation_of_a_subagent_belongs_to_its_trace(tmp_path: Path) -> None:
    write_traces(tmp_path, trace("a", {"type": "n", "out": 10}))
    assert expect(tmp_path, record(conversation="a::sa:sub", turn=0)) == [10]


def test_a_request_that_no_trace_has_expects_nothing(tmp_path: Path) -> None:
    write_traces(tmp_path, trace("a", {"type": "n"}) + "{\n[]\n")
    asked = [record(conversation=name, turn=turn) for name, turn in (("a", 0), ("a", 1), ("z", 0))]
    assert expect(tmp_path, *asked) == []


def test_the_newest_snapshot_is_read(tmp_path: Path) -> None:
    write_traces(tmp_path, trace("a", {"type": "n", "out": 1}), revision="z", age=50)
    write_traces(tmp_path, trace("a", {"type": "n", "out": 2}), revision="m", age=5)
    older = "datasets--semianalysisai--cc-traces-weka-042026"
    write_traces(tmp_path, trace("a", {"type": "n", "out": 3}), name=older, age=10)
    write_traces(tmp_path, trace("a", {"type": "n", "out": 4}), name="datasets--acme--other")
    assert expect(tmp_path, record(conversation="a", turn=0)) == [2]


def test_without_a_cache_nothing_is_expected(tmp_path: Path) -> None:
    assert expect(tmp_path / "absent", record()) == []
    assert find_expected("", []) == []
