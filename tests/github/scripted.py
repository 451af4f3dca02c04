"""A transport that plays a script, and a clock that only moves when the code sleeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from infx.github.api import GitHub
from infx.github.connection import BUDGET, Connection
from infx.github.exchange import Reply, Request

NOW = 1_796_000_000.0


def reply(status: int = 200, data: Any = None, **headers: str) -> Reply:
    """Return a reply; header names are written with `_` for `-`."""
    return Reply(
        status=status, headers={name.replace("_", "-"): value for name, value in headers.items()}, data=data
    )


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status=status, headers=headers or {}, data={"message": message})


LOST = ConnectionError("connection reset")


@dataclass
class Clock:
    now: float = NOW
    waits: list[float] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


@dataclass
class Scripted:
    """A transport that answers with the next line of its script: a reply, or an exception to raise."""

    script: Iterator[Reply | Exception]
    sent: list[Request] = field(default_factory=list)

    def send(self, request: Request) -> Reply:
        self.sent.append(request)
        line = next(self.script)
        if isinstance(line, Exception):
            raise line
        return line

    def fetch(self, url: str) -> Iterator[bytes]:
        line = next(self.script)
        if isinstance(line, Exception):
            raise line
        yield from line.data


def play(
    script: Iterable[Reply | Exception], *, budget: float = BUDGET
) -> tuple[Connection, Scripted, Clock]:
    transport, clock = Scripted(iter(script)), Clock()
    return (
        Connection(transport, clock=clock.time, sleep=clock.sleep, budget=budget),
        transport,
        clock,
    )


def play_github(script: Iterable[Reply | Exception]) -> tuple[GitHub, Scripted, Clock]:
    connection, transport, clock = play(script)
    return GitHub(connection, "acme/bench"), transport, clock
