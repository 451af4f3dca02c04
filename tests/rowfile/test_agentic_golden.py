"""Every aggregate and every check of errors that the existing tools made, against ours for the same files.

Keys of the aggregate for which no rule is known are left out: the list of a server's sources, and the use of its CPU memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.agentic_errors import check_replay, parse_limit
from infx.rowfile.agentic_process import process_agentic
from infx.rowfile.errors import RowError
from tests.golden import read_cases, require_data

pytestmark = pytest.mark.golden

CASES = read_cases("agentic")
ERROR_CASES = read_cases("agentic_errors")
WITHOUT_RULE = {
    ("server_metrics", "sources"),
    *(("server_metrics", "kv_cache", f"cpu_{name}") for name in ("usage_pct", "used_tokens", "total_tokens")),
}
# What a refusal says for each class of errors.
WORDS = {
    "backend_given_but_offloading_none": "although KV_OFFLOADING is none",
    "backend_missing": "must name a backend",
    "unknown_server_metrics": "no known server has the metric",
    "above_limit": "requests failed, at most",
    "request_count_missing": "has no request_count",
    "file_missing": "left no profile_export_aiperf.json",
    "bad_limit": "must be a number from 0 to 1",
}


@dataclass(frozen=True)
class Difference:
    """A deliberate difference from the existing tool.

    Attributes:
        reason: why ours is right.
        applies: whether a case is of this kind, by what is in it, never by its name.
        exit_code: ours.
    """

    reason: str
    applies: Callable[[dict[str, Any]], bool]
    exit_code: int


DIFFERENCES = [
    Difference(
        "A replay without a good record has failed; its aggregate is written all the same.",
        lambda case: case["agg"] is not None and not case["agg"]["num_requests_successful"],
        1,
    ),
]


def test_there_are_cases() -> None:
    require_data()
    assert len(CASES) >= 10
    assert len(ERROR_CASES) >= 5


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_the_aggregate_is_the_same(case: dict[str, Any], tmp_path: Path) -> None:
    rules = [rule for rule in DIFFERENCES if rule.applies(case)]
    assert bool(rules) == (case["right_outcome"] != "as upstream"), case["right_outcome"]
    code, message = play(case, tmp_path)
    assert code == (rules[0].exit_code if rules else case["exit_code"]), message
    if case["agg"] is None:
        assert WORDS.get(case["error_class"], "") in message
        assert not (tmp_path / "out").exists()
        return
    [path] = (tmp_path / case["env_paths"]["AGENTIC_OUTPUT_DIR"]).iterdir()
    assert path.name == case["env"]["RESULT_FILENAME"] + ".json"
    assert list(find_differences(case["agg"], json.loads(path.read_text()))) == []


@pytest.mark.parametrize("rule", DIFFERENCES, ids=lambda rule: rule.reason[:40])
def test_every_rule_still_has_a_case(rule: Difference) -> None:
    require_data()
    assert any(rule.applies(case) for case in CASES)


@pytest.mark.parametrize("case", ERROR_CASES, ids=lambda case: str(case["name"]))
def test_the_check_of_errors_is_the_same(case: dict[str, Any], tmp_path: Path) -> None:
    assert case["right_outcome"] == "as upstream"
    if case["aggregate"] is not None:
        path = tmp_path / "aiperf_artifacts" / case["file"]
        path.parent.mkdir()
        content = case["aggregate"]
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    code, message = 0, ""
    try:
        check_replay(str(tmp_path), parse_limit(str(case["limit"])), "")
    except RowError as error:
        code, message = error.code, error.message
    assert code == case["exit_code"], message
    assert WORDS.get(case["reason_class"] or "", "") in message


def play(case: dict[str, Any], folder: Path) -> tuple[int, str]:
    """Write the files of a case and process them. Return the exit code and the message of a refusal."""
    for name, text in case["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    places = {name: str(folder / value) for name, value in case["env_paths"].items()}
    try:
        process_agentic({**case["env"], **places})
    except RowError as error:
        return error.code, error.message
    return 0, ""


def find_differences(
    expected: Any, actual: Any, place: tuple[str, ...] = ()
) -> Iterator[tuple[str, object, object]]:
    """Yield each key that differs, with both values. Keys that only ours has are not compared."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            if (*place, name) not in WITHOUT_RULE:
                yield from find_differences(value, actual.get(name, "absent"), (*place, name))
    elif type(expected) is not type(actual) or not is_equal(expected, actual):
        yield "/".join(place), expected, actual


def is_equal(expected: Any, actual: Any) -> bool:
    if isinstance(expected, float):
        return math.isclose(expected, actual, rel_tol=1e-9)
    return bool(expected == actual)
