"""Compare the outcomes of the existing merge helper with ours, as far as reuse and the changelog decide them.

The helper checks the run, asks for its reuse in a comment, prepares the branch, and merges. A comment that was posted
therefore means that the run passed. The facts state that its rows are those of the merge's plan, which the helper did
not look at.
"""

from __future__ import annotations

from typing import Any

import pytest

from infx.changelog.canonicalize import canonicalize
from infx.changelog.links import PullLinks
from infx.changelog.merge import resolve
from infx.changelog.subject import Context
from infx.gate.event import Event, EventName
from infx.policy.load import default_policy
from infx.reuse.decide import decide_reuse
from infx.reuse.decision import ReuseReason, ReuseVerdict
from infx.reuse.facts import AskedPull, ReuseFacts, SourceArtifact, SourceRun
from tests.builders import pull, run
from tests.golden import read_cases, require_data
from tests.reuse.facts import command, facts, source

pytestmark = pytest.mark.golden

Answer = tuple[ReuseVerdict, ReuseReason]

CASES = read_cases("reuse", "m*.json")
PULL = 9  # the pull request of every case
RUN = 5  # its only run
ACCEPTED: Answer = (ReuseVerdict.REUSE, ReuseReason.NEWEST)
REFUSALS: dict[str, Answer] = {
    "label_excludes_reuse": (ReuseVerdict.REFUSED, ReuseReason.EXCLUDING_LABEL),
    "no_acceptable_run": (ReuseVerdict.REFUSED, ReuseReason.NO_SUITABLE_RUN),
}
# The words of a case that say what is right instead, with the answer.
DIFFERENCES: dict[str, Answer] = {
    "newest rule: no label needed": ACCEPTED,
    "exact name, as the gate has it": REFUSALS["no_acceptable_run"],
}
AS_BEFORE = (
    "as upstream",
    "decision and changelog as upstream; ",
)  # beginnings of the words for no difference
# Outcomes that are not compared, by the reason.
NOT_COMPARED = {
    "decided by the merge path: tests/merge/test_golden.py": (
        "usage",
        "tree_not_clean",
        "not_open",
        "sweep_label_count",
        "other_conflict",  # the branch keeps its changelog, because nothing is committed
        "other_checks_failed",
        "head_moved",
        "merged",
    ),
}
LISTED = [outcome for outcomes in NOT_COMPARED.values() for outcome in outcomes]

BASE = (
    b'- config-keys:\n    - gptoss-fp4-b200-vllm\n  description:\n    - "old"\n'
    b"  pr-link: https://github.com/SemiAnalysisAI/InferenceX/pull/1\n"
)
LINKS = PullLinks(server="https://github.com", repository="SemiAnalysisAI/InferenceX", placeholders=("XXX",))
CONTEXT = Context(path="perf-changelog.yaml", links=LINKS, number=PULL)
CHANGELOGS = [
    case for case in CASES if case["branch_changelog_after"] is not None and not case["other_file_conflicts"]
]
APPENDS = [case for case in CHANGELOGS if case["main_changelog_append"] is None]
CONFLICTS = [case for case in CHANGELOGS if case["main_changelog_append"] is not None]


def _name(case: dict[str, Any]) -> str:
    return str(case["name"])


def find_outcome(case: dict[str, Any]) -> str:
    return str(case["reason_class"] or case["decision"])


def find_answer(case: dict[str, Any]) -> Answer | None:
    """Return the right decision about reuse; None if the helper decided before it looked at the run."""
    if answer := DIFFERENCES.get(case["right_outcome"]):
        return answer
    return ACCEPTED if case["comment_posted"] else REFUSALS.get(case["reason_class"])


ANSWERS = [(case, answer) for case in CASES if (answer := find_answer(case))]


def test_there_are_cases() -> None:
    require_data()
    assert len(CASES) >= 10
    assert APPENDS
    assert CONFLICTS


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_a_case_is_compared_or_listed(case: dict[str, Any]) -> None:
    assert case["right_outcome"] in DIFFERENCES or case["right_outcome"].startswith(AS_BEFORE)
    assert find_answer(case) or find_outcome(case) in LISTED
    # a comment alone tells how the helper judged the run, and not how it ended
    assert find_outcome(case) in {"stopped_by_test", *REFUSALS, *LISTED}


@pytest.mark.parametrize("outcome", [*REFUSALS, *LISTED])
def test_an_outcome_has_a_case(outcome: str) -> None:
    require_data()
    assert any(find_outcome(case) == outcome for case in CASES if case["right_outcome"] not in DIFFERENCES)


@pytest.mark.parametrize("words", DIFFERENCES)
def test_a_difference_has_a_case(words: str) -> None:
    require_data()
    assert any(case["right_outcome"] == words for case in CASES)


@pytest.mark.parametrize(("case", "answer"), ANSWERS, ids=[_name(case) for case, _ in ANSWERS])
def test_the_decision_about_reuse(case: dict[str, Any], answer: Answer) -> None:
    decision = decide_reuse(make_facts(case["github"]), default_policy())
    assert (decision.verdict, decision.reason) == answer, decision.sentence
    assert (decision.source.id if decision.source else None) == (RUN if answer == ACCEPTED else None)


def make_facts(github: dict[str, Any]) -> ReuseFacts:
    """Return the facts for a pull request whose reuse is asked for without a run's number."""
    data = github["pr"]
    asked = AskedPull(number=PULL, comments=(command(pull_number=PULL),))
    return facts(
        event=Event(name=EventName.ASKED, pull=PULL),
        pulls=(asked,),
        pull=pull(
            number=PULL,
            labels=tuple(label["name"] for label in data["labels"]),
            is_open=data["state"] == "OPEN",
            is_merged=data["state"] == "MERGED",
            head_ref=data["headRefName"],
        ),
        commits=tuple(github["commits"]),
        runs=tuple(make_source(item, github) for item in github["runs"]),
    )


def make_source(item: dict[str, Any], github: dict[str, Any]) -> SourceRun:
    made = run(
        item["conclusion"],
        id=item["id"],
        head_sha=item["head_sha"],
        head_branch=github["pr"]["headRefName"],
    )
    left = tuple(SourceArtifact(**artifact) for artifact in github["artifacts"].get(str(item["id"]), []))
    return source(made, artifacts=left)


@pytest.mark.parametrize("case", APPENDS, ids=_name)
def test_the_changelog_if_only_the_branch_appended(case: dict[str, Any]) -> None:
    branch = BASE + case["pr_changelog_append"].encode()
    assert canonicalize(BASE, branch, CONTEXT).head == case["branch_changelog_after"].encode()


@pytest.mark.parametrize("is_rebase", [False, True], ids=["merge", "rebase"])
@pytest.mark.parametrize("number", [None, PULL], ids=["links afterwards", "links in the merge"])
@pytest.mark.parametrize("case", CONFLICTS, ids=_name)
def test_the_changelog_if_both_sides_appended(
    case: dict[str, Any], number: int | None, is_rebase: bool
) -> None:
    branch, main = (BASE + case[f"{side}_changelog_append"].encode() for side in ("pr", "main"))
    one, other = (main, branch) if is_rebase else (branch, main)
    merged = resolve(BASE, one, other, [main], LINKS, number=number).data
    assert canonicalize(main, merged, CONTEXT).head == case["branch_changelog_after"].encode()


def test_a_prepared_branch_keeps_its_changelog() -> None:
    require_data()
    prepared = [
        case
        for case in APPENDS
        if BASE.decode() + case["pr_changelog_append"] == case["branch_changelog_after"]
    ]
    assert prepared
    for case in prepared:
        head = case["branch_changelog_after"].encode()
        canonical = canonicalize(BASE, head, CONTEXT)
        assert (canonical.head, canonical.changed) == (head, ())
