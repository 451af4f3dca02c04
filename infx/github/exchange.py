"""Requests, replies and their count, independent of the HTTP library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from infx.phrases import count
from infx.records import record

GRAPHQL = "/graphql"


@record
class Request:
    """A request to GitHub's API."""

    verb: str
    path: str  # from the root of the API, such as `/repos/acme/bench/pulls/77`, already quoted
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    body: Any = None
    is_mutation: bool = False  # of GraphQL

    @property
    def is_read(self) -> bool:
        return self.verb == "GET" or (self.path == GRAPHQL and not self.is_mutation)

    def __str__(self) -> str:
        return f"{self.verb} {self.path}"


@record
class Reply:
    """A reply of GitHub's API."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    data: Any  # the parsed JSON, None for an empty body


class Transport(Protocol):
    """A carrier that sends each request once. Raises ConnectionError if no complete reply came back."""

    def send(self, request: Request) -> Reply: ...

    def fetch(self, url: str) -> Iterator[bytes]:
        """Download a file from a link to a file store, piece by piece, without the token."""
        ...


@dataclass(kw_only=True)
class RequestCount:
    """The requests that a command has sent so far. Every attempt counts, as for GitHub's limits."""

    reads: int = 0
    writes: int = 0
    points: int = 0  # of GraphQL, which has a separate limit
    remaining: int | None = None  # requests left in this hour, by GitHub's newest reply
    waited: float = 0.0  # seconds

    @property
    def total(self) -> int:
        return self.reads + self.writes

    def add(self, request: Request) -> None:
        if request.is_read:
            self.reads += 1
        else:
            self.writes += 1

    def __str__(self) -> str:
        waited = f", waited {self.waited:.0f} s" if self.waited else ""
        points = f", GraphQL points {self.points}" if self.points else ""
        return f"{count(self.total, 'request')} (reads {self.reads}, writes {self.writes}{points}{waited})"
