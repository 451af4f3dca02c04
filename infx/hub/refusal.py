"""What GitHub refuses, as the hub's methods and routes raise it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class Refused(Exception):  # noqa: N818 - a refusal is no error of ours
    """A request that GitHub would refuse, with its status and words. errors: what exactly is invalid."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = headers or {}


def refuse_pull(message: str = "", *, field: str = "base", code: str = "custom") -> Refused:
    """A pull request that GitHub would not make or change in this way."""
    about = {"field": field} if field else {}
    error = {"resource": "PullRequest", "code": code, **about, "message": message or f"{field} is invalid"}
    return Refused(422, "Validation Failed", [error])


def invalid(message: str, *, field: str = "data", code: str = "unprocessable", resource: str = "") -> Refused:
    """A field of a request that GitHub would not take."""
    errors = [{"resource": resource, "field": field, "code": code, "message": message}]
    return Refused(422, "Validation Failed", errors)
