"""The one rule for repeating requests and waiting.

A read is repeated after a lost connection, a 5xx or a rate limit. It waits 1, 2, 4 … s, or exactly as long as
GitHub asks. All waits of a command share one budget; a wait that exceeds the budget is not started. A write
is sent once: when its outcome is unknown, `write_then_look` looks before it sends the write again. After a
rate limit, `look_then_write` decides again what to write.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from infx.github.errors import (
    LOOK_FIRST,
    GitHubError,
    RateLimitError,
    ServerError,
    UnexpectedReplyError,
    UnknownOutcomeError,
    UnreachableError,
    explain,
    explain_answer,
    get_mutated,
    get_server_time,
)
from infx.github.exchange import GRAPHQL, Reply, Request, RequestCount, Transport

_S = TypeVar("_S")
_T = TypeVar("_T")

BUDGET = 900.0  # seconds: the sum of all waits of one command
ATTEMPTS = 5  # of one read; of one write that is known not to have happened
GRAPHQL_FAILURES = 4  # in a row, after which a command sends no more GraphQL queries
SECONDARY_WAIT = 60.0  # seconds that GitHub's documentation asks for if a reply names no time


class Connection:
    """A sender of requests that repeats them, waits and counts.

    Attributes:
        count: the requests and waits so far.
    """

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
        self._clock = clock  # returns seconds since 1970
        self._sleep = sleep
        self._budget = budget
        self._server_time: float | None = None
        self._failures = 0

    def read(self, path: str, **parameters: str | int | None) -> Reply:
        """Send a GET, repeated by the rule above. Raises a subclass of GitHubError."""
        set_parameters = {name: value for name, value in parameters.items() if value is not None}
        return self.repeat(lambda: self._send(Request(verb="GET", path=path, parameters=set_parameters)))

    def query(self, text: str, variables: Mapping[str, object]) -> Any:
        """Send a GraphQL query, repeated like a read. Raises UnexpectedReplyError for a partial answer."""
        answer = self.repeat(lambda: self.ask(text, variables))
        if answer.get("errors"):
            raise UnexpectedReplyError("GitHub's answer to a GraphQL query is incomplete.")
        return answer["data"]

    def ask(self, text: str, variables: Mapping[str, object]) -> Any:
        """Send a GraphQL query once; return its `data`, and `errors` if a part of `data` is missing."""
        request = Request(verb="POST", path=GRAPHQL, body={"query": text, "variables": dict(variables)})
        try:
            reply = self._send(request)
            error = explain_answer(request, reply, now=self._clock())
            self.count.points += 1 if error else _parse_price(reply.data["data"])
            if error is not None:
                raise error
        except GitHubError as error:
            may_pass = isinstance(error, ServerError | UnreachableError | UnexpectedReplyError)
            self._failures = self._failures + 1 if may_pass else GRAPHQL_FAILURES
            raise
        self._failures = 0
        return reply.data

    def mutate(self, text: str, variables: Mapping[str, object]) -> Any:
        """Send a GraphQL mutation once, and return its `data`. Raises UnknownOutcomeError if its outcome is unknown."""
        request = Request(
            verb="POST",
            path=GRAPHQL,
            body={"query": text, "variables": dict(variables)},
            is_mutation=True,
        )
        try:
            reply = self._send(request)
        except (UnreachableError, ServerError) as error:
            message = f"The outcome of a GraphQL mutation is unknown: {error.message}"
            raise UnknownOutcomeError(message, status=error.status, hint=LOOK_FIRST) from error
        return get_mutated(request, reply, now=self._clock())

    @property
    def has_graphql(self) -> bool:
        """False after a refusal, or after GRAPHQL_FAILURES failures in a row."""
        return self._failures < GRAPHQL_FAILURES

    def write(self, verb: str, path: str, body: object = None) -> Reply:
        """Send a POST, PATCH, PUT or DELETE once. Raises UnknownOutcomeError if its outcome is unknown."""
        request = Request(verb=verb, path=path, body=body)
        try:
            return self._send(request)
        except (UnreachableError, ServerError) as error:
            message = f"The outcome of {request} is unknown: {error.message}"
            raise UnknownOutcomeError(message, status=error.status, hint=LOOK_FIRST) from error

    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T:
        """Repeat a write until it is known to be done.

        `look` returns the write's result if the write has happened, else None. It is called when the outcome
        is unknown, and before the write is sent again. Other errors are raised at once.
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
        """Look, then write what follows from it; after a rate limit wait, then look and write again.

        Other errors are raised at once.
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
        """Run a function that only reads, repeated by the rule above."""
        attempt = 0
        while True:
            try:
                return read()
            except (UnreachableError, ServerError, RateLimitError) as error:
                self.wait_out(error, attempt)
                attempt += 1

    def fetch(self, link: str | Callable[[], str], limit: int) -> bytes:
        """Download the file behind a signed link, without the token. An empty file is a failed download.

        Args:
            link: the link, or a function that asks for a new link before each attempt.
            limit: bytes; a larger file raises GitHubError.
        """

        def download() -> bytes:
            data = bytearray()
            try:
                url = link if isinstance(link, str) else link()
                self.count.reads += 1
                for piece in self._transport.fetch(url):
                    data += piece
                    if len(data) > limit:
                        raise GitHubError(f"The download exceeds the limit of {limit:,} bytes.")
            except ConnectionError as error:
                raise UnreachableError(f"The download failed: {error}.") from None
            if not data:
                raise UnreachableError("The file store sent an empty file.")
            return bytes(data)

        return self.repeat(download)

    def now(self) -> datetime:
        """Return the time of the newest reply by GitHub's clock; before any reply, by the local clock."""
        seconds = self._clock() if self._server_time is None else self._server_time
        return datetime.fromtimestamp(int(seconds), UTC)  # whole seconds, to compare with GitHub's times

    def pause(self, seconds: float) -> None:
        """Wait for something other than a rate limit, such as a test merge that GitHub still computes."""
        self._sleep(seconds)

    def _send(self, request: Request) -> Reply:
        self.count.add(request)
        try:
            reply = self._transport.send(request)
        except ConnectionError as error:
            hint = "Check the network and GITHUB_API_URL."
            raise UnreachableError(f"No reply from GitHub to {request}: {error}.", hint=hint) from None
        self._server_time = get_server_time(reply.headers, self._clock())
        remaining = reply.headers.get("x-ratelimit-remaining", "")
        if remaining.isdecimal() and request.path != GRAPHQL:
            self.count.remaining = int(remaining)
        if reply.status in {301, 307, 308}:
            message = f"{request} was redirected: the repository was renamed{self._ask_new_name(reply)}."
            hint = "Use the new name for --repo, and for `repository` in the policy."
            raise UnexpectedReplyError(message, status=reply.status, hint=hint)
        if reply.status >= 400:
            raise explain(request, reply, now=self._clock())
        return reply

    def _ask_new_name(self, reply: Reply) -> str:
        """Ask GitHub for the name behind the number in its redirect; return " to owner/name", or ""."""
        number_path = re.search(r"/repositories/[0-9]+", reply.headers.get("location", ""))
        if number_path is None:
            return ""
        request = Request(verb="GET", path=number_path[0])
        self.count.add(request)
        try:
            data = self._transport.send(request).data
        except ConnectionError:
            return ""
        name = data.get("full_name") if isinstance(data, dict) else None
        return f" to {name}" if name else ""

    def wait_out(self, error: GitHubError, attempt: int) -> None:
        """Wait before the next attempt, or raise the error if it is final or the wait exceeds the budget."""
        wait = _choose_wait(error, attempt)
        if error.is_final or attempt + 1 >= ATTEMPTS:
            error.is_final = True
            raise error
        if self.count.waited + wait > self._budget:
            left = self._budget - self.count.waited
            error.message += (
                f" Waiting {wait:.0f} s is more than the {left:.0f} s this command may still wait."
            )
            error.hint = error.hint or "Run the command again later."
            error.is_final = True
            raise error
        self.count.waited += wait
        self._sleep(wait)


def _parse_price(data: Mapping[str, Any]) -> int:
    """Return the points that a query cost, or 1, the minimum, if the query did not ask for its cost."""
    rate_limit = data.get("rateLimit")
    price = rate_limit.get("cost") if isinstance(rate_limit, dict) else None
    return price if isinstance(price, int) else 1


def _choose_wait(error: GitHubError, attempt: int) -> float:
    if isinstance(error, RateLimitError | ServerError) and error.wait is not None:
        return error.wait
    return float((SECONDARY_WAIT if isinstance(error, RateLimitError) else 1) * 2**attempt)
