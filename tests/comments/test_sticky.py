"""Which comments are ours, and what turns those that are there into the one that should be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.comments.sticky import Create, Delete, Edit, Sticky, Update, find_own, plan_edits
from infx.model import GHOST, Comment, CommentKind, User, UserType
from tests.comments.builders import APP, BOT, EVE, comment

MARKER = "<!-- infx-greeting -->"
IDENTITIES = ("github-actions[bot]",)
LIMIT = 65_536
GREETING = Sticky(key="greeting", marker=MARKER, text="Hello")
BODY = f"{MARKER}\nHello\n"


def plan(sticky: Sticky, *comments: Comment, identities: tuple[str, ...] = IDENTITIES) -> list[Edit]:
    return list(plan_edits(sticky, comments, identities, LIMIT))


def test_the_first_time_it_is_created() -> None:
    assert plan(GREETING) == [Create(body=BODY)]


@pytest.mark.parametrize(("total", "place"), [(35, 33), (130, 120)])
def test_it_is_found_wherever_it_stands(total: int, place: int) -> None:
    comments = [comment(n) for n in range(1, total + 1)]
    comments[place - 1] = comment(place, BODY, BOT)
    assert plan(GREETING, *comments) == []


def test_comments_without_text_or_author_are_no_trouble() -> None:
    assert (
        plan(GREETING, comment(1, "hi", GHOST), comment(2, "", User(login="x")), comment(3, BODY, BOT)) == []
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(comment(1, BODY, EVE), id="another author"),
        pytest.param(
            comment(1, BODY, User(login="github-actions[bot]")),
            id="our login, but not an app: such a login is forged",
        ),
        pytest.param(comment(1, BODY, User(login="coverage[bot]", type=UserType.BOT)), id="another app"),
        pytest.param(comment(1, f"quoting {BODY}", BOT), id="the marker is not at the start"),
        pytest.param(comment(1, f"> {BODY}", BOT), id="a quote"),
        pytest.param(comment(1, f"{MARKER}x\n", BOT), id="more on the marker's line"),
        pytest.param(comment(1, BODY, BOT, kind=CommentKind.REVIEW), id="a review"),
    ],
)
def test_identity_and_marker_are_both_needed(other: Comment) -> None:
    assert find_own([other], MARKER, IDENTITIES) == []
    assert plan(GREETING, other) == [Create(body=BODY)]


def test_logins_are_compared_as_github_does() -> None:
    mixed = User(login="GitHub-Actions[bot]", type=UserType.BOT)
    assert plan(GREETING, comment(1, BODY, mixed)) == []


def test_a_person_can_be_an_identity() -> None:
    assert plan(GREETING, comment(1, BODY, EVE), identities=("eve",)) == []


def test_after_a_change_of_identity_there_is_one_new_comment_and_then_updates() -> None:
    old = comment(1, BODY, BOT)
    only_app = ("bench-bot[bot]",)
    assert plan(GREETING, old, identities=only_app) == [Create(body=BODY)]
    assert plan(GREETING, old, comment(2, BODY, APP), identities=only_app) == []
    new = Sticky(key="greeting", marker=MARKER, text="Hello again")
    both = ("github-actions[bot]", "bench-bot[bot]")
    assert plan(new, old, identities=both) == [Update(id=1, body=f"{MARKER}\nHello again\n")]


def test_other_text_is_replaced_in_place() -> None:
    assert plan(GREETING, comment(4, f"{MARKER}\nHi\n", BOT)) == [Update(id=4, body=BODY)]


@pytest.mark.parametrize("same", [BODY.replace("\n", "\r\n"), BODY.rstrip(), f"{MARKER}\nHello  \n\n"])
def test_line_ends_and_blanks_at_the_end_are_no_difference(same: str) -> None:
    assert plan(GREETING, comment(4, same, BOT)) == []


def test_of_duplicates_the_oldest_stays() -> None:
    found = plan(GREETING, comment(9, BODY, BOT), comment(5, f"{MARKER}\nHi\n", BOT), comment(7, BODY, BOT))
    assert found == [Update(id=5, body=BODY), Delete(id=7), Delete(id=9)]


def test_what_should_not_be_there_goes_wholly() -> None:
    gone = Sticky(key="notice", marker=MARKER, text=None)
    assert plan(gone) == []
    assert plan(gone, comment(3, BODY, BOT), comment(4, BODY, EVE), comment(6, BODY, BOT)) == [
        Delete(id=3),
        Delete(id=6),
    ]


def ordered(order: tuple[int, ...], text: str = "run") -> Sticky:
    return Sticky(
        key="visualizer",
        marker=MARKER,
        text=text,
        order=order,
        adopt=("View unofficial run",),
        adopt_order=r"unofficialRun=(\d+)",
    )


def shown(order: tuple[int, ...], text: str = "run") -> str:
    return ordered(order, text).body(LIMIT)


@pytest.mark.parametrize(
    ("there", "ours", "is_written"),
    [
        ((300, 1), (301, 1), True),
        ((301, 1), (300, 9), False),
        ((301, 1), (301, 2), True),
        ((301, 2), (301, 1), False),
        ((999, 1), (1000, 1), True),  # compared as numbers, not as text
        ((301, 1, 0, 7), (301, 1, 0, 6), False),
        ((301, 1, 0, 7), (301, 1, 1, 7), True),
    ],
)
def test_facts_of_an_older_run_never_replace_newer_ones(
    there: tuple[int, ...], ours: tuple[int, ...], is_written: bool
) -> None:
    found = plan(ordered(ours, "ours"), comment(1, shown(there, "there"), BOT))
    assert found == ([Update(id=1, body=shown(ours, "ours"))] if is_written else [])


def test_a_duplicate_that_knows_more_gives_its_text_to_the_oldest() -> None:
    newer = shown((302, 1), "newest")
    found = plan(ordered((301, 1)), comment(1, shown((300, 1)), BOT), comment(2, newer, BOT))
    assert found == [Update(id=1, body=newer), Delete(id=2)]


def legacy(number: int, of: int) -> Comment:
    return comment(number, f"View unofficial run (performance): https://x.test/?unofficialRun={of}", BOT)


def test_the_latest_comment_of_an_older_system_becomes_ours() -> None:
    found = plan(ordered((303, 1)), legacy(1, 300), legacy(2, 301), legacy(3, 302))
    assert found == [Update(id=3, body=shown((303, 1)))]


def test_an_adopted_comment_of_a_newer_run_is_left_alone() -> None:
    assert plan(ordered((300, 1)), legacy(3, 302)) == []


def test_once_one_is_ours_the_older_system_s_are_not_touched() -> None:
    assert plan(ordered((303, 1)), legacy(1, 300), comment(5, shown((303, 1)), BOT)) == []


def test_a_long_text_is_cut_and_still_ours() -> None:
    long = Sticky(key="x", marker=MARKER, text="line\n" * 20_000)
    body = long.body(LIMIT)
    assert len(body) <= LIMIT
    assert plan(long, comment(1, body, BOT)) == []


def carry_out(comments: tuple[Comment, ...], edits: list[Edit]) -> tuple[Comment, ...]:
    found = {c.id: c for c in comments}
    for edit in edits:
        match edit:
            case Create(body=body):
                found[max(found, default=0) + 1] = comment(max(found, default=0) + 1, body, BOT)
            case Update(id=number, body=body):
                found[number] = comment(number, body, found[number].author)
            case Delete(id=number):
                del found[number]
    return tuple(found.values())


BODIES = st.sampled_from(
    [BODY, f"{MARKER}\nHi", "chat", "View unofficial run: x", shown((300, 1)), shown((400, 2))]
)
COMMENTS = st.lists(st.tuples(BODIES, st.sampled_from([BOT, EVE, APP])), max_size=8)


@given(COMMENTS, st.sampled_from([GREETING, ordered((350, 1)), Sticky(key="n", marker=MARKER, text=None)]))
def test_properties_of_planned_edits(drawn: list[tuple[str, User]], sticky: Sticky) -> None:
    before = tuple(comment(index + 1, body, author) for index, (body, author) in enumerate(drawn))
    after = carry_out(before, plan(sticky, *before))
    assert plan(sticky, *after) == []  # once is enough
    assert len(find_own(after, MARKER, IDENTITIES)) == (sticky.text is not None)
    others = {c.id: c for c in before if c.author != BOT}
    assert {c.id: c for c in after if c.author != BOT} == others  # nobody else's comment is touched
