"""What GitHub's refusals mean: one class for each thing a caller may do about it.

A 403 has five meanings (GitHub's "Best practices" and "Rate limits" pages, and people's reports): a permission that
the token lacks, the primary limit, the secondary limit, rules of the organization, and something that nobody may
write to at present. They are told apart here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from infx.errors import UnavailableError
from infx.github.exchange import Reply, Request


class GitHubError(UnavailableError):
    """GitHub did not do what it was asked. status: HTTP status, None without a reply. is_final: nobody waits for it any
    more.
    """

    is_final = False

    def __init__(
        self, message: str, *, status: int | None = None, hint: str | None = None, where: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, where=where)
        self.status = status


class UnreachableError(GitHubError):
    """No reply: no connection, a time-out, or a connection that was cut."""


class ServerError(GitHubError):
    """GitHub answered 5xx, or its file store is too busy. wait: seconds, if it named any."""

    def __init__(self, message: str, *, status: int, wait: float | None = None) -> None:
        super().__init__(message, status=status)
        self.wait = wait


class BadCredentialsError(GitHubError):
    """401: no token, or one that GitHub does not accept."""


class PermissionDeniedError(GitHubError):
    """403: the token lacks a permission. permission: as a workflow spells it, None if nothing is known."""

    def __init__(self, message: str, *, permission: str | None, hint: str | None = None) -> None:
        super().__init__(message, status=403, hint=hint)
        self.permission = permission


class LockedError(PermissionDeniedError):
    """403 whatever the token may do: the conversation is locked, or the repository is archived."""


class RateLimitError(GitHubError):
    """GitHub asks to wait. wait: seconds that it named or that its documentation asks for."""

    def __init__(self, message: str, *, status: int, wait: float | None, hint: str | None = None) -> None:
        super().__init__(message, status=status, hint=hint)
        self.wait = wait


class PrimaryLimitError(RateLimitError):
    """The requests of this hour are used up."""


class SecondaryLimitError(RateLimitError):
    """Too many requests at once; `wait` is None if GitHub named no time."""


class NotFoundError(GitHubError):
    """404: not there, or not visible to this token; GitHub does not say which."""


class ConflictError(GitHubError):
    """409 or 405: the state is no longer what the request was made for, such as a head that moved."""


class ValidationError(GitHubError):
    """422: GitHub understood the request and refuses its content."""


class UnknownOutcomeError(GitHubError):
    """A write may or may not have happened. Look before you write again."""


class IncompleteListError(GitHubError):
    """GitHub delivered fewer items than it says there are; nothing may be decided from such a list."""


class UnexpectedReplyError(GitHubError):
    """The reply is not what GitHub's description of its API says."""


class MismatchError(GitHubError):
    """A thing exists, but it is of another kind or belongs to something else: a refusal, GitHub did answer."""

    exit_code = 1


_PERMISSION_WORDS = ("not accessible by", "must have", "protected by organization saml", "not permitted")
_LOCKED = {
    "is locked": "Unlock the conversation, or leave it: nothing is wrong with the token.",
    "was archived": "An archived repository only reads; unarchive it first.",
}
_USED_UP = {"RATE_LIMITED", "RATE_LIMIT"}  # both have been seen
_SECONDARY_WORDS = ("secondary rate limit", "abuse detection", "please wait a few minutes")
_DEFAULT_PERMISSIONS = (  # where GitHub sends no header; the first that is found in the path counts
    (r"/actions(/|$)", "actions"),
    (r"/statuses(/|$)", "statuses"),
    (r"/(issues|pulls)(/|$)", "pull-requests"),
    (r"/(commits|compare|contents|git)(/|$)", "contents"),
)


def explain(request: Request, reply: Reply, *, now: float) -> GitHubError:
    """The error that a reply of 400 and above means. now: our clock, for replies without a `Date`."""
    said, status = _message(reply.data), reply.status
    match status:
        case 401:
            hint = "Set GH_TOKEN or GITHUB_TOKEN."
            return BadCredentialsError(f"GitHub asks for a valid token: {said}.", status=401, hint=hint)
        case 403 | 429:
            return _explain_refusal(request, reply, said, now)
        case 404 | 410:
            hint = "A token without access to a private repository gets the same answer."
            return NotFoundError(f"GitHub found nothing at {request}: {said}.", status=status, hint=hint)
        case 405 | 409:
            return ConflictError(f"GitHub refuses {request}: {said}.", status=status)
        case 422 if "submitted too quickly" in said:
            return _secondary(request, reply, said, now)
        case 400 | 413 | 414 | 422:
            return ValidationError(f"GitHub refuses {request} as invalid: {said}.", status=status)
        case _ if status >= 500:
            wait = retry_after(reply.headers, now)
            return ServerError(f"GitHub failed with {status} at {request}: {said}.", status=status, wait=wait)
    return UnexpectedReplyError(f"GitHub answered {status} to {request}: {said}.", status=status)


def _explain_refusal(request: Request, reply: Reply, said: str, now: float) -> GitHubError:
    low, headers = said.lower(), reply.headers
    if (locked := next((words for words in _LOCKED if words in low), None)) is not None:
        return LockedError(f"GitHub refuses {request}: {said}.", permission=None, hint=_LOCKED[locked])
    if any(word in low for word in _SECONDARY_WORDS):
        return _secondary(request, reply, said, now)
    if low.startswith("api rate limit exceeded") or _is_used_up(headers, low):
        wait = _seconds_to_reset(headers, now)
        message = f"The API rate limit of this token is used up at {request}: {said}."
        return PrimaryLimitError(message, status=reply.status, wait=wait)
    if reply.status == 429 or "retry-after" in headers:
        return _secondary(request, reply, said, now)
    permission = _missing_permission(request, headers)
    hint = f"Give the token `{permission}`." if permission else "Check what the token may do."
    needs = f"; it needs {permission}" if permission else ""
    return PermissionDeniedError(
        f"The token may not {request}{needs}: {said}.", permission=permission, hint=hint
    )


def explain_answer(request: Request, reply: Reply, *, now: float) -> GitHubError | None:
    """The error that a whole answer of GraphQL means: it refuses with status 200. None: whatever is wrong with it is
    wrong at a place that it names.
    """
    data = reply.data
    if not isinstance(data, dict) or not isinstance(data.get("errors", []), list):
        return UnexpectedReplyError(f"GitHub answered {request} with something that is no answer to a query.")
    errors = [error if isinstance(error, dict) else {} for error in data.get("errors", ())]
    kinds, said = {error.get("type") for error in errors}, _message({**data, "message": "GraphQL"})
    if kinds & _USED_UP:
        wait = _seconds_to_reset(reply.headers, now)
        message = f"The GraphQL limit of this token is used up: {said}."
        return PrimaryLimitError(message, status=reply.status, wait=wait)
    if not isinstance(data.get("data"), dict) or not all(error.get("path") for error in errors):
        return UnexpectedReplyError(f"GitHub refuses a GraphQL query: {said}.", status=reply.status)
    return None


def _is_used_up(headers: Mapping[str, str], low: str) -> bool:
    """A permission error on the last request of the hour carries a remaining 0 too: the words decide first."""
    if headers.get("x-ratelimit-remaining") != "0" or "x-accepted-github-permissions" in headers:
        return False
    return not any(word in low for word in _PERMISSION_WORDS)


def _secondary(request: Request, reply: Reply, said: str, now: float) -> SecondaryLimitError:
    wait = retry_after(reply.headers, now)
    if wait is None and reply.headers.get("x-ratelimit-remaining") == "0":
        wait = _seconds_to_reset(reply.headers, now)
    message = f"GitHub asks to slow down at {request}: {said}."
    return SecondaryLimitError(message, status=reply.status, wait=wait)


def _missing_permission(request: Request, headers: Mapping[str, str]) -> str | None:
    """`issues=write; pull_requests=write` are alternatives; `a=read, b=write` are needed together."""
    if accepted := headers.get("x-accepted-github-permissions", "").strip():
        alternatives = [
            " and ".join(
                part.strip().replace("=", ": ").replace("_", "-")
                for part in choice.split(",")
                if part.strip()
            )
            for choice in accepted.split(";")
        ]
        return " or ".join(alternatives)
    if scopes := headers.get("x-accepted-oauth-scopes", "").strip():
        return f"one of the scopes {scopes}"
    access = "read" if request.is_read else "write"
    scope = next((scope for pattern, scope in _DEFAULT_PERMISSIONS if re.search(pattern, request.path)), None)
    return f"{scope}: {access}" if scope else None


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds of `Retry-After`, which may be a number or an HTTP date; never negative, None without one."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    moment = _http_date(value)
    return None if moment is None else max(0.0, moment - server_now(headers, now))


def _seconds_to_reset(headers: Mapping[str, str], now: float) -> float | None:
    """GitHub sends both headers at times; `Retry-After` is the one its documentation puts first."""
    wait = retry_after(headers, now)
    value = headers.get("x-ratelimit-reset", "").strip()
    if wait is not None or not re.fullmatch(r"\d+(\.\d+)?", value):
        return wait
    return max(0.0, float(value) - server_now(headers, now))


def server_now(headers: Mapping[str, str], now: float) -> float:
    """GitHub's own clock where it tells it, so that a machine whose clock is wrong waits no shorter than told."""
    told = _http_date(headers.get("date", ""))
    return now if told is None else told


def _http_date(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _message(body: Any) -> str:
    """GitHub's words on one line: the message and the reasons below it."""
    if not isinstance(body, dict):
        return "no reason given"
    parts = [str(body.get("message") or "no reason given")]
    for error in body.get("errors") or ():
        if isinstance(error, dict):
            words = error.get("message") or " ".join(
                str(error[key]) for key in ("resource", "field", "code") if error.get(key)
            )
        else:
            words = str(error)
        parts.append(str(words))
    return " ".join("; ".join(dict.fromkeys(parts)).split()).rstrip(".")[:500]
