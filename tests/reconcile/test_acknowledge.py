"""Which thumbs infx leaves, removes and adds, without GitHub."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from infx.model import GHOST, Reaction, User
from infx.policy.load import default_policy
from infx.reconcile.acknowledge import (
    MAX_ANSWERED,
    Acknowledgement,
    acknowledge,
    find_answered,
    plan_reactions,
)
from infx.reconcile.actions import AddReaction, RemoveReaction
from infx.reconcile.facts import PlacedReaction
from infx.reuse.command import ReuseCommand
from infx.reuse.decision import ReuseDecision, ReuseReason, ReuseVerdict
from tests.builders import BOT, EVE, NOW, comment, run

POLICY = default_policy()
FORMER = User(login="former[bot]", type=BOT.type)  # not an identity of the policy
NAMESAKE = User(login="github-actions")  # a person


def placed(comment_id: int, content: str, author: User = BOT, id: int = 3) -> PlacedReaction:  # noqa: A002
    return PlacedReaction(comment_id=comment_id, reaction=Reaction(id=id, content=content, author=author))


def add(comment_id: int, content: str) -> AddReaction:
    return AddReaction(pull=77, comment_id=comment_id, content=content)


def remove(comment_id: int, content: str, id: int = 3) -> RemoveReaction:  # noqa: A002
    return RemoveReaction(pull=77, comment_id=comment_id, id=id, content=content)


UP, DOWN = Acknowledgement(comment_id=5, content="+1"), Acknowledgement(comment_id=5, content="-1")


@pytest.mark.parametrize(
    ("wanted", "present", "actions"),
    [
        (None, [], []),
        (UP, [], [add(5, "+1")]),
        (UP, [placed(5, "+1")], []),
        (DOWN, [placed(5, "+1")], [remove(5, "+1"), add(5, "-1")]),
        (DOWN, [placed(5, "+1"), placed(5, "-1", id=4)], [remove(5, "+1")]),
        (UP, [placed(4, "+1")], [remove(4, "+1"), add(5, "+1")]),
        (UP, [placed(4, "-1"), placed(5, "+1", id=4)], [remove(4, "-1")]),
        (None, [placed(4, "-1"), placed(5, "+1", id=4)], [remove(4, "-1"), remove(5, "+1", id=4)]),
        # people, other accounts and other kinds
        (UP, [placed(5, "+1", EVE)], [add(5, "+1")]),
        (None, [placed(5, "+1", EVE), placed(5, "-1", FORMER), placed(5, "-1", NAMESAKE)], []),
        (None, [placed(5, "eyes"), placed(5, "rocket")], []),
    ],
)
def test_only_the_wanted_thumb_of_infx_is_left(
    wanted: Acknowledgement | None, present: list[PlacedReaction], actions: list[Any]
) -> None:
    assert plan_reactions(wanted, present, 77, POLICY) == actions


@pytest.mark.parametrize(
    ("fields", "is_read"),
    [
        ({"body": "/use 1", "reactions": ("+1",)}, True),
        ({"body": "/use 1", "reactions": ("-1", "eyes")}, True),
        ({"body": "/use 1", "reactions": None}, True),
        ({"body": "/use 1", "reactions": ("+1",), "author": GHOST}, True),
        ({"body": "/use 1", "reactions": ("eyes",)}, False),
        ({"body": "/use 1", "reactions": ()}, False),
        ({"body": "hi", "reactions": ("+1",)}, False),
        ({"body": "hi", "reactions": ("+1",), "updated_at": NOW + timedelta(days=1)}, True),
        ({"body": "hi", "reactions": ("+1",), "editor": EVE}, True),
        ({"body": "hi", "reactions": ("+1",), "editor": EVE, "author": BOT}, False),
        ({"body": "/approve-sweep a", "reactions": ("+1",), "editor": EVE}, False),
    ],
)
def test_reactions_are_read_where_infx_may_have_left_one(fields: dict[str, Any], is_read: bool) -> None:
    comments = [comment(**{"id": 4, "created_at": NOW, "updated_at": NOW, **fields})]
    assert find_answered(comments, None, POLICY) == ([4] if is_read else [])
    assert find_answered(comments, 4, POLICY) == [4], "the comment that counts is always read"


def test_the_newest_comments_are_read_up_to_a_limit() -> None:
    comments = [comment("/use 1", id=number, reactions=("+1",)) for number in range(1, 21)]
    assert find_answered(comments, 3, POLICY) == [3, 20, 19, 18, 17, 16]
    assert len(find_answered(comments, None, POLICY)) == MAX_ANSWERED


@pytest.mark.parametrize(
    ("verdict", "content"),
    [(ReuseVerdict.REUSE, "+1"), (ReuseVerdict.REFUSED, "-1"), (ReuseVerdict.NOTHING, "-1")],
)
def test_only_a_command_that_counts_is_answered(verdict: ReuseVerdict, content: str) -> None:
    source = run() if verdict is ReuseVerdict.REUSE else None
    command = ReuseCommand(run_id=None, comment=comment("/reuse-sweep-run", id=5))
    fields: dict[str, Any] = {"verdict": verdict, "reason": ReuseReason.NEWEST, "words": "x"}
    decision = ReuseDecision(**fields, source=source, command=command)
    assert acknowledge(decision) == Acknowledgement(comment_id=5, content=content)
    assert acknowledge(ReuseDecision(**fields)) is None
    assert acknowledge(None) is None
