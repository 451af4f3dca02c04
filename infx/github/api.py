"""`GitHub`: every request that infx can make about one repository, as typed methods.

A capability does not take this class: it names the few methods that it needs in a Protocol of its own, which this
class then fulfils.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

from infx.errors import UsageError
from infx.github.connection import BUDGET, Connection
from infx.github.errors import NotFoundError
from infx.github.exchange import RequestCount
from infx.github.overview import Overviews
from infx.github.workflows import Workflows

_S = TypeVar("_S")
_T = TypeVar("_T")

API_URL = "https://api.github.com"


class GitHub(Overviews, Workflows):
    """One repository, seen through one connection.

    Every method reads to the end or raises a child of GitHubError (`infx.github.errors`). Reads repeat themselves
    as `connection.py` says. Writes go out once; if their outcome is unknown they raise UnknownOutcomeError, and
    `write_then_look` is the way on.
    """

    @property
    def requests(self) -> RequestCount:
        return self.connection.count

    def now(self) -> datetime:
        """GitHub's clock at its newest reply."""
        return self.connection.now()

    def ask_time(self) -> datetime:
        """GitHub's clock, by a request that counts for no limit; a server without limits answers 404 to it."""
        with contextlib.suppress(NotFoundError):
            self.connection.read("/rate_limit")
        return self.now()

    def pause(self, seconds: float) -> None:
        """Wait for something that GitHub or another run still has to do."""
        self.connection.pause(seconds)

    def at(self, repository: str) -> GitHub:
        """Another repository, through the same connection and count."""
        return GitHub(self.connection, repository)

    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T:
        """Write until it is known to be done; `look` finds the result of a write whose outcome is unknown."""
        return self.connection.write_then_look(write, look)

    def look_then_write(self, look: Callable[[], _S], write: Callable[[_S], _T]) -> _T:
        """Write what follows from a look; after a rate limit both again."""
        return self.connection.look_then_write(look, write)


def connect(
    repository: str,
    *,
    environ: Mapping[str, str] = os.environ,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
    budget: float = BUDGET,
) -> GitHub:
    """GitHub at GITHUB_API_URL with the token of GH_TOKEN or GITHUB_TOKEN; without either, as nobody.

    Raises UsageError if a variable is set and empty: a job that lost its token should say so, not read as nobody.
    """
    from infx.github.transport import PyGithubTransport

    token = read_token(environ)
    url = environ.get("GITHUB_API_URL") or API_URL
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"GITHUB_API_URL is {url!r}, which is not an http address.")
    transport = PyGithubTransport(base_url=url.rstrip("/"), token=token)
    return GitHub(Connection(transport, clock=clock, sleep=sleep, budget=budget), repository)


def read_token(environ: Mapping[str, str]) -> str | None:
    """The token that the environment names. Raises UsageError if it is set and empty."""
    for name in ("GH_TOKEN", "GITHUB_TOKEN"):
        if (token := environ.get(name)) is None:
            continue
        if not token.strip():
            raise UsageError(f"{name} is set but empty.", hint="Set it to a token, or unset it.")
        return token.strip()
    return None
