"""One request and its reply, as values that know nothing of the library that carries them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from infx.phrases import count

GRAPHQL = "/graphql"  # infx only asks there


@dataclass(frozen=True, kw_only=True)
class Request:
    """path: from the root of the API, such as `/repos/acme/bench/pulls/77`, already quoted."""

    verb: str
    path: str
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    body: Any = None

    @property
    def is_read(self) -> bool:
        return self.verb == "GET" or self.path == GRAPHQL

    def __str__(self) -> str:
        return f"{self.verb} {self.path}"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """headers: names in lower case. data: the parsed JSON, None for an empty body."""

    status: int
    headers: Mapping[str, str]
    data: Any


class Transport(Protocol):
    """Carries one request, once. Raises ConnectionError if no whole reply came back."""

    def send(self, request: Request) -> Reply: ...

    def fetch(self, url: str) -> Iterator[bytes]:
        """The bytes behind a link to a file store, piece by piece; without our token."""
        ...


@dataclass(kw_only=True)
class RequestCount:
    """What a command has sent so far; every attempt counts, as it does for GitHub's limits."""

    reads: int = 0
    writes: int = 0
    points: int = 0  # of GraphQL, which has a limit of its own
    remaining: int | None = None  # requests of the hour, as GitHub last said
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
