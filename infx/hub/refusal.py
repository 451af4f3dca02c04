"""Refusals, as the hub's methods and routes raise them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class Refused(Exception):  # noqa: N818 - a refusal is not an error of the hub
    """Raised for a request that GitHub would refuse.

    Attributes:
        errors: the invalid fields, in GitHub's form.
    """

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
    """Return the refusal of a pull request that GitHub would not create or change like this."""
    about = {"field": field} if field else {}
    error = {"resource": "PullRequest", "code": code, **about, "message": message or f"{field} is invalid"}
    return Refused(422, "Validation Failed", [error])


def refuse_field(
    message: str, *, field: str = "data", code: str = "unprocessable", resource: str = ""
) -> Refused:
    """Return the refusal of a request with an invalid field."""
    errors = [{"resource": resource, "field": field, "code": code, "message": message}]
    return Refused(422, "Validation Failed", errors)
