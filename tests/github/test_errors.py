"""Refusals become errors: the kinds of 403, how long to wait, which permission is missing."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import formatdate

import pytest

from infx.github import errors
from infx.github.errors import explain
from infx.github.exchange import Reply, Request
from tests.github.scripted import NOW

READ = Request(verb="GET", path="/repos/acme/bench/pulls/77")
WRITE = Request(verb="POST", path="/repos/acme/bench/issues/77/comments")


def refuse(
    status: int, message: str, headers: Mapping[str, str] | None = None, request: Request = WRITE
) -> errors.GitHubError:
    reply = Reply(status=status, headers=headers or {}, data={"message": message})
    return explain(request, reply, now=NOW)


def http_date(seconds: float) -> str:
    return formatdate(NOW + seconds, usegmt=True)


SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
PRIMARY = "API rate limit exceeded for installation ID 1."
DENIED = "Resource not accessible by integration"


@pytest.mark.parametrize(
    ("status", "message", "headers", "wait"),
    [
        # wait until the reset, by GitHub's clock if the reply has its time
        (403, PRIMARY, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{NOW + 90:.0f}"}, 90),
        (429, PRIMARY, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{NOW + 90:.0f}"}, 90),
        (403, "Forbidden", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{NOW + 90:.0f}"}, 90),
        (403, PRIMARY, {"x-ratelimit-reset": f"{NOW - 5:.0f}"}, 0),
        (403, PRIMARY, {"x-ratelimit-reset": f"{NOW + 90:.0f}", "date": http_date(-30)}, 120),
        (403, PRIMARY, {"x-ratelimit-reset": "soon"}, None),
        (403, PRIMARY, {}, None),
    ],
)
def test_primary_limit(status: int, message: str, headers: dict[str, str], wait: float | None) -> None:
    error = refuse(status, message, headers)
    assert isinstance(error, errors.PrimaryLimitError)
    assert error.wait == wait
    assert error.exit_code == 3


@pytest.mark.parametrize(
    ("status", "message", "headers", "wait"),
    [
        (403, SECONDARY, {"retry-after": "120"}, 120),
        (403, SECONDARY, {"retry-after": http_date(120), "date": http_date(0)}, 120),
        (403, SECONDARY, {"retry-after": http_date(120), "date": http_date(-60)}, 180),
        (403, SECONDARY, {"retry-after": http_date(-120)}, 0),
        (403, SECONDARY, {"retry-after": "0"}, 0),
        (403, SECONDARY, {"retry-after": "tomorrow"}, None),
        (403, SECONDARY, {}, None),
        # the words decide, also when the hour is used up at the same time
        (403, SECONDARY, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{NOW + 33:.0f}"}, 33),
        (403, "You have triggered an abuse detection mechanism.", {"retry-after": "7"}, 7),
        (403, "Slow down", {"retry-after": "7"}, 7),
        (429, "Too many requests", {"retry-after": "7"}, 7),
        (422, "Validation Failed; was submitted too quickly", {}, None),
        (429, "Too many requests", {}, None),
    ],
)
def test_secondary_limit(status: int, message: str, headers: dict[str, str], wait: float | None) -> None:
    error = refuse(status, message, headers)
    assert isinstance(error, errors.SecondaryLimitError)
    assert error.wait == wait


ACCEPTED = "x-accepted-github-permissions"


@pytest.mark.parametrize(
    ("request_", "message", "headers", "permission"),
    [
        (
            WRITE,
            DENIED,
            {ACCEPTED: "issues=write; pull_requests=write"},
            "issues: write or pull-requests: write",
        ),
        (WRITE, DENIED, {ACCEPTED: "contents=write,workflows=write"}, "contents: write and workflows: write"),
        (WRITE, DENIED, {}, "pull-requests: write"),
        (READ, DENIED, {}, "pull-requests: read"),
        (
            Request(verb="POST", path="/repos/acme/bench/statuses/abc"),
            DENIED,
            {},
            "statuses: write",
        ),
        (Request(verb="GET", path="/repos/acme/bench/actions/runs"), DENIED, {}, "actions: read"),
        (Request(verb="GET", path="/repos/acme/bench/pulls"), DENIED, {}, "pull-requests: read"),
        (Request(verb="GET", path="/repos/acme/bench/commits/abc/statuses"), DENIED, {}, "statuses: read"),
        (Request(verb="GET", path="/repos/acme/bench/compare/a...b"), DENIED, {}, "contents: read"),
        (Request(verb="GET", path="/rate_limit"), DENIED, {}, None),
        (WRITE, "Must have admin rights", {"x-accepted-oauth-scopes": "repo"}, "one of the scopes repo"),
        # the last request of the hour was refused for another reason
        (
            WRITE,
            DENIED,
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{NOW + 9:.0f}"},
            "pull-requests: write",
        ),
        (
            WRITE,
            "No.",
            {"x-ratelimit-remaining": "0", ACCEPTED: "issues=write"},
            "issues: write",
        ),
    ],
)
def test_missing_permission(
    request_: Request, message: str, headers: dict[str, str], permission: str | None
) -> None:
    error = refuse(403, message, headers, request_)
    assert isinstance(error, errors.PermissionDeniedError)
    assert error.permission == permission
    if permission:
        assert permission in error.message
        assert permission in (error.hint or "")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.BadCredentialsError),
        (404, errors.NotFoundError),
        (410, errors.NotFoundError),
        (405, errors.ConflictError),
        (409, errors.ConflictError),
        (400, errors.ValidationError),
        (422, errors.ValidationError),
        (500, errors.ServerError),
        (502, errors.ServerError),
        (418, errors.UnexpectedReplyError),
    ],
)
def test_other_refusals(status: int, kind: type[errors.GitHubError]) -> None:
    error = refuse(status, "Some reason.")
    assert type(error) is kind
    assert error.status == status
    assert "Some reason." in error.message
    assert "POST /repos/acme/bench/issues/77/comments" in error.message or status == 401


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"message": "Validation Failed", "errors": [{"message": "Body is too long"}]}, "Body is too long"),
        (
            {"message": "Validation Failed", "errors": [{"resource": "Label", "field": "name", "code": "x"}]},
            "Label name x",
        ),
        ({"message": "Validation Failed", "errors": ["just words"]}, "just words"),
        ({"message": None}, "no reason given"),
        ("<html>Unicorn!</html>", "no reason given"),
        (None, "no reason given"),
        ({"message": "two\nlines\r\n::error::x"}, "two lines ::error::x"),
    ],
)
def test_reasons_are_on_one_line(data: object, words: str) -> None:
    error = explain(WRITE, Reply(status=422, headers={}, data=data), now=NOW)
    assert words in error.message
    assert "\n" not in error.message


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("Unable to create comment because issue is locked.", "Unlock the conversation"),
        ("Repository was archived so is read-only.", "Unarchive the repository"),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"x-ratelimit-remaining": "0"}])
def test_a_locked_target_is_not_a_missing_permission(
    message: str, advice: str, headers: dict[str, str]
) -> None:
    error = refuse(403, message, headers)
    assert isinstance(error, errors.LockedError)
    assert error.permission is None
    assert advice in (error.hint or "")
