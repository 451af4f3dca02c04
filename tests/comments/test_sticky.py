"""Which comments are ours, and what turns those that are there into the one that should be."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.comments.sticky import (
    MAX_ITEMS,
    Create,
    Delete,
    Edit,
    Sticky,
    Update,
    find_ahead,
    find_own,
    plan_edits,
)
from infx.model import GHOST, Comment, CommentKind, User, UserType
from infx.policy.model import Language
from tests.builders import APP, BOT, EVE, comment

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
    comments = [comment(id=n) for n in range(1, total + 1)]
    comments[place - 1] = comment(BODY, BOT, id=place)
    assert plan(GREETING, *comments) == []


def test_comments_without_text_or_author_are_no_trouble() -> None:
    assert (
        plan(
            GREETING, comment("hi", GHOST, id=1), comment("", User(login="x"), id=2), comment(BODY, BOT, id=3)
        )
        == []
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(comment(BODY, EVE, id=1), id="another author"),
        pytest.param(
            comment(BODY, User(login="github-actions[bot]"), id=1),
            id="our login, but not an app: such a login is forged",
        ),
        pytest.param(comment(BODY, User(login="coverage[bot]", type=UserType.BOT), id=1), id="another app"),
        pytest.param(comment(f"quoting {BODY}", BOT, id=1), id="the marker is not at the start"),
        pytest.param(comment(f"> {BODY}", BOT, id=1), id="a quote"),
        pytest.param(comment(f"{MARKER}x\n", BOT, id=1), id="more on the marker's line"),
        pytest.param(comment(BODY, BOT, kind=CommentKind.REVIEW, id=1), id="a review"),
    ],
)
def test_identity_and_marker_are_both_needed(other: Comment) -> None:
    assert find_own([other], MARKER, IDENTITIES) == []
    assert plan(GREETING, other) == [Create(body=BODY)]


def test_logins_are_compared_as_github_does() -> None:
    mixed = User(login="GitHub-Actions[bot]", type=UserType.BOT)
    assert plan(GREETING, comment(BODY, mixed, id=1)) == []


def test_a_person_can_be_an_identity() -> None:
    assert plan(GREETING, comment(BODY, EVE, id=1), identities=("eve",)) == []


def test_after_a_change_of_identity_there_is_one_new_comment_and_then_updates() -> None:
    old = comment(BODY, BOT, id=1)
    only_app = ("bench-bot[bot]",)
    assert plan(GREETING, old, identities=only_app) == [Create(body=BODY)]
    assert plan(GREETING, old, comment(BODY, APP, id=2), identities=only_app) == []
    new = Sticky(key="greeting", marker=MARKER, text="Hello again")
    both = ("github-actions[bot]", "bench-bot[bot]")
    assert plan(new, old, identities=both) == [Update(id=1, body=f"{MARKER}\nHello again\n")]


def test_other_text_is_replaced_in_place() -> None:
    assert plan(GREETING, comment(f"{MARKER}\nHi\n", BOT, id=4)) == [Update(id=4, body=BODY)]


@pytest.mark.parametrize("same", [BODY.replace("\n", "\r\n"), BODY.rstrip(), f"{MARKER}\nHello  \n\n"])
def test_line_ends_and_blanks_at_the_end_are_no_difference(same: str) -> None:
    assert plan(GREETING, comment(same, BOT, id=4)) == []


def test_of_duplicates_the_oldest_stays() -> None:
    found = plan(
        GREETING, comment(BODY, BOT, id=9), comment(f"{MARKER}\nHi\n", BOT, id=5), comment(BODY, BOT, id=7)
    )
    assert found == [Update(id=5, body=BODY), Delete(id=7), Delete(id=9)]


def test_what_should_not_be_there_goes_wholly() -> None:
    gone = Sticky(key="notice", marker=MARKER, text=None)
    assert plan(gone) == []
    assert plan(gone, comment(BODY, BOT, id=3), comment(BODY, EVE, id=4), comment(BODY, BOT, id=6)) == [
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
    found = plan(ordered(ours, "ours"), comment(shown(there, "there"), BOT, id=1))
    assert found == ([Update(id=1, body=shown(ours, "ours"))] if is_written else [])


def test_a_duplicate_that_knows_more_gives_its_text_to_the_oldest() -> None:
    newer = shown((302, 1), "newest")
    found = plan(ordered((301, 1)), comment(shown((300, 1)), BOT, id=1), comment(newer, BOT, id=2))
    assert found == [Update(id=1, body=newer), Delete(id=2)]


def legacy(number: int, of: int) -> Comment:
    return comment(f"View unofficial run (performance): https://x.test/?unofficialRun={of}", BOT, id=number)


def test_the_latest_comment_of_an_older_system_becomes_ours() -> None:
    found = plan(ordered((303, 1)), legacy(1, 300), legacy(2, 301), legacy(3, 302))
    assert found == [Update(id=3, body=shown((303, 1)))]


def test_an_adopted_comment_of_a_newer_run_is_left_alone() -> None:
    assert plan(ordered((300, 1)), legacy(3, 302)) == []


def test_once_one_is_ours_the_older_system_s_are_not_touched() -> None:
    assert plan(ordered((303, 1)), legacy(1, 300), comment(shown((303, 1)), BOT, id=5)) == []


def test_a_long_text_is_cut_and_still_ours() -> None:
    long = Sticky(key="x", marker=MARKER, text="line\n" * 20_000)
    body = long.body(LIMIT)
    assert len(body) <= LIMIT
    assert plan(long, comment(body, BOT, id=1)) == []


def carry_out(comments: tuple[Comment, ...], edits: list[Edit]) -> tuple[Comment, ...]:
    found = {c.id: c for c in comments}
    for edit in edits:
        match edit:
            case Create(body=body):
                found[max(found, default=0) + 1] = comment(body, BOT, id=max(found, default=0) + 1)
            case Update(id=number, body=body):
                found[number] = comment(body, found[number].author, id=number)
            case Delete(id=number):
                del found[number]
    return tuple(found.values())


BODIES = st.sampled_from(
    [BODY, f"{MARKER}\nHi", "chat", "View unofficial run: x", shown((300, 1)), shown((400, 2))]
)
COMMENTS = st.lists(st.tuples(BODIES, st.sampled_from([BOT, EVE, APP])), max_size=8)


@given(COMMENTS, st.sampled_from([GREETING, ordered((350, 1)), Sticky(key="n", marker=MARKER, text=None)]))
def test_properties_of_planned_edits(drawn: list[tuple[str, User]], sticky: Sticky) -> None:
    before = tuple(comment(body, author, id=index + 1) for index, (body, author) in enumerate(drawn))
    after = carry_out(before, plan(sticky, *before))
    assert plan(sticky, *after) == []  # once is enough
    assert len(find_own(after, MARKER, IDENTITIES)) == (sticky.text is not None)
    others = {c.id: c for c in before if c.author != BOT}
    assert {c.id: c for c in after if c.author != BOT} == others  # nobody else's comment is touched


# Too long for one comment


RUNS = "https://github.com/acme/bench/actions/runs"


def listed(count: int, length: int = 10, *, run: int | None = 500, last: str = "") -> Sticky:
    """A list of items, with the remedy and a second language below it."""
    return Sticky(
        key="notice",
        marker=MARKER,
        text="**It is wrong.**",
        items=(*(f"item {n:04} {'x' * length}" for n in range(count - 1)), f"last {last}"),
        after="Do this:\n\n```\ninfx fix\n```\n\n---\n\n**错了。** 命令见上。",
        languages=(Language.ENGLISH, Language.CHINESE),
        runs_url=RUNS,
        run_id=run,
    )


@pytest.mark.parametrize(("count", "length"), [(31, 10), (500, 10), (30, 4000), (25, 60_000), (3, 65_000)])
def test_only_the_list_is_cut(count: int, length: int) -> None:
    """The remedy and all languages stay, whatever the number and the length of the items."""
    body = listed(count, length).body(LIMIT)
    assert len(body) <= LIMIT
    lines = body.splitlines()
    assert lines[:3] == [MARKER, "**It is wrong.**", ""]
    assert body.endswith("Do this:\n\n```\ninfx fix\n```\n\n---\n\n**错了。** 命令见上。\n")
    shown = [line for line in lines if line.startswith(("- item", "- last"))]
    (rest,) = [line for line in lines if line.startswith("- … ")]
    assert len(shown) <= MAX_ITEMS
    assert rest.startswith(f"- … {count - len(shown)} more · 另有 {count - len(shown)} 项")
    assert f"([all of it · 全部]({RUNS}/500))" in rest


@given(st.integers(1, 60), st.integers(0, 3000), st.integers(400, 70_000))
def test_properties_of_a_cut(count: int, length: int, limit: int) -> None:
    """It fits, it is ours, and what is shown and what is counted are together all."""
    sticky = listed(count, length)
    body = sticky.body(limit)
    assert len(body) <= limit
    assert body.startswith(f"{MARKER}\n")
    assert "infx fix" in body
    assert "命令见上" in body
    shown = len(re.findall(r"(?m)^- (?:item|last)", body))
    rest = re.search(r"(?m)^- … ([0-9]+) more", body)
    assert shown + (int(rest[1]) if rest else 0) == count
    assert (body == sticky.whole) is (rest is None)


def test_a_short_list_is_whole_and_links_nothing() -> None:
    sticky = listed(30)
    assert sticky.body(LIMIT) == sticky.whole
    assert RUNS not in sticky.whole


def test_a_long_text_without_a_list_says_where_all_of_it_is() -> None:
    long = Sticky(key="x", marker=MARKER, text="line\n" * 20_000, runs_url=RUNS, run_id=500)
    assert f"*Cut here: the rest did not fit.* ([all of it]({RUNS}/500)) <!-- all " in long.body(LIMIT)
    assert plan(long) == [Create(body=long.body(LIMIT), whole=long.whole)]


def test_the_page_of_an_earlier_run_serves_as_well() -> None:
    """Else every reconciliation would write."""
    there = comment(listed(40, run=500).body(LIMIT), BOT, id=1)
    assert plan(listed(40, run=501), there) == []
    assert plan(listed(40, run=None), there) == []


def test_a_changed_text_links_the_run_that_shows_it() -> None:
    """Even if what changed is not among what is shown."""
    there = comment(listed(40, run=500, last="before").body(LIMIT), BOT, id=1)
    changed = listed(40, run=501, last="after")
    assert plan(changed, there) == [Update(id=1, body=changed.body(LIMIT), whole=changed.whole)]
    assert f"{RUNS}/501" in changed.body(LIMIT)


def test_a_link_is_added_where_there_was_none() -> None:
    there = comment(listed(40, run=None).body(LIMIT), BOT, id=1)
    assert [type(edit) for edit in plan(listed(40, run=501), there)] == [Update]


@pytest.mark.parametrize(
    "evil",
    [
        "https://evil.test/actions/runs/500",
        "https://github.com/eve/bench/actions/runs/500",
        f"{RUNS}/500/job/1",
        f"{RUNS}/x",
    ],
)
@pytest.mark.parametrize("run", [500, None])
def test_a_link_that_was_changed_by_hand_is_put_right(evil: str, run: int | None) -> None:
    body = listed(40, run=500).body(LIMIT).replace(f"{RUNS}/500", evil)
    assert [type(edit) for edit in plan(listed(40, run=run), comment(body, BOT, id=1))] == [Update]


def test_a_link_put_into_a_whole_comment_is_taken_out() -> None:
    body = BODY.replace("Hello", f"Hello ([all of it]({RUNS}/1)) <!-- all 0123456789ab -->")
    assert plan(GREETING, comment(body, BOT, id=1)) == [Update(id=1, body=BODY)]


# Edited by somebody else


HUGE = (10**17, 9, 1, 999)


def test_an_order_that_somebody_else_wrote_does_not_count() -> None:
    forged = comment(shown(HUGE, "evil"), BOT, editor=EVE, id=1)
    assert plan(ordered((301, 1), "ours"), forged) == [Update(id=1, body=shown((301, 1), "ours"))]


@pytest.mark.parametrize("editor", [None, BOT])
def test_an_order_of_our_own_counts(editor: User | None) -> None:
    there = comment(shown((302, 1), "newer"), BOT, editor=editor, id=1)
    assert plan(ordered((301, 1), "ours"), there) == []


def test_a_forged_duplicate_does_not_give_its_text_to_the_oldest() -> None:
    forged = comment(shown(HUGE, "evil"), BOT, editor=EVE, id=2)
    found = plan(ordered((301, 1)), comment(shown((300, 1)), BOT, id=1), forged)
    assert found == [Update(id=1, body=shown((301, 1))), Delete(id=2)]


def test_an_adopted_comment_that_somebody_has_edited_does_not_count_either() -> None:
    old = replace(legacy(3, 10**17), editor=EVE)
    assert plan(ordered((300, 1)), old) == [Update(id=3, body=shown((300, 1)))]


def test_only_what_is_ahead_and_unknown_is_asked_about() -> None:
    """One request for them all, and none for a comment that is not ahead."""
    ahead, behind = comment(shown(HUGE), BOT, id=1), comment(shown((300, 1)), BOT, id=2)
    known, stranger = comment(shown(HUGE), BOT, editor=BOT, id=3), comment(shown(HUGE), EVE, id=4)
    all_of_them = [ahead, behind, known, stranger]
    assert find_ahead([ordered((301, 1)), GREETING], all_of_them, IDENTITIES) == [ahead]
    assert find_ahead([GREETING], all_of_them, IDENTITIES) == []
    assert find_ahead([replace(ordered((1,)), text=None)], all_of_them, IDENTITIES) == []
