"""A table of routes: method, path, what a token needs for it, and the function that answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from infx.hub.tokens import Token

if TYPE_CHECKING:
    from infx.hub.handling import Incoming
    from infx.hub.hub import Hub


@dataclass(kw_only=True)
class Answer:
    data: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None  # instead of JSON


CORE, GRAPHQL = "core", "graphql"  # what limits are counted by


class Refusal(Exception):  # noqa: N818 - an answer, not an error of ours
    def __init__(self, status: int, message: str, *, headers: Mapping[str, str] | None = None, **more: Any):
        super().__init__(message)
        documentation = {"documentation_url": "https://docs.github.com/rest"}
        body = {"message": message, **more, **documentation, "status": str(status)}
        self.answer = Answer(data=body, status=status, headers=dict(headers or {}))


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request as a route sees it. arguments: what the path holds, unquoted."""

    hub: Hub
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

    def number(self, name: str) -> int:
        return int(self.arguments[name])

    def text(self, name: str, *, longest: int | None = None) -> str:
        """A string of the body that must be there."""
        value = self.body.get(name) if isinstance(self.body, dict) else None
        if not isinstance(value, str) or not value:
            raise invalid(f"{name} is missing", field=name, code="missing_field")
        if longest is not None and len(value) > longest:
            raise invalid(f"{name} is too long (maximum is {longest} characters)", field=name)
        return value


def invalid(message: str, *, field: str = "data", code: str = "unprocessable", resource: str = "") -> Refusal:
    errors = [{"resource": resource, "field": field, "code": code, "message": message}]
    return Refusal(422, "Validation Failed", errors=errors)


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, kw_only=True)
class Route:
    """needs: what a token must have; None for what anybody may ask. is_limited: it counts for the rate limit."""

    method: str
    template: str
    pattern: re.Pattern[str]
    needs: str | None
    is_limited: bool
    handler: Handler


ROUTES: list[Route] = []


def route(
    method: str, template: str, *, needs: str | None, is_limited: bool = True
) -> Callable[[Handler], Handler]:
    """Register a handler. `{name}` is one part of a path, `{name:int}` a number, `{name:path}` the rest."""

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
                is_limited=is_limited,
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
    parts = [f'<{_page_url(call, target)}>; rel="{name}"' for name, target in links.items()]
    data = shown if key is None else {"total_count": len(items), key: shown}
    return Answer(data=data, headers={"Link": ", ".join(parts)} if parts else {})


def _page_url(call: Call, number: int) -> str:
    return f"{call.hub.api}{call.incoming.path}?{urlencode({**call.query, 'page': number})}"


def _bounded(text: str | None, default: int, largest: int) -> int:
    if text is None or not text.isdecimal() or int(text) < 1:
        return default
    return min(int(text), largest)
