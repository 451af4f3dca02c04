"""`Hub`: an embedded stand-in for GitHub's REST API, with one repository.

    with Hub(folder) as hub:
        hub.push("main", {"README.md": "hello"})
        hub.push("feat-x", {"README.md": "hello, world"})
        pull = hub.open_pull("feat-x", by="cody")
        environ = hub.environ(hub.workflow_token(pull_requests="write"))

Everything that people, bots and GitHub Actions do is a method; the same methods stand behind the HTTP routes.
"""

from __future__ import annotations

import copy
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from types import TracebackType
from typing import Self

from infx.hub.faults import Faults
from infx.hub.handling import Exchange, respond_as_api, respond_as_store
from infx.hub.router import CORE, GRAPHQL, Refusal
from infx.hub.runs import RunActions
from infx.hub.server import HubServer
from infx.hub.state import State
from infx.hub.tokens import WORKFLOW_SCOPES, Token, TokenKind, parse_scopes
from infx.hub.world import WORKFLOW_LOGIN, locked, utc_now

HOUR = 3600
WORKFLOW_LIMIT = 1000  # requests an hour, and as many points of GraphQL
LIMIT = 5000
NOBODY_LIMIT = 60

WAKE = 0.2  # seconds


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    state: State
    refs: Mapping[str, str]


class Hub(RunActions):
    """folder: the bare git repository is made in it, as `owner/name.git`; a temporary one if it is None.
    port: 0 for any that is free.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        repository: str = "acme/bench",
        branch: str = "main",
        port: int = 0,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._server = HubServer(self, port, respond_as_api)  # first: a taken port leaves nothing behind
        self._store = HubServer(self, 0, respond_as_store)
        self._temporary = Path(tempfile.mkdtemp(prefix="infx-hub-")) if folder is None else None
        where = (folder or self._temporary or Path()) / f"{repository}.git"
        try:
            super().__init__(repository, where, branch=branch, clock=clock)
        except OSError:
            self._server.server_close()
            self._store.server_close()
            raise
        self.faults = Faults()
        self.tokens: dict[str, Token] = {}
        self.log: list[Exchange] = []
        self.errors: list[BaseException] = []
        self.is_limited = True
        self._used: Counter[tuple[str, str | None]] = Counter()
        self.points = 0
        self._handled = threading.Condition()
        self._count = 0
        self.api = f"http://127.0.0.1:{self._server.server_port}"
        self.store = f"http://127.0.0.1:{self._store.server_port}"  # where links to artifacts lead
        self._threads = [
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
            for server in (self._server, self._store)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        for server, thread in zip((self._server, self._store), self._threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()
        self.git.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def wait(self) -> None:
        """Until somebody stops the hub.

        In short joins, because a signal that comes between Python's last look for one and the system's wait
        does not end that wait: its handler would run when something else does, which may be never.
        """
        while self._threads[0].is_alive():
            self._threads[0].join(WAKE)

    # Tokens

    def workflow_token(self, permissions: Mapping[str, str] | None = None, **scopes: str) -> str:
        """A GITHUB_TOKEN of the repository, such as `workflow_token(pull_requests="write")`."""
        return self._token(TokenKind.WORKFLOW, WORKFLOW_LOGIN, {**(permissions or {}), **scopes})

    def fork_token(self) -> str:
        """What a `pull_request` run of a fork gets, whatever its workflow asks for."""
        return self._token(TokenKind.WORKFLOW, WORKFLOW_LOGIN, dict.fromkeys(WORKFLOW_SCOPES, "read"))

    def app_token(self, login: str, permissions: Mapping[str, str] | None = None, **scopes: str) -> str:
        """An installation token of an app. login: such as `bench-bot[bot]`."""
        return self._token(TokenKind.APP, login, {**(permissions or {}), **scopes})

    def user_token(self, login: str) -> str:
        """A classic token of a person: it may do what the person's role allows at that time."""
        return self._token(TokenKind.USER, login, {})

    @locked
    def _token(self, kind: TokenKind, login: str, scopes: Mapping[str, str]) -> str:
        self.account(login)
        secret = f"{kind}-token-{len(self.tokens) + 1}"
        self.tokens[secret] = Token(
            secret=secret, kind=kind, login=login, permissions=parse_scopes(scopes, kind)
        )
        return secret

    def environ(self, token: str | None = None) -> dict[str, str]:
        """The variables by which infx finds this hub."""
        given = {} if token is None else {"GH_TOKEN": token}
        return {"GITHUB_API_URL": self.api, "GITHUB_REPOSITORY": self.repository, **given}

    # Rate limit

    def limit_of(self, token: Token | None, resource: str = CORE) -> tuple[int, int, int]:
        """Limit, what remains of it, and when it starts anew, in seconds since 1970. GraphQL has one of its own."""
        if token is None:
            limit = NOBODY_LIMIT if self.is_limited else LIMIT
        else:
            limit = WORKFLOW_LIMIT if token.kind is TokenKind.WORKFLOW else LIMIT
        used = self._used[resource, token.secret if token else None] if self.is_limited else 0
        return limit, max(0, limit - used), (self.seconds() // HOUR + 1) * HOUR

    def spend(self, token: Token | None) -> None:
        """One request; refused when none is left."""
        if self.is_limited and self.limit_of(token)[1] == 0:
            raise Refusal(403, "API rate limit exceeded for installation.")
        self._used[CORE, token.secret if token else None] += 1

    def spend_points(self, token: Token, points: int) -> bool:
        """Of GraphQL; False if none is left."""
        if self.is_limited and self.limit_of(token, GRAPHQL)[1] == 0:
            return False
        self._used[GRAPHQL, token.secret] += points
        self.points += points
        return True

    def refill(self) -> None:
        """The next hour has begun."""
        self._used.clear()

    # What was asked

    def record(self, exchange: Exchange) -> None:
        with self._handled:
            self.log.append(exchange)
            self._count += 1
            self._handled.notify_all()

    def wait_for_another(self, seconds: float) -> None:
        """Until one more request has been handled."""
        with self._handled:
            before = self._count
            self._handled.wait_for(lambda: self._count > before, seconds)

    @property
    def counts(self) -> Counter[str]:
        """Requests by method since the log was cleared, those that a fault hit included."""
        return Counter(exchange.method for exchange in self.log)

    @property
    def reads(self) -> int:
        return self.counts["GET"]

    @property
    def queries(self) -> int:
        """Of GraphQL; what they cost is in `points`."""
        return sum(exchange.path == "/graphql" for exchange in self.log)

    @property
    def writes(self) -> int:
        return sum(exchange.method != "GET" and exchange.path != "/graphql" for exchange in self.log)

    def clear_log(self) -> None:
        self.log.clear()
        self.points = 0

    def iso(self, seconds: float) -> str:
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")

    def http_date(self) -> str:
        return formatdate(self.clock().timestamp(), usegmt=True)

    # Starting over

    @locked
    def snapshot(self) -> Snapshot:
        return Snapshot(state=_copy(self.state), refs=self.git.refs())

    @locked
    def restore(self, snapshot: Snapshot) -> None:
        """Everything as it was; tokens, faults and the log are left alone."""
        self.state = _copy(snapshot.state)
        self.git.restore_refs(snapshot.refs)


def _copy(state: State) -> State:
    """Events never change, and there are many of them: both states share them."""
    return copy.deepcopy(state, {id(event): event for event in state.events})
