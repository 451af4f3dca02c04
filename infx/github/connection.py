"""The one rule for repeating and waiting.

A read is repeated on a lost connection, a 5xx and a rate limit: after 1, 2, 4 … s, or exactly as long as GitHub
said, while the sum of all waits stays inside a budget; a wait that does not fit is not begun. A write is sent
once: when its outcome is not known, `write_then_look` asks the caller's own eyes before anything is sent again, and
`look_then_write` decides everything anew where a rate limit has refused one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from infx.github.errors import (
    GitHubError,
    RateLimitError,
    ServerError,
    UnexpectedReplyError,
    UnknownOutcomeError,
    UnreachableError,
    explain,
    explain_answer,
    server_now,
)
from infx.github.exchange import GRAPHQL, Reply, Request, RequestCount, Transport

_S = TypeVar("_S")
_T = TypeVar("_T")

BUDGET = 900.0  # seconds that one command waits at most, all its waits together
ATTEMPTS = 5  # of one read; of one write that is known not to have happened
GRAPHQL_FAILURES = 4  # in a row, before GraphQL is not asked any more
SECONDARY_WAIT = 60.0  # what GitHub's documentation asks for where a reply names no time


class Connection:
    """clock: seconds since 1970. sleep: waits that many seconds. budget: see above."""

    def __init__(
        self,
        transport: Transport,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        budget: float = BUDGET,
    ) -> None:
        self.count = RequestCount()
        self._transport = transport
        self._clock = clock
        self._sleep = sleep
        self._budget = budget
        self._told: float | None = None
        self._failures = 0

    def read(self, path: str, **parameters: str | int | None) -> Reply:
        """GET, repeated by the rule above. Raises a child of GitHubError."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self.repeat(lambda: self._send(Request(verb="GET", path=path, parameters=given)))

    def query(self, text: str, variables: Mapping[str, object]) -> Any:
        """A GraphQL query, repeated like any read. Raises UnexpectedReplyError for an answer that is not whole."""
        answer = self.repeat(lambda: self.ask(text, variables))
        if answer.get("errors"):
            raise UnexpectedReplyError("GitHub's answer to a GraphQL query is not whole.")
        return answer["data"]

    def ask(self, text: str, variables: Mapping[str, object]) -> Any:
        """A GraphQL query, sent once: `data`, and the `errors` of what is null in it, if there are any."""
        request = Request(verb="POST", path=GRAPHQL, body={"query": text, "variables": dict(variables)})
        try:
            reply = self._send(request)
            error = explain_answer(request, reply, now=self._clock())
            self.count.points += 1 if error else _price(reply.data["data"])
            if error is not None:
                raise error
        except GitHubError as error:
            may_pass = isinstance(error, ServerError | UnreachableError | UnexpectedReplyError)
            self._failures = self._failures + 1 if may_pass else GRAPHQL_FAILURES
            raise
        self._failures = 0
        return reply.data

    @property
    def has_graphql(self) -> bool:
        """False: it refuses us, there is none, its limit is used up, or it answers nothing."""
        return self._failures < GRAPHQL_FAILURES

    def write(self, verb: str, path: str, body: object = None) -> Reply:
        """POST, PATCH, PUT or DELETE, sent once. Raises UnknownOutcomeError if nobody knows what it did."""
        request = Request(verb=verb, path=path, body=body)
        try:
            return self._send(request)
        except (UnreachableError, ServerError) as error:
            message = f"Nobody knows whether {request} was done: {error.message}"
            hint = "Look before it is sent again."
            raise UnknownOutcomeError(message, status=error.status, hint=hint) from error

    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T:
        """Run a write until it is known to be done.

        `look` returns the write's result if it can see that it was done, else None; it is called whenever the
        outcome is unknown and before anything is sent a second time. Refusals are raised as they come.
        """
        attempt = 0
        while True:
            try:
                return write()
            except UnknownOutcomeError as error:
                if (seen := look()) is not None:
                    return seen
                self.wait_out(error, attempt)
            except RateLimitError as error:  # refused, so surely not done
                self.wait_out(error, attempt)
                if (seen := look()) is not None:
                    return seen
            attempt += 1

    def look_then_write(self, look: Callable[[], _S], write: Callable[[_S], _T]) -> _T:
        """Look, and write what follows from it. A write that a rate limit refused was not done, so after the wait
        everything is looked at again before anything is written. Whatever else goes wrong is raised as it comes.
        """
        attempt = 0
        while True:
            seen = look()
            try:
                return write(seen)
            except RateLimitError as error:
                self.wait_out(error, attempt)
                attempt += 1

    def repeat(self, read: Callable[[], _T]) -> _T:
        """Run something that only reads, by the rule above."""
        attempt = 0
        while True:
            try:
                return read()
            except (UnreachableError, ServerError, RateLimitError) as error:
                self.wait_out(error, attempt)
                attempt += 1

    def fetch(self, link: str | Callable[[], str], limit: int) -> bytes:
        """The file behind a signed link, at most `limit` bytes of it; the token is not sent there. link: or how to ask
        for it, which each attempt then does. A file of no bytes is none.
        """

        def download() -> bytes:
            data = bytearray()
            try:
                url = link if isinstance(link, str) else link()
                self.count.reads += 1
                for piece in self._transport.fetch(url):
                    data += piece
                    if len(data) > limit:
                        raise GitHubError(f"A download is larger than the {limit:,} bytes allowed for it.")
            except ConnectionError as error:
                raise UnreachableError(f"The download broke off: {error}.") from None
            if not data:
                raise UnreachableError("The file store answered with nothing.")
            return bytes(data)

        return self.repeat(download)

    def now(self) -> datetime:
        """The time of the newest reply by GitHub's own clock, in whole seconds like every time it tells, so that what is
        later there is later here; before any reply, ours.
        """
        seconds = self._clock() if self._told is None else self._told
        return datetime.fromtimestamp(int(seconds), UTC)

    def pause(self, seconds: float) -> None:
        """Wait for something other than a limit, such as a test merge that GitHub still computes."""
        self._sleep(seconds)

    def _send(self, request: Request) -> Reply:
        self.count.add(request)
        try:
            reply = self._transport.send(request)
        except ConnectionError as error:
            hint = "Check the network and GITHUB_API_URL."
            raise UnreachableError(f"No reply from GitHub to {request}: {error}.", hint=hint) from None
        self._told = server_now(reply.headers, self._clock())
        remaining = reply.headers.get("x-ratelimit-remaining", "")
        if remaining.isdecimal() and request.path != GRAPHQL:
            self.count.remaining = int(remaining)
        if reply.status in {301, 307, 308}:
            message = f"{request} has moved: the repository was renamed{self._new_name(reply)}."
            hint = "Give its new name by --repo, and where the policy says `repository`."
            raise UnexpectedReplyError(message, status=reply.status, hint=hint)
        if reply.status >= 400:
            raise explain(request, reply, now=self._clock())
        return reply

    def _new_name(self, reply: Reply) -> str:
        """GitHub redirects to the repository's number, which tells nobody anything."""
        found = re.search(r"/repositories/[0-9]+", reply.headers.get("location", ""))
        if found is None:
            return ""
        request = Request(verb="GET", path=found[0])
        self.count.add(request)
        try:
            data = self._transport.send(request).data
        except ConnectionError:
            return ""
        name = data.get("full_name") if isinstance(data, dict) else None
        return f" to {name}" if name else ""

    def wait_out(self, error: GitHubError, attempt: int) -> None:
        """Wait as told before the next attempt, or raise the error when that is no use or would exceed the budget."""
        wait = _wait_for(error, attempt)
        if error.is_final or attempt + 1 >= ATTEMPTS:
            error.is_final = True
            raise error
        if self.count.waited + wait > self._budget:
            left = self._budget - self.count.waited
            error.message += (
                f" Waiting {wait:.0f} s is more than the {left:.0f} s this command may still wait."
            )
            error.hint = error.hint or "Run it again later."
            error.is_final = True
            raise error
        self.count.waited += wait
        self._sleep(wait)


def _price(data: Mapping[str, Any]) -> int:
    """What a query cost, if it asked for that; else the least that any costs."""
    told = data.get("rateLimit")
    price = told.get("cost") if isinstance(told, dict) else None
    return price if isinstance(price, int) else 1


def _wait_for(error: GitHubError, attempt: int) -> float:
    if isinstance(error, RateLimitError | ServerError) and error.wait is not None:
        return error.wait
    return float((SECONDARY_WAIT if isinstance(error, RateLimitError) else 1) * 2**attempt)
