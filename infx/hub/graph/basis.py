"""What all types of the schema consist of: fields, objects, connections and errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infx.hub.router import Call
from infx.model import UserType

Arguments = Mapping[str, Any]


class FieldError(Exception):
    """Raised if a field cannot be read: in the answer it is null, and `errors` has the message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Thing:
    """An object of a concrete type, with the hub's value for it."""

    type: str
    value: Any


@dataclass(frozen=True)
class ConnectionItems:
    """The items of a connection, each with a constant key in ascending order, for cursors."""

    items: Sequence[tuple[int, Thing]]


@dataclass(frozen=True)
class Spec:
    """A field of a type."""

    read: Callable[[Call, Any, Arguments], Any]  # from the owner's value
    of: str | None = None  # the type of the field's objects; None: a scalar
    pages: bool = False  # the field is a connection


def plain(read: Callable[[Any], Any]) -> Spec:
    return Spec(lambda call, value, arguments: read(value))


def actor(read: Callable[[Any], str | None]) -> Spec:
    return Spec(lambda call, value, arguments: find_actor(call, read(value)), "Actor")


def find_actor(call: Call, login: str | None) -> Thing | None:
    """Return an account, whose login is without `[bot]` in GraphQL, or None for a deleted account."""
    if login is None or login == "ghost":
        return None
    account = call.hub.account(login)
    name = login.removesuffix("[bot]") if account.type is UserType.BOT else login
    return Thing(account.type.value, name)


def require(call: Call, needs: str) -> None:
    if not call.allows(needs):
        raise FieldError("FORBIDDEN", "Resource not accessible by integration")
