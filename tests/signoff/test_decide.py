"""From gathered facts to comments and status, without token, clone or hub."""

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
    """Return gathered facts in which every sign-off is a fresh sign-off of the head."""
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


def test_an_unread_signoff_is_pending_without_a_comment() -> None:
    gathered = gather(facts().signoff)
    unread = tuple(replace(reading, facts=None, unread="git did not answer") for reading in gathered.readings)
    decided = decide_signoffs(replace(gathered, readings=unread), POLICY)
    assert decided.stickies == ()
    assert decided.unread == (f"{facts().signoff.url}: git did not answer",)
    assert decided.status is not None
    assert decided.status.state is StatusState.PENDING


def test_an_error_during_the_judgment_is_a_failure() -> None:
    gathered = gather(facts().signoff)
    failed = tuple(replace(reading, facts=None, error="The plan is broken.") for reading in gathered.readings)
    decided = decide_signoffs(replace(gathered, readings=failed), POLICY)
    assert "The plan is broken" in (decided.stickies[0].text or "")
    assert decided.status is not None
    assert decided.status.state is StatusState.FAILURE


def test_an_author_unknown_to_github_is_read_again() -> None:
    gone = comment(SIGNED, "gone")
    gathered = gather(gone, people={"gone": person("gone", "", is_known=False)})
    decided = decide_signoffs(replace(gathered, unknown=(gone,)), POLICY)
    assert decided.unread == (f"{gone.url}: The role of gone could not be read.",)


def test_the_newest_signoffs_and_the_named_one_are_assessed() -> None:
    many = [comment(SIGNED, id=n, created_at=NOW + timedelta(minutes=n)) for n in range(1, 13)]
    selection = select_signoffs(parse_conversation(many, POLICY, PEOPLE), PEOPLE, {})
    assert [signoff.id for signoff in selection.choose(None)] == list(range(3, 3 + MAX_SIGNOFFS))
    first = CommentReference(repository="acme/bench", pull_number=77, kind=CommentKind.ISSUE, id=1)
    assert [signoff.id for signoff in selection.choose(first)] == [1, *range(3, 13)]
    with pytest.raises(InfxError, match="has no issuecomment 99"):
        selection.require(replace(first, id=99), many)


def test_only_the_roles_of_the_newest_signers_are_read() -> None:
    many = [
        comment(SIGNED, f"p{n}", id=n, created_at=NOW + timedelta(minutes=n)) for n in range(MAX_SIGNERS + 3)
    ]
    conversation = parse_conversation(many, POLICY, {})
    assert conversation.signers == tuple(f"p{n}" for n in range(MAX_SIGNERS + 2, 2, -1))
    people = {f"p{n}": person(f"p{n}") for n in range(MAX_SIGNERS + 3)}
    passed_over = select_signoffs(conversation, people, {}).passed_over
    assert [rejected.author.login for rejected, _ in passed_over] == ["p0", "p1", "p2"]


def test_a_long_comment_is_parsed_only_with_write_access() -> None:
    long = f"{SIGNED}\n{'x' * MAX_UNTRUSTED}"
    comments = [comment(long, "eve", id=1), comment(long, "noor", id=2), comment(SIGNED, "cody", id=3)]
    assert list_long_comment_authors(comments, POLICY) == ("eve", "noor")
    conversation = parse_conversation(comments, POLICY, PEOPLE)
    assert [(candidate.id, why is None) for candidate, why in conversation.candidates] == [
        (1, False),
        (2, True),
        (3, True),
    ]


def test_a_signoff_edited_by_another_person_is_passed_over() -> None:
    edited = comment(SIGNED, updated_at=NOW + timedelta(minutes=1), node_id="IC_1")
    assert find_edited_comments([edited, comment(SIGNED, id=2)], [edited, comment("x", BOT)], POLICY) == (
        edited,
    )
    selection = select_signoffs(parse_conversation([edited], POLICY, PEOPLE), PEOPLE, {"IC_1": "eve"})
    assert selection.signoffs == ()
    assert selection.passed_over[0][1].startswith("eve edited it last")
