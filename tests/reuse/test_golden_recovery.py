"""Compare how the existing recovery tool judges a changelog with how validation judges the same bytes.

The tool refuses a changelog that was put together again wrongly, and it audits the changelog of the base branch.
"""

from __future__ import annotations

from typing import Any

import pytest

from infx.changelog.links import PullLinks
from infx.changelog.subject import Context
from infx.changelog.validate import ChangelogVerdict, validate
from infx.errors import Level
from infx.policy.stage import Stage
from tests.golden import read_cases, require_data

pytestmark = pytest.mark.golden

CASES = [*read_cases("reuse", "y*.json"), *read_cases("reuse", "x*.json")]
REBUILT = "recover_failed_ingest reconstruction check"
AUDIT = "recover_failed_ingest audit-changelog"
NOT_COMPARED = {
    "recover_failed_ingest inspect-target": "decided by the recovery of a merge's delivery, which does not exist yet",
    "recover_failed_ingest validate-workflow": "checks a recovery workflow written by hand; there is no such workflow",
}
# The rules that refuse what the tool refuses.
RULES = {
    "separator": {"blank-lines"},
    "wrong_link": {"pr-link-foreign", "pr-link-canonical"},  # another number, a placeholder
}
# The rules for the audit's warnings. Validation judges all entries as new ones, so that each is an error.
WARNINGS = {"placeholder": "pr-link-canonical", "odd_link": "pr-link-foreign"}
# The audit's warnings that validation does not give.
NOT_FOUND = {"duplicate": "validation judges each entry by itself and does not look for two equal entries"}
DIFFERENCES = {
    "a non-empty error list should give a non-zero exit": "validation refuses every changelog that has an error"
}
# The last line is also the link's line, and a link needs a whole line.
NO_NEWLINE = {"final-newline", "pr-link-canonical"}

LINKS = PullLinks(server="https://github.com", repository="SemiAnalysisAI/InferenceX", placeholders=("XXX",))


def _of(tool: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case["tool"] == tool]


def _name(case: dict[str, Any]) -> str:
    return str(case["name"])


def judge(base: str, head: str, stage: Stage, number: int | None = None) -> ChangelogVerdict:
    context = Context(path="perf-changelog.yaml", links=LINKS, stage=stage, number=number)
    return validate(base.encode(), head.encode(), context)


def rules_of(verdict: ChangelogVerdict) -> set[str]:
    return {problem.rule for problem in verdict.problems if problem.level is Level.ERROR}


@pytest.mark.parametrize("tool", [REBUILT, AUDIT, *NOT_COMPARED])
def test_a_tool_has_cases(tool: str) -> None:
    require_data()
    assert _of(tool)


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_a_case_is_compared_or_listed(case: dict[str, Any]) -> None:
    assert case["tool"] in {REBUILT, AUDIT, *NOT_COMPARED}
    assert case["right_outcome"] in {"as upstream", *DIFFERENCES}


@pytest.mark.parametrize("stage", [Stage.MERGE, Stage.MAIN])
@pytest.mark.parametrize("case", _of(REBUILT), ids=_name)
def test_a_rebuilt_changelog(case: dict[str, Any], stage: Stage) -> None:
    verdict = judge(case["base"], case["repaired"], stage, case["pr_number"])
    assert ("accept" if verdict.ok else "refuse") == case["decision"]
    if verdict.ok:
        assert len(verdict.blocks) == case["added"]
    else:
        (rule,) = rules_of(verdict)
        assert rule in RULES[case["reason_class"]]


@pytest.mark.parametrize("case", _of(AUDIT), ids=_name)
def test_an_audited_changelog(case: dict[str, Any]) -> None:
    verdict = judge("", case["changelog"], Stage.MAIN)
    audit = case["audit"]
    warnings = [warning for warning in audit["warning_classes"] if warning not in NOT_FOUND]
    expected = {WARNINGS[warning] for warning in warnings} | (NO_NEWLINE if audit["errors"] else set())
    assert rules_of(verdict) == expected
    assert len(verdict.blocks) == audit["entries"]
    if not audit["errors"]:
        assert sum(problem.level is Level.ERROR for problem in verdict.problems) == len(warnings)


@pytest.mark.parametrize("words", DIFFERENCES)
def test_an_error_refuses_the_changelog(words: str) -> None:
    require_data()
    cases = [case for case in CASES if case["right_outcome"] == words]
    assert cases
    for case in cases:
        assert case["exit_code"] == 0
        assert not judge("", case["changelog"], Stage.MAIN).ok


@pytest.mark.parametrize("reason", RULES)
def test_a_refusal_has_a_case(reason: str) -> None:
    require_data()
    found = {case["reason_class"] for case in _of(REBUILT)}
    assert reason in found


@pytest.mark.parametrize("warning", [*WARNINGS, *NOT_FOUND])
def test_a_warning_has_a_case(warning: str) -> None:
    require_data()
    assert any(warning in case["audit"]["warning_classes"] for case in _of(AUDIT))
