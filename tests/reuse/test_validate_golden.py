"""The verdicts of the existing artifact check, case by case, and ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infx.artifacts import read_folder
from infx.policy.load import default_policy
from infx.results.eval_row import EvalRow, EvalScoreValue, render_eval
from infx.results.lenient import SIZES, ResultKind
from infx.results.normalize import normalize
from infx.reuse.validate import validate_source
from infx.reuse.verdict import Validation
from tests.golden import read_cases, require_data

CASES = read_cases("reuse", "v*.json")
Fault = tuple[str, str]

pytestmark = pytest.mark.golden

# Words in the existing tool's faults, and in ours, that mean the same.
_KINDS = (("fixed", "fixed"), ("agentic", "agentic"), ("eval", "accuracy"), ("accuracy", "accuracy"))
_FAULTS = (
    (r"^duplicate|-duplicate$|-ambiguous$", "repeated"),
    (r"^missing_rows|-not-collected$", "not collected"),
    (r"^unexpected_rows|-without-raw$", "no raw result"),
    (r"aggregate_(missing|empty)|-aggregate-missing$", "no aggregate"),
    (r"^raw_agentic_missing$|^agentic-raw-missing$", "no raw data"),
    (r"^raw_agentic_unexpected$|^agentic-raw-unexpected$", "raw data alone"),
    (r"^raw_eval|^accuracy-(batch|metadata)$", "bad metadata"),
    (r"^no_rows$|^no-results$", "nothing"),
    (r"stat", "no statistics"),
)


def classify(fault: str) -> Fault:
    """Return what a fault is about and what it says."""
    kind = next((ours for word, ours in _KINDS if word in fault), "")
    meanings = [words for pattern, words in _FAULTS if re.search(pattern, fault)]
    assert len(meanings) == 1, fault
    return kind, meanings[0]


def write(files: dict[str, Any], folder: Path) -> Path:
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


def judge(files: dict[str, Any], folder: Path) -> Validation:
    return validate_source(read_folder(write(files, folder)), None, default_policy().results)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A rule by which the right outcome is another one than the existing tool's."""

    reason: str
    applies: Callable[[dict[str, Any]], bool]  # to a case
    holds: Callable[[Validation], bool]


def rules_of(validation: Validation) -> set[str]:
    return {problem.rule for problem in validation.problems}


def says(*words: str) -> Callable[[dict[str, Any]], bool]:
    return lambda case: all(word in case["right_outcome"] for word in words)


DIFFERENCES = (
    Difference(
        reason="the identity has the recipe's fingerprint and, for AgentX, speculative decoding",
        applies=says("two recipes are two rows"),
        holds=lambda validation: validation.is_valid and sum(validation.counts.values()) == 2,
    ),
    Difference(
        reason="one accuracy run has a row for each of its tasks",
        applies=says("task belongs to the identity"),
        holds=lambda validation: validation.is_valid and len(validation.evals) == 2,
    ),
    Difference(
        reason="a file that is not JSON is a problem at that file, not a crash",
        applies=says("a clear fault naming the file"),
        holds=lambda validation: any(
            problem.rule == "source-unreadable" and (problem.path or "").endswith(".json")
            for problem in validation.problems
        ),
    ),
    Difference(
        reason="the existing collector drops pipeline sizes, so a row without them takes those of its only raw result",
        applies=says("carries pp/dcp/pcp and matches"),
        holds=lambda validation: validation.is_valid and ("pp", 2) in validation.evals[0].identity.fields,
    ),
    Difference(
        reason="metadata that does not exist is a problem at its artifact, not a crash",
        applies=lambda case: case["right_outcome"] == "as upstream" and case["crash"] == "FileNotFoundError",
        holds=lambda validation: rules_of(validation) == {"accuracy-metadata"},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_case_of_the_existing_check(case: dict[str, Any], tmp_path: Path) -> None:
    validation = judge(case["files"], tmp_path)
    if differences := [difference for difference in DIFFERENCES if difference.applies(case)]:
        assert [difference.reason for difference in differences if not difference.holds(validation)] == []
        return
    assert case["right_outcome"] == "as upstream"
    assert ("accept" if validation.is_valid else "refuse") == case["decision"]
    assert set(map(classify, rules_of(validation))) == set(map(classify, case["faults"]))
    if case["counts"] is not None:
        ours = {
            "eval" if kind is ResultKind.ACCURACY else kind.value: n for kind, n in validation.counts.items()
        }
        assert ours == case["counts"]
    assert bool(validation.superseded) is case["collapsed"]
    assert {name.partition("/")[0] for name in case["files_removed"]} == {
        run.artifact for run in validation.superseded
    }
    for rows in (case["eval_aggregate_after"] or {}).values():
        assert [row.values for row in validation.evals] == rows


def test_every_difference_has_a_case() -> None:
    """A rule that no case needs any more is deleted."""
    require_data()
    unused = [difference.reason for difference in DIFFERENCES if not any(map(difference.applies, CASES))]
    assert len(CASES) >= 20
    assert unused == []


SINGLE = [
    case
    for case in CASES
    if {name.partition("/")[0] for name in case["files"]} == {"eval_a", "eval_results_all"}
    and "eval_concs" not in case["files"]["eval_a/meta_env.json"]
]


@pytest.mark.parametrize("case", SINGLE, ids=lambda case: case["name"])
def test_our_own_aggregate_of_an_accuracy_run_matches_it(case: dict[str, Any], tmp_path: Path) -> None:
    """Our aggregate keeps every size that the metadata has, so that nothing must be guessed."""
    meta = case["files"]["eval_a/meta_env.json"]
    kept = {key: value for key, value in meta.items() if key not in {"task", "conc"}}
    score = EvalScoreValue(value=0.9)
    row = render_eval(
        EvalRow(
            task="gsm8k", conc=meta["conc"], samples=1319, strict=score, meta=kept, layout=normalize(meta)
        )
    )
    files = {"eval_a/meta_env.json": meta, "eval_results_all/agg_eval_all.json": [row]}
    assert judge(files, tmp_path).is_valid
    assert {name: row[name] for name in SIZES} == {name: meta[name] for name in SIZES}
