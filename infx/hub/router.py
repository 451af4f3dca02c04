"""A table of routes: method, path, what a token needs for it, and the function that answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from infx.hub.exchange import Answer, Incoming
from infx.hub.refusal import Refused
from infx.hub.service import Service
from infx.hub.tokens import Token, TokenKind


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request as a route sees it. arguments: what the path holds, unquoted."""

    hub: Service
    token: Token | None
    incoming: Incoming
    arguments: Mapping[str, str]
    body: Any

    @property
    def query(self) -> Mapping[str, str]:
        return self.incoming.query

    @property
    def login(self) -> str:
        assert self.token is not None
        return self.token.login

    def allows(self, needs: str, role: str = "none") -> bool:
        """Whether who asks may: a person by the role, any other token by what it `needs`; nobody reads what is public."""
        if self.token is None or self.token.kind is TokenKind.USER:
            return not self.is_person_without(role)
        return self.token.allows(needs)

    def is_person_without(self, role: str) -> bool:
        """Whether a person asks whose role is less than that; other tokens are held to their permissions."""
        token = self.token
        return (
            token is not None
            and token.kind is TokenKind.USER
            and not self.hub.account(token.login).has_role(role)
        )

    def number(self, name: str) -> int:
        return int(self.arguments[name])


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, kw_only=True)
class Field:
    """What a field of a request's body may hold. choices: every text if it is empty."""

    kind: type | tuple[type, ...] = str
    is_required: bool = False
    is_nullable: bool = False
    choices: tuple[str, ...] = ()
    longest: int | None = None  # characters, or members

    def problem(self, name: str, value: Any) -> tuple[str, str] | None:
        """(GitHub's code, its words), or None if the value will do."""
        if value is None and (self.is_nullable or not self.is_required):
            return None if self.is_nullable else ("invalid", f"{name} must not be null")
        if not isinstance(value, self.kind) or (isinstance(value, bool) and self.kind is not bool):
            return "invalid", f"{name} has a wrong type"
        if self.is_required and value in ("", " ", [], {}):
            return "missing_field", f"{name} is missing"
        if self.choices and value not in self.choices:
            return "invalid", f"{name} is not included in the list"
        if self.longest is not None and isinstance(value, Sized) and len(value) > self.longest:
            return "custom", f"{name} is too long (maximum is {self.longest} characters)"
        return None


@dataclass(frozen=True, kw_only=True)
class Route:
    """needs: what a token of a workflow or an app must have; None for what anybody may ask.

    role: the least role of a person who may ask. is_limited: it counts for the rate limit.
    fields: of the body, those that are looked at; None for a body of another form, which the handler checks.
    """

    method: str
    template: str
    pattern: re.Pattern[str]
    needs: str | None
    role: str
    is_limited: bool
    resource: str
    fields: Mapping[str, Field] | None
    handler: Handler

    def check_body(self, body: Any) -> None:
        """Raises a Refused that names every field GitHub would not take."""
        if self.fields is None:
            return
        if not isinstance(body, dict | None):
            raise Refused(422, "Invalid request. The body is not an object.")
        given = body or {}
        errors = []
        for name, field_ in self.fields.items():
            if name not in given and not field_.is_required:
                continue
            problem = (
                field_.problem(name, given[name])
                if name in given
                else ("missing_field", f"{name} is missing")
            )
            if problem is not None:
                errors.append(
                    {"resource": self.resource, "field": name, "code": problem[0], "message": problem[1]}
                )
        if errors:
            raise Refused(422, "Validation Failed", errors)


ROUTES: list[Route] = []


def route(
    method: str,
    template: str,
    *,
    needs: str | None,
    role: str | None = None,
    is_limited: bool = True,
    resource: str = "",
    fields: Mapping[str, Field] | None = None,
) -> Callable[[Handler], Handler]:
    """Register a handler. `{name}` is one part of a path, `{name:int}` a number, `{name:path}` the rest.

    role: by default everybody reads, because the repository is public, and whoever may push writes.
    """

    def register(handler: Handler) -> Handler:
        kinds = {"": r"[^/]+", ":int": r"\d+", ":path": r".+"}
        pattern = re.sub(
            r"\{(\w+)(:\w+)?\}", lambda match: f"(?P<{match[1]}>{kinds[match[2] or '']})", template
        )
        ROUTES.append(
            Route(
                method=method,
                template=template,
                pattern=re.compile(pattern),
                needs=needs,
                role=role or ("none" if method == "GET" else "write"),
                is_limited=is_limited,
                resource=resource,
                fields=fields,
                handler=handler,
            )
        )
        return handler

    return register


def paginate(call: Call, items: Sequence[Any], *, key: str | None = None, render: Any = None) -> Answer:
    """One page with its `Link` header. key: where the list stands beside `total_count`."""
    size = _bounded(call.query.get("per_page"), 30, 100)
    number = _bounded(call.query.get("page"), 1, 1_000_000)
    last = max(1, -(-len(items) // size))
    part = items[(number - 1) * size : number * size]
    shown = [render(call.hub, item) if render else item for item in part]
    links: dict[str, int] = {}
    if number > 1:
        links |= {"prev": min(number - 1, last), "first": 1}
    if number < last:
        links |= {"next": number + 1, "last": last}
    url = f"{call.hub.api}{call.incoming.path}"
    parts = [
        f'<{url}?{urlencode({**call.query, "page": target})}>; rel="{name}"' for name, target in links.items()
    ]
    data = shown if key is None else {"total_count": len(items), key: shown}
    return Answer(data=data, headers={"Link": ", ".join(parts)} if parts else {})


def _bounded(text: str | None, default: int, largest: int) -> int:
    if text is None or not text.isdecimal() or int(text) < 1:
        return default
    return min(int(text), largest)
