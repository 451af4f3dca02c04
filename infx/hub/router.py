"""The table of routes: method, path, the permission that a token needs, and the handler."""

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
    """A request as a route's handler gets it."""

    hub: Service
    token: Token | None
    incoming: Incoming
    arguments: Mapping[str, str]  # the parts of the path that the template names, unquoted
    body: Any

    @property
    def query(self) -> Mapping[str, str]:
        return self.incoming.query

    @property
    def login(self) -> str:
        assert self.token is not None
        return self.token.login

    def allows(self, needs: str, role: str = "none") -> bool:
        """Return whether the request is allowed: a person needs the role, other tokens the permissions.

        A request without a token is allowed, because the repository is public.
        """
        if self.token is None or self.token.kind is TokenKind.USER:
            return not self.is_person_without(role)
        return self.token.allows(needs)

    def is_person_without(self, role: str) -> bool:
        """Return whether the token belongs to a person without this role."""
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
    """A rule for a field of a request's body."""

    kind: type | tuple[type, ...] = str
    is_required: bool = False
    is_nullable: bool = False
    choices: tuple[str, ...] = ()  # empty: every text is valid
    longest: int | None = None  # characters or items

    def find_problem(self, name: str, value: Any) -> tuple[str, str] | None:
        """Return GitHub's code and message for an invalid value, or None for a valid value."""
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
    """A route of the API."""

    method: str
    template: str
    pattern: re.Pattern[str]
    needs: str | None  # the permissions that a workflow's or app's token needs; None: no permission
    role: str  # the lowest role that a person needs
    is_limited: bool  # the request counts for the rate limit
    resource: str
    fields: Mapping[str, Field] | None  # rules for the body; None: the handler checks the body
    handler: Handler

    def check_body(self, body: Any) -> None:
        """Raise a Refused that names every invalid field."""
        if self.fields is None:
            return
        if not isinstance(body, dict | None):
            raise Refused(422, "Invalid request. The body is not an object.")
        values = body or {}
        errors = []
        for name, field_ in self.fields.items():
            if name not in values and not field_.is_required:
                continue
            problem = (
                field_.find_problem(name, values[name])
                if name in values
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
    """Register a handler.

    Args:
        template: `{name}` matches a part of a path, `{name:int}` a number, `{name:path}` the remaining path.
        role: by default no role for reads, because the repository is public, and `write` for writes.
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
    """Return a page of a list, with its `Link` header. key: of the list in a page with a `total_count`."""
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
