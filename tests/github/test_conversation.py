"""Comments of three kinds by all sorts of users, and their URLs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infx.errors import UsageError
from infx.github import convert
from infx.github.conversation import parse_comment_url
from infx.github.errors import MismatchError, NotFoundError, UnexpectedReplyError
from infx.model import GHOST, CommentKind, CommentReference, ReviewState, User, UserType
from tests.github.answers import WEB, issue_comment, review, review_comment
from tests.github.scripted import play_github, refusal, reply


@pytest.mark.parametrize(
    ("data", "expected", "is_human"),
    [
        (None, GHOST, False),
        ({}, GHOST, False),
        ({"login": None}, GHOST, False),
        ({"login": "cody", "type": "User"}, User(login="cody"), True),
        ({"login": "cody"}, User(login="cody", type=UserType.BOT), False),  # no type: it may not be a person
        ({"login": "bench-bot[bot]", "type": "Bot"}, User(login="bench-bot[bot]", type=UserType.BOT), False),
        ({"login": "old", "type": "Mannequin"}, User(login="old", type=UserType.MANNEQUIN), False),
        ({"login": "acme", "type": "Organization"}, User(login="acme", type=UserType.ORGANIZATION), False),
        ({"login": "new", "type": "Robot"}, User(login="new", type=UserType.BOT), False),
        ({"login": "ghost", "type": "User"}, GHOST, False),
        ({"login": "Ghost", "type": "User"}, User(login="Ghost"), False),
    ],
)
def test_users(data: Any, expected: User, is_human: bool) -> None:
    assert convert.parse_user(data) == expected
    assert expected.is_human is is_human


def test_null_user_and_null_body_are_ordinary_comments() -> None:
    page = [
        issue_comment(1, user=None),
        issue_comment(2, body=None, user={"login": "x"}),
        issue_comment(3, body="<!-- marker -->", user={"login": "github-actions[bot]", "type": "Bot"}),
    ]
    github, _, _ = play_github([reply(data=page)])
    first, second, third = github.issue_comments(77)
    assert (first.author, first.body) == (GHOST, "hi")
    assert (second.author.login, second.body) == ("x", "")
    assert (third.author.type, third.body) == (UserType.BOT, "<!-- marker -->")


@pytest.mark.parametrize("submitted", [{}, {"submitted_at": None}])
def test_a_draft_review_is_newer_than_every_submitted_review(submitted: dict[str, Any]) -> None:
    pending = review(1, state="PENDING")
    del pending["submitted_at"]
    github, _, _ = play_github([reply(data=[{**pending, **submitted}, review(2)])])
    draft, sent = github.reviews(77)
    assert (draft.id, draft.review_state, draft.created_at > sent.created_at) == (
        1,
        ReviewState.PENDING,
        True,
    )
    assert (sent.id, sent.review_state, sent.commit_sha) == (2, ReviewState.APPROVED, "a" * 40)


def test_a_submitted_review_without_a_time_is_an_error() -> None:
    broken = review(1)
    del broken["submitted_at"]
    github, _, _ = play_github([reply(data=[broken])])
    with pytest.raises(UnexpectedReplyError):
        github.reviews(77)


def test_editors_of_comments_are_read_completely_or_not_at_all() -> None:
    """The query is repeated like a read; an incomplete answer is an error."""
    nodes = [
        {"id": "IC_1", "lastEditedAt": None, "editor": None},
        {
            "id": "IC_2",
            "lastEditedAt": "2026-11-30T12:00:00Z",
            "editor": {"__typename": "User", "login": "cody"},
        },
        {"id": "IC_3", "lastEditedAt": "2026-11-30T12:00:00Z", "editor": None},
        {"id": "IC_4", "lastEditedAt": "2026-11-30T12:00:00Z", "editor": {"__typename": "Bot", "login": "x"}},
    ]
    whole, denied = reply(data={"data": {"nodes": nodes}}), refusal(404, "Not Found")
    half = [
        reply(data={"data": {"nodes": [None]}, "errors": [{}]}),
        reply(data={"data": {"nodes": nodes[1:]}}),
        reply(data={"data": {"nodes": [None] * 4}}),
        reply(data=None),
    ]
    github, transport, _ = play_github(
        [refusal(502, "Bad Gateway"), whole, denied, whole, denied, denied, *half]
    )
    comments = [
        convert.parse_issue_comment(issue_comment(number, node_id=f"IC_{number}")) for number in (1, 2, 3, 4)
    ]
    assert github.editors(comments) == {"IC_2": "cody", "IC_3": "ghost", "IC_4": "x[bot]"}
    assert transport.sent[0].body["variables"] == {"ids": ["IC_1", "IC_2", "IC_3", "IC_4"]}
    assert github.requests.writes == 0
    assert github.editors(comments)["IC_2"] == "cody"
    for _ in range(1 + len(half)):
        with pytest.raises(UnexpectedReplyError):
            github.editors(comments)


# Three kinds of comments

REFERENCES = {
    11: (CommentKind.ISSUE, "/repos/acme/bench/issues/comments/11", issue_comment),
    12: (CommentKind.REVIEW_COMMENT, "/repos/acme/bench/pulls/comments/12", review_comment),
    13: (CommentKind.REVIEW, "/repos/acme/bench/pulls/77/reviews/13", review),
}


def reference(number: int, **more: Any) -> CommentReference:
    kind = REFERENCES[number][0]
    plain = CommentReference(repository="acme/bench", pull_number=77, kind=kind, id=number)
    return replace(plain, **more)


@pytest.mark.parametrize("number", REFERENCES)
def test_each_kind_has_its_endpoint(number: int) -> None:
    kind, path, make = REFERENCES[number]
    github, transport, _ = play_github([reply(data=make(number))])
    comment = github.comment(reference(number))
    assert (comment.id, comment.kind, comment.pull_number) == (number, kind, 77)
    assert transport.sent[0].path == path


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (11, "no comment in the conversation 11 (#issuecomment-11)"),
        (12, "no comment on a line of a file 12 (#discussion_r12)"),
        (13, "no review 13 (#pullrequestreview-13)"),
    ],
)
def test_the_error_for_a_missing_comment_names_its_kind(number: int, words: str) -> None:
    github, _, _ = play_github([refusal(404, "Not Found")])
    with pytest.raises(NotFoundError) as caught:
        github.comment(reference(number))
    assert words in caught.value.message


@pytest.mark.parametrize("number", REFERENCES)
def test_a_comment_of_another_pull_request_is_refused(number: int) -> None:
    make = REFERENCES[number][2]
    github, _, _ = play_github([reply(data=make(number, on=5))])
    with pytest.raises(MismatchError, match="belongs to pull request 5, not to 77"):
        github.comment(reference(number))


def test_a_comment_of_another_repository_needs_no_request() -> None:
    github, transport, _ = play_github([])
    with pytest.raises(MismatchError, match="belongs to eve/bench, not to acme/bench"):
        github.comment(reference(11, repository="eve/bench"))
    assert transport.sent == []


@pytest.mark.parametrize(
    ("tail", "kind"),
    [
        ("77#issuecomment-555", CommentKind.ISSUE),
        ("77#discussion_r555", CommentKind.REVIEW_COMMENT),
        ("77/files#discussion_r555", CommentKind.REVIEW_COMMENT),
        ("77#pullrequestreview-555", CommentKind.REVIEW),
    ],
)
def test_comment_urls(tail: str, kind: CommentKind) -> None:
    expected = CommentReference(repository="acme/bench", pull_number=77, kind=kind, id=555)
    assert parse_comment_url(f"{WEB}/{tail}") == expected


@pytest.mark.parametrize(
    "url",
    [
        f"{WEB}/77",
        f"{WEB}/77#issuecomment-",
        f"{WEB}/77#issuecomment-555x",
        f"{WEB}/77#issuecomment-555 ",
        f"{WEB}/77#issuecomment-555\n",
        f"{WEB}/77#issuecomment-0",
        f"{WEB}/77#issuecomment_555",
        f"{WEB}/77#discussion_r-555",
        f"{WEB}/77#pullrequestreview555",
        f"{WEB}/0#issuecomment-5",
        f"{WEB}/٧٧#issuecomment-5",
        f"{WEB}/77/../5#issuecomment-5",
        "https://github.com/acme/bench/issues/77#issuecomment-5",
        "https://github.com/acme/pull/77#issuecomment-5",
        "http://github.com/acme/bench/pull/77#issuecomment-5",
        "https://github.com.evil.example/acme/bench/pull/77#issuecomment-5",
        "https://github.com/acme/bench/pull/77?x#issuecomment-5",
        "",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is not the URL of a comment"):
        parse_comment_url(url)
