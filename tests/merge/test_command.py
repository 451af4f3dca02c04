"""Check which comments ask for a merge, and who may."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from infx.markdown import MAX_UNTRUSTED
from infx.merge.command import RequestAnswer, RequestFacts, decide_request
from infx.model import Collaborator
from infx.policy.load import default_policy
from infx.policy.signoff import Role
from tests.builders import APP, HEAD, NOW, comment, person

POLICY = default_policy()
ASKS = f"/merge {HEAD}"


def decide(body: str, *people: Collaborator, sender: str = "noor", **fields: Any) -> tuple[str, str | None]:
    made = comment(body, **{"author": "noor", **fields})
    facts = RequestFacts(comment=made, sender=sender, people=people or (person("noor"),))
    decision = decide_request(facts, POLICY)
    return decision.answer.value, decision.sha


@pytest.mark.parametrize(
    "body",
    [ASKS, f"/merge   {HEAD}  ", f"Looks good.\n\n{ASKS}\n", f"{ASKS}\r\nthanks", f"/merge {HEAD.upper()}"],
)
def test_a_comment_asks_for_the_merge_of_a_head(body: str) -> None:
    assert decide(body) == ("accepted", HEAD)


@pytest.mark.parametrize(
    "body",
    [
        f"`/merge {HEAD}`",
        f"```\n/merge {HEAD}\n```",
        f"    /merge {HEAD}",
        f"> /merge {HEAD}",
        f"<!--\n/merge {HEAD}\n-->",
        f"please /merge {HEAD}",
        f"/merged {HEAD}",
        f"/Merge {HEAD}",
        "see src/merge for more",
        "",
    ],
)
def test_a_comment_asks_for_nothing(body: str) -> None:
    assert decide(body) == ("nothing", None)


@pytest.mark.parametrize(
    "body",
    [
        "/merge",
        "/merge now",
        f"/merge {HEAD[:39]}",
        f"/merge {HEAD}0",
        f"/merge {HEAD} --admin",
        f"/merge {HEAD}; touch x",
        f"/merge $(touch x){HEAD}",
        f"/merge {HEAD}\n\n/merge {'d' * 40}",
        f"/merge\n{HEAD}",
        f"/merge {HEAD[:-1]}\N{CYRILLIC SMALL LETTER A}",
        f"/merge \N{FULLWIDTH DIGIT ONE}{HEAD[1:]}",
    ],
)
def test_a_comment_must_name_exactly_one_full_head(body: str) -> None:
    assert decide(body) == ("refused", None)


def test_a_long_comment_is_not_read() -> None:
    assert decide(f"{ASKS}\n{'x' * MAX_UNTRUSTED}") == ("refused", None)


def test_an_edited_comment_does_not_count() -> None:
    assert decide(ASKS, updated_at=NOW + timedelta(seconds=1)) == ("refused", None)


@pytest.mark.parametrize("author", [APP, "ghost"])
def test_only_a_person_asks(author: Any) -> None:
    assert decide(ASKS, author=author) == ("nothing", None)


@pytest.mark.parametrize(
    "who",
    [
        person("noor", "read"),
        person("noor", "triage"),
        person("noor", "write", permission="read"),
        person("noor", "custom", permission="write"),
        person("noor", "none"),
    ],
)
def test_permission_and_role_must_both_allow_it(who: Collaborator) -> None:
    assert decide(ASKS, who) == ("refused", None)


def test_the_policy_can_ask_for_a_higher_role() -> None:
    policy = replace(POLICY, merge=replace(POLICY.merge, role=Role.MAINTAIN))
    for role, answer in (("write", RequestAnswer.REFUSED), ("maintain", RequestAnswer.ACCEPTED)):
        facts = RequestFacts(comment=comment(ASKS), sender="noor", people=(person("noor", role),))
        assert decide_request(facts, policy).answer is answer


def test_whoever_runs_the_job_again_must_be_allowed_too() -> None:
    assert decide(ASKS, person("noor"), person("tia", "triage")) == ("refused", None)


def test_an_event_of_another_sender_does_not_count() -> None:
    assert decide(ASKS, person("noor"), person("mia"), sender="mia") == ("refused", None)


@pytest.mark.parametrize(("people", "answer"), [((), "refused"), ((person("mia"),), "accepted")])
def test_a_workflow_started_by_hand_needs_a_known_person(people: Any, answer: str) -> None:
    assert decide_request(RequestFacts(sender="mia", people=people), POLICY).answer == answer
