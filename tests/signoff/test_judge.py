"""Each check ends as the table says, and what the policy allows decides about all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infx.errors import ProblemsError
from infx.policy.checks import CHECKS
from infx.policy.load import parse_policy
from infx.policy.signoff import CheckStatus
from infx.results.identity import plan_identity
from infx.signoff.judge import judge, make_verdict
from infx.signoff.results import IDENTITY_FIELDS
from infx.signoff.verdict import render_verdict
from tests.builders import pull
from tests.signoff.cases import CASES, FAIL, NA, PASS, WARN, outcome
from tests.signoff.facts import MASTER, POLICY, ROWS, facts, results, score, sweep
from tests.signoff.grammar import parse_verdict


@pytest.mark.parametrize(
    ("slug", "name", "fields", "status", "words"), CASES, ids=[f"{c[0]}: {c[1]}" for c in CASES]
)
def test_check(slug: str, name: str, fields: dict[str, Any], status: CheckStatus, words: str) -> None:
    check_outcome = outcome(slug, facts(**fields))
    assert (check_outcome.status, words in check_outcome.reason) == (status, True), check_outcome.reason


def test_every_status_of_every_check_is_in_the_table() -> None:
    seen = {(slug, status) for slug, _, _, status, _ in CASES}
    missing = {
        (check.slug, status)
        for check in CHECKS
        for status in {*POLICY.signoff.checks[check.slug].statuses, FAIL}
        if (check.slug, status) not in seen
    }
    # A reuse command, missing points and a description never fail by themselves; see `test_forbidden_status_fails`.
    assert missing <= {("reuse", FAIL), ("pareto", FAIL)}


@pytest.mark.parametrize("name", IDENTITY_FIELDS)
def test_a_score_of_something_else_fails(name: str) -> None:
    """Each thing that a score says about its origin is compared with its row, and both are named."""
    wrong = results(scores=(score(ROWS[6], identity={name: "x/y:1"}), score(ROWS[7])))
    [found] = (r.outcome for r in judge(facts(results=wrong), POLICY).results if r.check.slug == "accuracy")
    [planned] = plan_identity(ROWS[6].row)[name]
    words = f"`gsm8k` ran with the {name} `x/y:1`, the plan says `{planned}`"
    assert (found.status, words in found.reason) == (FAIL, True)


def test_a_score_says_what_no_plan_knows() -> None:
    """Facts may be written by hand; what cannot be compared never passes."""
    wrong = results(scores=(score(ROWS[6], identity={"weather": "fine"}), score(ROWS[7])))
    check_outcome = outcome("accuracy", facts(results=wrong))
    assert (check_outcome.status, "the weather `fine`, the plan says nothing" in check_outcome.reason) == (
        FAIL,
        True,
    )


def test_the_share_of_samples_is_the_policy_s() -> None:
    policy = replace(POLICY, results=replace(POLICY.results, effective_samples=0.001))
    few = results(scores=(score(ROWS[6], samples=5), score(ROWS[7])))
    [found] = (r.outcome for r in judge(facts(results=few), policy).results if r.check.slug == "accuracy")
    assert found.status is PASS


def test_links_are_of_the_policy_s_server() -> None:
    policy = replace(POLICY, pr_link=replace(POLICY.pr_link, server="https://github.acme.example"))
    body = (
        "https://github.acme.example/Acme/bench/actions/runs/1 https://github.com/acme/bench/actions/runs/2"
    )
    results = {
        result.check.slug: result.outcome for result in judge(facts(pull=pull(body=body)), policy).results
    }
    assert "run 1" in results["description"].reason
    assert "run 2" not in results["description"].reason
    assert (
        results["checklist"].links[0].url.startswith("https://github.acme.example/acme/bench/blob/main/docs/")
    )


@pytest.mark.parametrize("slug", ["reuse", "pareto"])
def test_forbidden_status_fails(slug: str) -> None:
    """A status that the policy does not allow becomes a FAIL, so a repository can make any warning binding."""
    strict = replace(POLICY.signoff.checks[slug], statuses=(PASS,))
    policy = replace(POLICY, signoff=replace(POLICY.signoff, checks={**POLICY.signoff.checks, slug: strict}))
    spoilt = facts(comments=(), results=None)
    (found,) = (r.outcome for r in judge(spoilt, policy).results if r.check.slug == slug)
    assert found.status is FAIL
    assert found.reason.startswith("The policy does not allow WARN")


def test_everything_fails_without_everything_read() -> None:
    judged_ = judge(facts(shortfalls=("Page 2 of the comments is missing.",)), POLICY)
    assert {result.outcome.status for result in judged_.results} == {FAIL}


@pytest.mark.parametrize(
    ("fields", "waiting"),
    [
        ({"runs": (), "results": None}, True),
        ({"comments": ()}, True),
        ({"runs": (sweep(ROWS[:7]),)}, False),
        ({"codeowners": None}, False),
        ({}, False),
    ],
)
def test_what_may_still_come_is_waited_for(fields: dict[str, Any], waiting: bool) -> None:
    assert judge(facts(**fields), POLICY).is_waiting is waiting


@pytest.mark.parametrize("slug", [check.slug for check in CHECKS])
def test_each_check_can_be_off(slug: str) -> None:
    """It then ends in N/A, whatever the facts, and its row stays; all allowed_statuses are made as before."""
    own = f"repository: acme/bench\nmaster-configs: [{MASTER}]\nsignoff: {{checks: {{{slug}: off}}}}\n"
    policy = parse_policy(own.encode(), "policy.yaml")
    unread = facts(shortfalls=("Page 2 of the comments is missing.",))
    for signoff_facts, allowed_statuses in ((unread, {FAIL}), (facts(), {FAIL, PASS, NA, WARN})):
        outcomes = {result.check.slug: result.outcome for result in judge(signoff_facts, policy).results}
        assert (outcomes[slug].status, outcomes[slug].reason) == (NA, "The policy turns this check off.")
        assert len(outcomes) == 16
        assert {outcome.status for name, outcome in outcomes.items() if name != slug} <= allowed_statuses
    judgment = judge(facts(), policy)
    allowed = {check.number: (*policy.signoff.checks[check.slug].statuses, FAIL) for check in CHECKS}
    assert parse_verdict(render_verdict(make_verdict(judgment, facts(), policy)), allowed).rows


@pytest.mark.parametrize("word", ["on", "false", "OFF", "[off]", "{off: true}"])
def test_no_other_word_switches_a_check(word: str) -> None:
    with pytest.raises(ProblemsError):
        parse_policy(f"signoff: {{checks: {{owner: {word}}}}}\n".encode(), "policy.yaml")


def test_hand_made_facts_are_good() -> None:
    judgment = judge(facts(), POLICY)
    assert judgment.is_good, [r for r in judgment.results if not r.is_good]
