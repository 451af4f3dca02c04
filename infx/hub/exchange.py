"""Requests and answers as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from infx.hub.faults import FaultKind
from infx.hub.refusal import Refused

CORE, GRAPHQL = "core", "graphql"  # GitHub counts each of these resources separately for its rate limits


@dataclass(frozen=True, kw_only=True)
class Incoming:
    method: str
    path: str
    query: Mapping[str, str]
    raw: bytes
    headers: Mapping[str, str]  # names in lower case


@dataclass(kw_only=True)
class Answer:
    data: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None  # instead of JSON


def answer_refusal(refused: Refused) -> Answer:
    """Return GitHub's answer for a refusal."""
    errors = {"errors": list(refused.errors)} if refused.errors else {}
    about = {"documentation_url": "https://docs.github.com/rest", "status": str(refused.status)}
    body = {"message": refused.message, **errors, **about}
    return Answer(data=body, status=refused.status, headers=dict(refused.headers))


@dataclass(kw_only=True)
class Exchange:
    """A request and its answer, as tests see them."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any = None
    template: str | None = None
    login: str | None = None
    status: int | None = None  # None: the connection was cut
    reply: Any = None
    reply_headers: Mapping[str, str] | None = None
    fault: FaultKind | None = None

    @property
    def is_query(self) -> bool:
        """Return whether this is a GraphQL query, not a mutation."""
        text = self.body.get("query") if isinstance(self.body, dict) else None
        return self.path == "/graphql" and not str(text).lstrip().startswith("mutation")

    @property
    def is_write(self) -> bool:
        return self.method != "GET" and not self.is_query
