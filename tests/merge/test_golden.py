"""Compare the outcomes of the existing merge helper with the next step that infx decides.

The helper watches every check; infx asks for the checks that the branch's rules require, so that the cases' checks are taken as
required. infx does not use the caller's working tree, posts no comment, makes no empty commit, and uses no administrator's bypass.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infx.merge.decide import decide_step
from infx.merge.facts import MergeFacts
from infx.merge.steps import Done, MergePull, Refuse
from infx.model import BranchRules, RequiredCheck
from infx.policy.load import default_policy
from tests.golden import read_cases, require_data
from tests.merge.facts import CHANGELOG, check, facts, reason

pytestmark = pytest.mark.golden

POLICY = default_policy()
CASES = read_cases("reuse", "m*.json")
RULES = BranchRules(checks=(RequiredCheck(context="check-changelog"),))
GREEN, BAD = (check("check-changelog", conclusion) for conclusion in ("success", "failure"))

# The helper's outcome → the reason of infx's refusal.
REFUSALS = {
    "sweep_label_count": "labels",
    "label_excludes_reuse": "excluding-label",
    "other_conflict": "conflict",
    "other_checks_failed": "checks",
    "head_moved": "head-moved",
}
NOT_COMPARED = {
    "usage": "the command line is checked by its own tests",
    "tree_not_clean": "infx does not touch the working tree",
    "no_acceptable_run": "a decision about reuse, which tests/reuse/test_golden_merge.py compares",
    "not_a_fork": "infx merges forks whose branch needs no commit",
}
# The words of a case that say what is right instead → the right outcome.
DIFFERENCES = {
    "newest rule: no label needed": "merged",
    "exact name, as the gate has it": "no_acceptable_run",
}


def find_outcome(case: dict[str, Any]) -> str:
    """Return the right outcome; a case that a test of the helper stopped had passed until then."""
    if outcome := DIFFERENCES.get(case["right_outcome"]):
        return outcome
    outcome = str(case["reason_class"] or case["decision"])
    return "merged" if outcome == "stopped_by_test" else outcome


def make_facts(case: dict[str, Any]) -> MergeFacts:
    data, outcome = case["github"]["pr"], str(case["reason_class"])
    conflicts = (CHANGELOG, "benchmarks/run.sh") if case["other_file_conflicts"] else ()
    made = facts(
        pull={
            "labels": tuple(label["name"] for label in data["labels"]),
            "is_open": data["state"] == "OPEN",
            "is_merged": data["state"] == "MERGED",
        },
        state={"conflicts": conflicts},
        rules=RULES,
        checks=(BAD if outcome == "other_checks_failed" else GREEN,),
    )
    return replace(made, has_same_changes=outcome != "head_moved")


def test_there_are_cases() -> None:
    require_data()
    assert len(CASES) >= 10
    for outcome in (*REFUSALS, "merged", "not_open"):
        assert any(find_outcome(case) == outcome for case in CASES), outcome


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_outcome(case: dict[str, Any]) -> None:
    outcome = find_outcome(case)
    if outcome in NOT_COMPARED:
        return
    step = decide_step(make_facts(case), POLICY)
    match outcome:
        case "merged":
            assert isinstance(step, MergePull)
        case "not_open":  # a merged pull request is done, which is no reason to fail
            assert isinstance(step, Done) or reason(step) == "closed"
        case _:
            assert isinstance(step, Refuse)
            assert reason(step) == REFUSALS[outcome]
