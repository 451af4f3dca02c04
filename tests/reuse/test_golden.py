"""Every decision that the existing gate made, against ours for the same facts.

The facts state that the run's rows are those of the merge's plan, which the existing gate did not look at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from infx.gate.event import Event, EventAction, EventName
from infx.model import PullRequest
from infx.policy.load import default_policy
from infx.reuse.decide import decide_reuse
from infx.reuse.decision import ReuseDecision, ReuseReason, ReuseVerdict
from infx.reuse.facts import AskedPull, ReuseFacts, SourceArtifact, SourceRun
from tests.builders import comment, person, pull, run
from tests.golden import read_cases, require_data
from tests.reuse.facts import PLAN, sweep

pytestmark = pytest.mark.golden

POLICY = default_policy()
CASES = read_cases("reuse", "r*.json")
VERDICTS = {
    "reuse": ReuseVerdict.REUSE,
    "skip_sweep": ReuseVerdict.REUSE,
    "error": ReuseVerdict.REFUSED,
    "disabled": ReuseVerdict.NOTHING,
}
CLASSES = {
    "latest": ReuseReason.NEWEST,
    "pinned": ReuseReason.PINNED,
    "not_authorised": ReuseReason.NOT_AUTHORIZED,
    "no_pr": ReuseReason.NO_PULL,
    "several_prs": ReuseReason.SEVERAL_PULLS,
    "not_merged": ReuseReason.NOT_MERGED,
    "label_excludes_reuse": ReuseReason.EXCLUDING_LABEL,
    "not_push_to_main": ReuseReason.OTHER_EVENT,
    "other_pr_action": ReuseReason.OTHER_ACTION,
    "run_not_found": ReuseReason.RUN_NOT_FOUND,
    "no_acceptable_run": ReuseReason.NO_SUITABLE_RUN,
    "source_conclusion": ReuseReason.CONCLUSION,
    "source_not_completed": ReuseReason.NOT_COMPLETED,
    "source_other_workflow": ReuseReason.OTHER_WORKFLOW,
    "source_no_head": ReuseReason.NO_HEAD,
    "source_no_result_artifact": ReuseReason.NO_RESULTS,
}


@dataclass(frozen=True)
class Difference:
    """A deliberate difference from the existing gate.

    Attributes:
        reason: why ours is right.
        applies: whether a case is of this kind, by what is in it, never by its name.
        expected: what we decide instead.
    """

    reason: str
    applies: Callable[[dict[str, Any]], bool]
    expected: tuple[ReuseVerdict, ReuseReason, set[str | None]]


def _runs(case: dict[str, Any], field: str) -> set[object]:
    return {run[field] for run in case["github"]["runs"]}


def _labels(case: dict[str, Any]) -> set[str]:
    return {label["name"] for pull in case["github"]["prs"].values() for label in pull["labels"]}


def _bodies(case: dict[str, Any]) -> list[str]:
    return [comment["body"] for comments in case["github"]["comments"].values() for comment in comments]


DIFFERENCES = [
    Difference(
        "A run without a path is not known to be a run of the sweep workflow.",
        lambda case: _runs(case, "path") == {""},
        (ReuseVerdict.REFUSED, ReuseReason.OTHER_WORKFLOW, {None}),
    ),
    Difference(
        "What a run swept is seen from its rows, so that no label has to be there at the merge.",
        lambda case: (
            case["reason_class"] == "full_sweep_label_missing" and _labels(case) == {"sweep-enabled"}
        ),
        (ReuseVerdict.REUSE, ReuseReason.NEWEST, {"100"}),
    ),
    Difference(
        "A push to the pull request checks the source too, and names it.",
        lambda case: case["decision"] == "skip_sweep",
        (ReuseVerdict.REUSE, ReuseReason.NEWEST, {"100"}),
    ),
    Difference(
        "A command and its number are on one line; the number of the next line is text.",
        lambda case: any("/reuse-sweep-run\n1" in body for body in _bodies(case)),
        (ReuseVerdict.REUSE, ReuseReason.NEWEST, {"100", "101"}),
    ),
]


def test_there_are_cases() -> None:
    require_data()
    assert len(CASES) >= 30
    assert {case["right_outcome"] for case in CASES} > {"as upstream"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_the_decision_is_the_same_or_differs_by_a_rule(case: dict[str, Any]) -> None:
    decision = decide_reuse(make_facts(case), POLICY)
    source = str(decision.source.id) if decision.source else None
    rules = [rule for rule in DIFFERENCES if rule.applies(case)]
    assert len(rules) <= 1
    # where the words say what is right instead, a rule must say the same
    assert bool(rules) == (case["right_outcome"] != "as upstream"), case["right_outcome"]
    if rules:
        verdict, reason, sources = rules[0].expected
    else:
        verdict, reason = VERDICTS[case["decision"]], CLASSES[case["reason_class"]]
        sources = {case["source_run"]}
    assert (decision.verdict, decision.reason) == (verdict, reason), decision.sentence
    assert source in sources
    if decision.verdict is ReuseVerdict.REUSE and case["outputs"]:
        _check_outputs(decision, case["outputs"])


def _check_outputs(decision: ReuseDecision, outputs: dict[str, str]) -> None:
    """Compare what the existing gate hands on of its source, where it names one."""
    assert decision.source is not None
    if outputs["reuse-source-run-id"] == str(decision.source.id):
        assert outputs["reuse-source-run-attempt"] == str(decision.source.attempt)
        assert outputs["reuse-source-run-url"] == decision.source.url
        assert outputs["reuse-source-head-sha"] == decision.source.commit
        assert outputs["reuse-source-pr-number"] == str(decision.pull)


@pytest.mark.parametrize("rule", DIFFERENCES, ids=lambda rule: rule.reason[:40])
def test_every_rule_still_has_a_case(rule: Difference) -> None:
    require_data()
    assert any(rule.applies(case) for case in CASES)


def make_facts(case: dict[str, Any]) -> ReuseFacts:
    github = case["github"]
    number = case["event"]["pr"]
    numbers = [number] if number else [pull["number"] for pull in github["pulls_of_commit"]]
    pulls = tuple(make_asked(asked, github["comments"].get(str(asked), [])) for asked in numbers)
    runs = [make_source(item, github["artifacts"]) for item in github["runs"]]
    return ReuseFacts(
        event=make_event(case["event"]),
        pulls=pulls,
        people=(person("noor"),),
        pull=make_pull(github["prs"][str(numbers[0])]) if len(numbers) == 1 else None,
        commits=tuple(github["pr_commits"].get(str(numbers[0]), [])) if numbers else (),
        runs=tuple(runs),
        plan=PLAN,
    )


def make_event(event: dict[str, Any]) -> Event:
    actions = {action.value: action for action in EventAction}
    return Event(
        name=EventName(event["event"]),
        action=actions.get(event["action"], EventAction.OTHER),
        ref=event["ref"],
        pull=event["pr"],
    )


def make_asked(number: int, comments: list[dict[str, Any]]) -> AskedPull:
    made = [
        comment(
            item["body"],
            "noor",
            id=place,
            association=item["author_association"],
            created_at=datetime.fromisoformat(item["created_at"]),
            pull_number=number,
        )
        for place, item in enumerate(comments)
    ]
    return AskedPull(number=number, comments=tuple(made))


def make_pull(data: dict[str, Any]) -> PullRequest:
    return pull(
        number=data["number"],
        labels=tuple(label["name"] for label in data["labels"]),
        is_merged=data["merged_at"] is not None,
        is_open=data["merged_at"] is None,
        head_ref=data["head"].get("ref") or "",
    )


def make_source(item: dict[str, Any], artifacts: dict[str, list[dict[str, Any]]]) -> SourceRun:
    fields = ("id", "event", "status", "path", "head_sha", "head_branch")
    made = run(
        item["conclusion"],
        attempt=item["run_attempt"],
        url=item["html_url"],
        **{name: item[name] for name in fields},
    )
    left = [SourceArtifact(**artifact) for artifact in artifacts.get(str(item["id"]), [])]
    return SourceRun(run=made, artifacts=tuple(left), sweep=sweep())
