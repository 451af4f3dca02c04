"""One call makes of what was read everything that should stand there: no token, no clone, no hub."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from infx.errors import InfxError
from infx.markdown import MAX_UNTRUSTED
from infx.model import Collaborator, Comment, CommentKind, CommentReference, StatusState
from infx.signoff.decide import GatheredSignoffs, decide_signoffs
from infx.signoff.publish import SignoffReading
from infx.signoff.record import bind
from infx.signoff.selection import (
    MAX_SIGNERS,
    MAX_SIGNOFFS,
    find_edited_comments,
    list_long_comment_authors,
    parse_conversation,
    select_signoffs,
)
from tests.builders import BOT, HEAD, NOW, comment, person, pull
from tests.signoff.facts import POLICY, checklist, facts

SIGNED = checklist()
PEOPLE = {"noor": person("noor"), "eve": person("eve", "read")}


def gather(*comments: Comment, people: dict[str, Collaborator] = PEOPLE) -> GatheredSignoffs:
    """What a gatherer hands over; every sign-off is a new one of the head."""
    conversation = parse_conversation(comments, POLICY, people)
    selection = select_signoffs(conversation, people, {})
    shared = facts()
    readings = [
        SignoffReading(
            signoff=signoff,
            binding=bind(None, signoff, HEAD, shared.diff, NOW),
            facts=replace(shared, signoff=signoff),
        )
        for signoff in selection.choose(None)
    ]
    return GatheredSignoffs(
        pull=pull(), conversation=conversation, selection=selection, shared=shared, readings=tuple(readings)
    )


def test_a_good_signoff_makes_one_comment_and_a_green_status() -> None:
    decided = decide_signoffs(gather(facts().signoff), POLICY)
    assert [assessment.judgment is not None for assessment in decided.assessments] == [True]
    assert [sticky.key for sticky in decided.stickies] == ["sign-off"]
    assert decided.status is not None
    assert decided.status.state is StatusState.SUCCESS
    assert (decided.unread, decided.former, decided.passed_over) == ((), (), ())


def test_what_could_not_be_read_says_nothing_and_is_pending() -> None:
    found = gather(facts().signoff)
    unread = tuple(replace(reading, facts=None, unread="git did not answer") for reading in found.readings)
    decided = decide_signoffs(replace(found, readings=unread), POLICY)
    assert decided.stickies == ()
    assert decided.unread == (f"{facts().signoff.url}: git did not answer",)
    assert decided.status is not None
    assert decided.status.state is StatusState.PENDING


def test_what_keeps_us_from_judging_is_a_failure() -> None:
    found = gather(facts().signoff)
    failed = tuple(replace(reading, facts=None, error="The plan is broken.") for reading in found.readings)
    decided = decide_signoffs(replace(found, readings=failed), POLICY)
    assert "The plan is broken" in (decided.stickies[0].text or "")
    assert decided.status is not None
    assert decided.status.state is StatusState.FAILURE


def test_an_author_whom_nobody_knows_is_looked_at_again() -> None:
    gone = comment(SIGNED, "gone")
    found = gather(gone, people={"gone": person("gone", "", is_known=False)})
    decided = decide_signoffs(replace(found, unknown=(gone,)), POLICY)
    assert decided.unread == (f"{gone.url}: The role of gone could not be read.",)


def test_of_many_signoffs_the_newest_are_assessed_and_the_one_that_is_meant() -> None:
    many = [comment(SIGNED, id=n, created_at=NOW + timedelta(minutes=n)) for n in range(1, 13)]
    selection = select_signoffs(parse_conversation(many, POLICY, PEOPLE), PEOPLE, {})
    assert [signoff.id for signoff in selection.choose(None)] == list(range(3, 3 + MAX_SIGNOFFS))
    first = CommentReference(repository="acme/bench", pull_number=77, kind=CommentKind.ISSUE, id=1)
    assert [signoff.id for signoff in selection.choose(first)] == [1, *range(3, 13)]
    with pytest.raises(InfxError, match="has no issuecomment 99"):
        selection.require(replace(first, id=99), many)


def test_only_the_newest_signers_are_asked_for() -> None:
    many = [
        comment(SIGNED, f"p{n}", id=n, created_at=NOW + timedelta(minutes=n)) for n in range(MAX_SIGNERS + 3)
    ]
    conversation = parse_conversation(many, POLICY, {})
    assert conversation.signers == tuple(f"p{n}" for n in range(MAX_SIGNERS + 2, 2, -1))
    people = {f"p{n}": person(f"p{n}") for n in range(MAX_SIGNERS + 3)}
    passed_over = select_signoffs(conversation, people, {}).passed_over
    assert [one.author.login for one, _ in passed_over] == ["p0", "p1", "p2"]


def test_a_long_comment_is_parsed_only_for_somebody_who_may_write() -> None:
    long = f"{SIGNED}\n{'x' * MAX_UNTRUSTED}"
    comments = [comment(long, "eve", id=1), comment(long, "noor", id=2), comment(SIGNED, "cody", id=3)]
    assert list_long_comment_authors(comments, POLICY) == ("eve", "noor")
    conversation = parse_conversation(comments, POLICY, PEOPLE)
    assert [(one.id, why is None) for one, why in conversation.candidates] == [
        (1, False),
        (2, True),
        (3, True),
    ]


def test_words_of_somebody_else_are_passed_over() -> None:
    edited = comment(SIGNED, updated_at=NOW + timedelta(minutes=1), node_id="IC_1")
    assert find_edited_comments([edited, comment(SIGNED, id=2)], [edited, comment("x", BOT)], POLICY) == (
        edited,
    )
    selection = select_signoffs(parse_conversation([edited], POLICY, PEOPLE), PEOPLE, {"IC_1": "eve"})
    assert selection.signoffs == ()
    assert selection.passed_over[0][1].startswith("eve edited it last")
