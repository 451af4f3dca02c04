"""Turn GitHub's refusals into errors, with one class for each thing that a caller may do about a refusal.

A 403 has five meanings (GitHub's "Best practices" and "Rate limits" pages, and people's reports): the token
lacks a permission, the primary limit is used up, the secondary limit asks to slow down, a rule of the
organization forbids the request, or the target is locked or archived. Only this module distinguishes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from infx.errors import UnavailableError
from infx.github.exchange import Reply, Request

LOOK_FIRST = "Check on GitHub whether it was done, then run the command again."


class GitHubError(UnavailableError):
    """Raised when GitHub did not do what infx asked.

    Attributes:
        status: HTTP status, None without a reply.
        is_final: waiting does not help, or infx has waited as long as it may.
    """

    is_final = False

    def __init__(
        self, message: str, *, status: int | None = None, hint: str | None = None, where: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, where=where)
        self.status = status


class UnreachableError(GitHubError):
    """Raised when no reply came: no connection, a timeout, or a connection that was cut."""


class ServerError(GitHubError):
    """Raised when GitHub answered 5xx, or its file store is too busy.

    Attributes:
        wait: seconds that GitHub asks to wait, if it does.
    """

    def __init__(self, message: str, *, status: int, wait: float | None = None) -> None:
        super().__init__(message, status=status)
        self.wait = wait


class BadCredentialsError(GitHubError):
    """Raised for 401: there is no token, or GitHub does not accept it."""


class PermissionDeniedError(GitHubError):
    """Raised for 403 if the token lacks a permission.

    Attributes:
        permission: the missing permission as a workflow spells it, None if it is unknown.
    """

    def __init__(self, message: str, *, permission: str | None, hint: str | None = None) -> None:
        super().__init__(message, status=403, hint=hint)
        self.permission = permission


class LockedError(PermissionDeniedError):
    """Raised for 403 if the conversation is locked or the repository is archived."""


class RateLimitError(GitHubError):
    """Raised when GitHub asks to wait.

    Attributes:
        wait: seconds that GitHub asks to wait, None if its reply names no time.
    """

    def __init__(self, message: str, *, status: int, wait: float | None, hint: str | None = None) -> None:
        super().__init__(message, status=status, hint=hint)
        self.wait = wait


class PrimaryLimitError(RateLimitError):
    """Raised when the requests of this hour are used up."""


class SecondaryLimitError(RateLimitError):
    """Raised after too many requests at once."""


class NotFoundError(GitHubError):
    """Raised for 404: the thing does not exist, or this token may not see it; GitHub does not say which."""


class ConflictError(GitHubError):
    """Raised for 409 or 405: the state has changed since the request was made, such as a head that moved."""


class ValidationError(GitHubError):
    """Raised for 422: GitHub understood the request and refuses its content."""


class UnknownOutcomeError(GitHubError):
    """Raised when a write may or may not have happened. Look before you write again."""


class IncompleteListError(GitHubError):
    """Raised when a list has fewer items than GitHub reports; nothing may be decided from such a list."""


class UnexpectedReplyError(GitHubError):
    """Raised when a reply does not match GitHub's description of its API."""


class MismatchError(GitHubError):
    """Raised when a thing exists, but is of another kind or belongs to something else."""

    exit_code = 1  # a refusal: GitHub did answer


_PERMISSION_WORDS = ("not accessible by", "must have", "protected by organization saml", "not permitted")
_LOCKED = {
    "is locked": "Unlock the conversation. The token is not the cause.",
    "was archived": "Unarchive the repository first; an archived repository is read-only.",
}
_USED_UP = {"RATE_LIMITED", "RATE_LIMIT"}  # both have been seen
_SECONDARY_WORDS = ("secondary rate limit", "abuse detection", "please wait a few minutes")
_DEFAULT_PERMISSIONS = (  # for replies without a header; the first pattern that is found in the path counts
    (r"/actions(/|$)", "actions"),
    (r"/statuses(/|$)", "statuses"),
    (r"/(issues|pulls)(/|$)", "pull-requests"),
    (r"/(commits|compare|contents|git)(/|$)", "contents"),
)


def explain(request: Request, reply: Reply, *, now: float) -> GitHubError:
    """Return the error for a reply of status 400 or above. now: local time, for replies without a `Date`."""
    reason, status = _render_message(reply.data), reply.status
    match status:
        case 401:
            hint = "Set GH_TOKEN or GITHUB_TOKEN."
            return BadCredentialsError(f"GitHub asks for a valid token: {reason}.", status=401, hint=hint)
        case 403 | 429:
            return _explain_refusal(request, reply, reason, now)
        case 404 | 410:
            hint = "Check the name, and whether the token may see the repository."
            return NotFoundError(f"GitHub found nothing at {request}: {reason}.", status=status, hint=hint)
        case 405 | 409:
            return ConflictError(f"GitHub refuses {request}: {reason}.", status=status)
        case 422 if "submitted too quickly" in reason:
            return _explain_secondary(request, reply, reason, now)
        case 400 | 413 | 414 | 422:
            return ValidationError(f"GitHub refuses {request} as invalid: {reason}.", status=status)
        case _ if status >= 500:
            wait = parse_retry_after(reply.headers, now)
            return ServerError(
                f"GitHub failed with {status} at {request}: {reason}.", status=status, wait=wait
            )
    return UnexpectedReplyError(f"GitHub answered {status} to {request}: {reason}.", status=status)


def _explain_refusal(request: Request, reply: Reply, reason: str, now: float) -> GitHubError:
    low, headers = reason.lower(), reply.headers
    if (locked := next((words for words in _LOCKED if words in low), None)) is not None:
        return LockedError(f"GitHub refuses {request}: {reason}.", permission=None, hint=_LOCKED[locked])
    if any(word in low for word in _SECONDARY_WORDS):
        return _explain_secondary(request, reply, reason, now)
    if low.startswith("api rate limit exceeded") or _is_used_up(headers, low):
        wait = _parse_reset(headers, now)
        message = f"The API rate limit of this token is used up at {request}: {reason}."
        return PrimaryLimitError(message, status=reply.status, wait=wait)
    if reply.status == 429 or "retry-after" in headers:
        return _explain_secondary(request, reply, reason, now)
    permission = _find_missing_permission(request, headers)
    hint = f"Give the token `{permission}`." if permission else "Check the token's permissions."
    needs = f"; it needs {permission}" if permission else ""
    return PermissionDeniedError(
        f"The token may not {request}{needs}: {reason}.", permission=permission, hint=hint
    )


def explain_answer(request: Request, reply: Reply, *, now: float) -> GitHubError | None:
    """Return the error of a GraphQL answer of status 200, or None if it has data and all errors a path."""
    data = reply.data
    if not isinstance(data, dict) or not isinstance(data.get("errors", []), list):
        return UnexpectedReplyError(f"GitHub's reply to {request} is not a valid GraphQL answer.")
    errors = [error if isinstance(error, dict) else {} for error in data.get("errors", ())]
    kinds, reason = {error.get("type") for error in errors}, _render_message({**data, "message": "GraphQL"})
    if kinds & _USED_UP:
        wait = _parse_reset(reply.headers, now)
        message = f"The GraphQL limit of this token is used up: {reason}."
        return PrimaryLimitError(message, status=reply.status, wait=wait)
    if not isinstance(data.get("data"), dict) or not all(error.get("path") for error in errors):
        return UnexpectedReplyError(f"GitHub refuses a GraphQL query: {reason}.", status=reply.status)
    return None


def get_mutated(request: Request, reply: Reply, *, now: float) -> Any:
    """Return the `data` of a mutation's answer. Raise the refusal as the error that REST would have.

    An answer that cannot be read raises UnknownOutcomeError, because the mutation may have happened.
    """
    if not isinstance(reply.data, dict):
        words = f"The outcome of {request} is unknown: the reply is not a valid GraphQL answer."
        raise UnknownOutcomeError(words, status=reply.status, hint=LOOK_FIRST)
    error = explain_answer(request, reply, now=now)
    errors = reply.data.get("errors") or ()
    if isinstance(error, RateLimitError):
        raise error
    if error is None and not errors:
        return reply.data["data"]
    kinds = {item.get("type") for item in errors if isinstance(item, dict)}
    reason = _render_message({**reply.data, "message": "GraphQL"})
    if kinds & {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
        raise PermissionDeniedError(f"The token may not do this: {reason}.", permission=None)
    raise ConflictError(f"GitHub refuses: {reason}.", status=reply.status)


def _is_used_up(headers: Mapping[str, str], low: str) -> bool:
    """Return whether the hour's requests are used up."""
    # a permission error on the hour's last request has a remaining 0 too, so its words decide first
    if headers.get("x-ratelimit-remaining") != "0" or "x-accepted-github-permissions" in headers:
        return False
    return not any(word in low for word in _PERMISSION_WORDS)


def _explain_secondary(request: Request, reply: Reply, reason: str, now: float) -> SecondaryLimitError:
    wait = parse_retry_after(reply.headers, now)
    if wait is None and reply.headers.get("x-ratelimit-remaining") == "0":
        wait = _parse_reset(reply.headers, now)
    message = f"GitHub asks to slow down at {request}: {reason}."
    return SecondaryLimitError(message, status=reply.status, wait=wait)


def _find_missing_permission(request: Request, headers: Mapping[str, str]) -> str | None:
    """Return the permission or scope that the token lacks, from the reply's headers or else from the path."""
    if accepted := headers.get("x-accepted-github-permissions", "").strip():
        # `issues=write; pull_requests=write` are alternatives; `a=read, b=write` are needed together
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


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds of `Retry-After`, a number or an HTTP date, or None without the header."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    moment = _parse_http_date(value)
    return None if moment is None else max(0.0, moment - get_server_time(headers, now))


def _parse_reset(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds until the rate limit resets, None if no header says so."""
    wait = parse_retry_after(
        headers, now
    )  # GitHub may send both headers; its documentation puts this one first
    value = headers.get("x-ratelimit-reset", "").strip()
    if wait is not None or not re.fullmatch(r"\d+(\.\d+)?", value):
        return wait
    return max(0.0, float(value) - get_server_time(headers, now))


def get_server_time(headers: Mapping[str, str], now: float) -> float:
    """Return the time of GitHub's `Date` header, else `now`: a wrong local clock must not shorten a wait."""
    server_time = _parse_http_date(headers.get("date", ""))
    return now if server_time is None else server_time


def _parse_http_date(value: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _render_message(body: Any) -> str:
    """Return GitHub's message and its list of errors, on one line."""
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
