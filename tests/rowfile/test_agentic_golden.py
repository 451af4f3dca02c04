"""Every aggregate and every check of errors that the existing tools made, against ours for the same files.

Keys of the aggregate for which no rule is known are left out: the list of a server's sources, the use of its CPU memory,
and numbers whose metric has an unknown name.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.process import ProcessOptions, ProcessReport, process
from tests.calling import call
from tests.golden import read_cases, require_data
from tests.rowfile.closeness import find_differences

pytestmark = pytest.mark.golden

CASES = read_cases("agentic")
ERROR_CASES = read_cases("agentic_errors")
SERVER = "server_metrics"
WITHOUT_RULE = {
    (SERVER, "sources"),
    *((SERVER, "kv_cache", f"cpu_{name}") for name in ("usage_pct", "used_tokens", "total_tokens")),
    (SERVER, "cache", "router_kv_hit_rate"),
}
# Rates of SGLang have rules; the counters next to them are named for vLLM's metrics.
WITHOUT_RULE_FOR_SGLANG = {
    *(
        (SERVER, "cache", f"{start}prefix_cache_{name}")
        for start in ("", "external_")
        for name in ("hits", "queries")
    ),
    (SERVER, "cache", "cached_tokens_by_source"),
    (SERVER, "tokens", "prompt_by_source"),
}
# Our rule for each class of refusals, where the class says what is wrong.
RULES = {
    "backend_given_but_offloading_none": "offload-backend-unexpected",
    "backend_missing": "offload-backend-missing",
    "unknown_server_metrics": "server-metrics-unknown",
}
# What our check says for each class of refusals.
WORDS = {
    "above_limit": "requests failed, at most",
    "request_count_missing": "has no request_count",
    "file_missing": "left no profile_export_aiperf.json",
    "bad_limit": "--limit",
}


@dataclass(frozen=True)
class Difference:
    """A deliberate difference from the existing tool.

    Attributes:
        reason: why ours is right.
        applies: whether a case is of this kind, by what is in it, never by its name.
        rules: of our faults.
    """

    reason: str
    applies: Callable[[dict[str, Any]], bool]
    rules: set[str]


DIFFERENCES = [
    Difference(
        "A replay without a good record has failed; its aggregate is written all the same.",
        lambda case: case["agg"] is not None and not case["agg"]["num_requests_successful"],
        {"no-good-record"},
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
    report = play(case, tmp_path)
    expected = rules[0].rules if rules else set()
    found = {fault.rule for fault in report.faults}
    if case["agg"] is None:
        assert case["exit_code"] == 1
        assert found
        if rule := RULES.get(case["error_class"]):
            assert found == {rule}
        assert report.written == []
        return
    assert case["exit_code"] == 0
    assert found == expected
    place = tmp_path / case["env_paths"]["AGENTIC_OUTPUT_DIR"]
    path = place / (case["env"]["RESULT_FILENAME"] + ".json")
    assert report.written == [str(path)]
    is_sglang = case["agg"][SERVER]["adapter"] == "sglang"
    left_out = WITHOUT_RULE | (WITHOUT_RULE_FOR_SGLANG if is_sglang else set())
    ours, theirs = cut(json.loads(path.read_text()), case["agg"], left_out)
    assert list(find_differences(ours, theirs)) == []


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
    done = call("results", "check-replay", "--result", str(tmp_path), "--limit", str(case["limit"]))
    assert done.code == case["exit_code"], done.err
    assert WORDS.get(case["reason_class"] or "", "") in done.err


def play(case: dict[str, Any], folder: Path) -> ProcessReport:
    """Write the files of a case and process them."""
    for name, text in case["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    places = {name: str(folder / value) for name, value in case["env_paths"].items()}
    return process(ProcessOptions(), {**case["env"], **places})


def cut(
    ours: dict[str, Any], theirs: dict[str, Any], left_out: set[tuple[str, ...]], place: tuple[str, ...] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two objects without some keys, and without those that only ours has, such as power."""
    cut_ours, cut_theirs = {}, {}
    for name, value in theirs.items():
        path = (*place, name)
        if path in left_out:
            continue
        cut_theirs[name] = value
        if name in ours:
            cut_ours[name] = ours[name]
            if isinstance(value, dict) and isinstance(ours[name], dict):
                cut_ours[name], cut_theirs[name] = cut(ours[name], value, left_out, path)
    return cut_ours, cut_theirs
