"""Finding infx's own comments, and planning the edits that lead to the wanted comment."""

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


def test_a_missing_comment_is_created() -> None:
    assert plan(GREETING) == [Create(body=BODY)]


@pytest.mark.parametrize(("total", "place"), [(35, 33), (130, 120)])
def test_a_comment_is_found_on_every_page(total: int, place: int) -> None:
    comments = [comment(id=n) for n in range(1, total + 1)]
    comments[place - 1] = comment(BODY, BOT, id=place)
    assert plan(GREETING, *comments) == []


def test_comments_without_text_or_author_are_ignored() -> None:
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
            id="infx's login, but not an app, so it is forged",
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


def test_a_new_identity_creates_one_comment_and_then_updates_it() -> None:
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
def test_line_ends_and_trailing_blanks_make_no_difference(same: str) -> None:
    assert plan(GREETING, comment(same, BOT, id=4)) == []


def test_of_duplicates_the_oldest_stays() -> None:
    edits = plan(
        GREETING, comment(BODY, BOT, id=9), comment(f"{MARKER}\nHi\n", BOT, id=5), comment(BODY, BOT, id=7)
    )
    assert edits == [Update(id=5, body=BODY), Delete(id=7), Delete(id=9)]


def test_all_own_comments_without_a_text_are_deleted() -> None:
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
    ("current", "own", "is_written"),
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
    current: tuple[int, ...], own: tuple[int, ...], is_written: bool
) -> None:
    edits = plan(ordered(own, "own"), comment(shown(current, "current"), BOT, id=1))
    assert edits == ([Update(id=1, body=shown(own, "own"))] if is_written else [])


def test_the_oldest_gets_the_text_of_a_duplicate_about_a_newer_run() -> None:
    newer = shown((302, 1), "newest")
    edits = plan(ordered((301, 1)), comment(shown((300, 1)), BOT, id=1), comment(newer, BOT, id=2))
    assert edits == [Update(id=1, body=newer), Delete(id=2)]


def legacy(number: int, of: int) -> Comment:
    return comment(f"View unofficial run (performance): https://x.test/?unofficialRun={of}", BOT, id=number)


def test_the_latest_comment_of_an_older_system_is_adopted() -> None:
    edits = plan(ordered((303, 1)), legacy(1, 300), legacy(2, 301), legacy(3, 302))
    assert edits == [Update(id=3, body=shown((303, 1)))]


def test_an_adopted_comment_of_a_newer_run_is_left_alone() -> None:
    assert plan(ordered((300, 1)), legacy(3, 302)) == []


def test_with_an_own_comment_none_of_an_older_system_is_adopted() -> None:
    assert plan(ordered((303, 1)), legacy(1, 300), comment(shown((303, 1)), BOT, id=5)) == []


def test_a_long_text_is_cut_and_still_recognized() -> None:
    long = Sticky(key="x", marker=MARKER, text="line\n" * 20_000)
    body = long.body(LIMIT)
    assert len(body) <= LIMIT
    assert plan(long, comment(body, BOT, id=1)) == []


def carry_out(comments: tuple[Comment, ...], edits: list[Edit]) -> tuple[Comment, ...]:
    by_id = {c.id: c for c in comments}
    for edit in edits:
        match edit:
            case Create(body=body):
                by_id[max(by_id, default=0) + 1] = comment(body, BOT, id=max(by_id, default=0) + 1)
            case Update(id=number, body=body):
                by_id[number] = comment(body, by_id[number].author, id=number)
            case Delete(id=number):
                del by_id[number]
    return tuple(by_id.values())


BODIES = st.sampled_from(
    [BODY, f"{MARKER}\nHi", "chat", "View unofficial run: x", shown((300, 1)), shown((400, 2))]
)
COMMENTS = st.lists(st.tuples(BODIES, st.sampled_from([BOT, EVE, APP])), max_size=8)


@given(COMMENTS, st.sampled_from([GREETING, ordered((350, 1)), Sticky(key="n", marker=MARKER, text=None)]))
def test_properties_of_planned_edits(drawn: list[tuple[str, User]], sticky: Sticky) -> None:
    before = tuple(comment(body, author, id=index + 1) for index, (body, author) in enumerate(drawn))
    after = carry_out(before, plan(sticky, *before))
    assert plan(sticky, *after) == []  # a second plan has no edits
    assert len(find_own(after, MARKER, IDENTITIES)) == (sticky.text is not None)
    others = {c.id: c for c in before if c.author != BOT}
    assert {c.id: c for c in after if c.author != BOT} == others  # other accounts' comments are unchanged


# Too long for one comment


RUNS = "https://github.com/acme/bench/actions/runs"


def listed(count: int, length: int = 10, *, run: int | None = 500, last: str = "") -> Sticky:
    """Return a comment with a list of items, with the fix and a second language below the list."""
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
    """The fix and all languages stay for any number and length of items."""
    body = listed(count, length).body(LIMIT)
    assert len(body) <= LIMIT
    lines = body.splitlines()
    assert lines[:3] == [MARKER, "**It is wrong.**", ""]
    assert body.endswith("Do this:\n\n```\ninfx fix\n```\n\n---\n\n**错了。** 命令见上。\n")
    shown = [line for line in lines if line.startswith(("- item", "- last"))]
    (rest,) = [line for line in lines if line.startswith("- … ")]
    assert len(shown) <= MAX_ITEMS
    assert rest.startswith(f"- … {count - len(shown)} more · 另有 {count - len(shown)} 项")
    assert f"([show all · 全部]({RUNS}/500))" in rest


@given(st.integers(1, 60), st.integers(0, 3000), st.integers(400, 70_000))
def test_properties_of_a_cut(count: int, length: int, limit: int) -> None:
    """The comment fits and has its marker, and its shown and counted items add up to all items."""
    sticky = listed(count, length)
    body = sticky.body(limit)
    assert len(body) <= limit
    assert body.startswith(f"{MARKER}\n")
    assert "infx fix" in body
    assert "命令见上" in body
    shown = len(re.findall(r"(?m)^- (?:item|last)", body))
    hidden = re.search(r"(?m)^- … ([0-9]+) more", body)
    assert shown + (int(hidden[1]) if hidden else 0) == count
    assert (body == sticky.whole) is (hidden is None)


def test_a_short_list_is_not_cut_and_has_no_link() -> None:
    sticky = listed(30)
    assert sticky.body(LIMIT) == sticky.whole
    assert RUNS not in sticky.whole


def test_a_long_text_without_a_list_links_the_whole_text() -> None:
    long = Sticky(key="x", marker=MARKER, text="line\n" * 20_000, runs_url=RUNS, run_id=500)
    assert f"*Cut here: the rest did not fit.* ([show all]({RUNS}/500)) <!-- all " in long.body(LIMIT)
    assert plan(long) == [Create(body=long.body(LIMIT), whole=long.whole)]


def test_a_link_to_the_page_of_an_earlier_run_is_kept() -> None:
    """Otherwise every reconciliation would write."""
    current = comment(listed(40, run=500).body(LIMIT), BOT, id=1)
    assert plan(listed(40, run=501), current) == []
    assert plan(listed(40, run=None), current) == []


def test_a_changed_text_links_the_run_that_shows_it() -> None:
    """This is so even if the change is in an item that is not shown."""
    current = comment(listed(40, run=500, last="before").body(LIMIT), BOT, id=1)
    changed = listed(40, run=501, last="after")
    assert plan(changed, current) == [Update(id=1, body=changed.body(LIMIT), whole=changed.whole)]
    assert f"{RUNS}/501" in changed.body(LIMIT)


def test_a_missing_link_is_added() -> None:
    current = comment(listed(40, run=None).body(LIMIT), BOT, id=1)
    assert [type(edit) for edit in plan(listed(40, run=501), current)] == [Update]


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
def test_a_link_that_was_changed_by_hand_is_corrected(evil: str, run: int | None) -> None:
    body = listed(40, run=500).body(LIMIT).replace(f"{RUNS}/500", evil)
    assert [type(edit) for edit in plan(listed(40, run=run), comment(body, BOT, id=1))] == [Update]


def test_a_link_added_by_hand_to_a_whole_comment_is_removed() -> None:
    body = BODY.replace("Hello", f"Hello ([show all]({RUNS}/1)) <!-- all 0123456789ab -->")
    assert plan(GREETING, comment(body, BOT, id=1)) == [Update(id=1, body=BODY)]


# Edited by another account


HUGE = (10**17, 9, 1, 999)


def test_an_order_edited_by_another_account_does_not_count() -> None:
    forged = comment(shown(HUGE, "evil"), BOT, editor=EVE, id=1)
    assert plan(ordered((301, 1), "own"), forged) == [Update(id=1, body=shown((301, 1), "own"))]


@pytest.mark.parametrize("editor", [None, BOT])
def test_an_order_that_infx_wrote_counts(editor: User | None) -> None:
    current = comment(shown((302, 1), "newer"), BOT, editor=editor, id=1)
    assert plan(ordered((301, 1), "own"), current) == []


def test_the_oldest_does_not_get_the_text_of_a_forged_duplicate() -> None:
    forged = comment(shown(HUGE, "evil"), BOT, editor=EVE, id=2)
    edits = plan(ordered((301, 1)), comment(shown((300, 1)), BOT, id=1), forged)
    assert edits == [Update(id=1, body=shown((301, 1))), Delete(id=2)]


def test_an_adopted_comment_edited_by_another_account_does_not_count() -> None:
    old = replace(legacy(3, 10**17), editor=EVE)
    assert plan(ordered((300, 1)), old) == [Update(id=3, body=shown((300, 1)))]


def test_only_comments_that_claim_a_newer_run_need_their_editor() -> None:
    """A known editor needs no request either."""
    ahead, behind = comment(shown(HUGE), BOT, id=1), comment(shown((300, 1)), BOT, id=2)
    known, stranger = comment(shown(HUGE), BOT, editor=BOT, id=3), comment(shown(HUGE), EVE, id=4)
    all_of_them = [ahead, behind, known, stranger]
    assert find_ahead([ordered((301, 1)), GREETING], all_of_them, IDENTITIES) == [ahead]
    assert find_ahead([GREETING], all_of_them, IDENTITIES) == []
    assert find_ahead([replace(ordered((1,)), text=None)], all_of_them, IDENTITIES) == []
