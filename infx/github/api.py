"""`GitHub`: every request that infx can make about one repository, as typed methods.

A capability does not take this class: it names the few methods that it needs in its own Protocol, which this
class fulfills.
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
from infx.github.merging import Merging
from infx.github.overview import Overviews
from infx.github.settings import RepositoryConfiguration
from infx.github.workflows import Workflows

_S = TypeVar("_S")
_T = TypeVar("_T")

API_URL = "https://api.github.com"


class GitHub(Overviews, Workflows, Merging, RepositoryConfiguration):
    """A client for one repository.

    Every method reads the whole answer or raises a subclass of GitHubError (`infx.github.errors`).
    `connection.py` repeats failed reads. Every write is sent once: if its outcome is unknown, the method
    raises UnknownOutcomeError, which `write_then_look` resolves.
    """

    @property
    def requests(self) -> RequestCount:
        return self.connection.count

    def now(self) -> datetime:
        """Return GitHub's time at its newest reply."""
        return self.connection.now()

    def ask_time(self) -> datetime:
        """Ask GitHub for its time, by a request that counts toward no rate limit."""
        with contextlib.suppress(NotFoundError):  # a server without rate limits answers 404
            self.connection.read("/rate_limit")
        return self.now()

    def pause(self, seconds: float) -> None:
        """Wait for something that GitHub or another run still has to do."""
        self.connection.pause(seconds)

    def at(self, repository: str) -> GitHub:
        """Return a client for another repository, with the same connection and request count."""
        return GitHub(self.connection, repository)

    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T:
        """Repeat a write until it is known to be done; `look` finds its result if the outcome is unknown."""
        return self.connection.write_then_look(write, look)

    def look_then_write(self, look: Callable[[], _S], write: Callable[[_S], _T]) -> _T:
        """Look, then write what follows from it; repeat both after a rate limit."""
        return self.connection.look_then_write(look, write)


def connect(
    repository: str,
    *,
    environ: Mapping[str, str] = os.environ,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
    budget: float = BUDGET,
) -> GitHub:
    """Return a client for the API at GITHUB_API_URL, with the token of GH_TOKEN or GITHUB_TOKEN, if any.

    Raises UsageError if GITHUB_API_URL is not an http address, or a token's variable is set but empty.
    """
    from infx.github.transport import PyGithubTransport

    token = read_token(environ)
    url = environ.get("GITHUB_API_URL") or API_URL
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"GITHUB_API_URL is {url!r}, which is not an http or https address.")
    transport = PyGithubTransport(base_url=url.rstrip("/"), token=token)
    return GitHub(Connection(transport, clock=clock, sleep=sleep, budget=budget), repository)


def read_token(environ: Mapping[str, str]) -> str | None:
    """Return the token from the environment. Raises UsageError if a variable is set but empty."""
    for name in ("GH_TOKEN", "GITHUB_TOKEN"):
        if (token := environ.get(name)) is None:
            continue
        if not token.strip():  # a job that lost its token must not go on with anonymous requests
            raise UsageError(f"{name} is set but empty.", hint="Set it to a token, or unset it.")
        return token.strip()
    return None
