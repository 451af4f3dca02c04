"""What the hub keeps about those who ask: tokens, rate limits, faults, a log, and states to go back to."""

from __future__ import annotations

import copy
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path

from infx.hub.exchange import CORE, GRAPHQL, Exchange
from infx.hub.faults import Faults
from infx.hub.refusal import Refused
from infx.hub.runs import RunActions
from infx.hub.state import State
from infx.hub.tokens import WORKFLOW_SCOPES, Token, TokenKind, parse_scopes
from infx.hub.world import WORKFLOW_LOGIN, locked

HOUR = 3600
WORKFLOW_LIMIT = 1000  # requests an hour, and as many points of GraphQL
LIMIT = 5000
NOBODY_LIMIT = 60


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    state: State
    refs: Mapping[str, str]


class Service(RunActions):
    """Everything but the HTTP servers. store: the address where links to artifacts lead."""

    store: str

    def __init__(self, repository: str, folder: Path, *, branch: str, clock: Callable[[], datetime]) -> None:
        super().__init__(repository, folder, branch=branch, clock=clock)
        self.faults = Faults()
        self.tokens: dict[str, Token] = {}
        self.log: list[Exchange] = []
        self.errors: list[BaseException] = []
        self.is_limited = True
        self._used: Counter[tuple[str, str | None]] = Counter()
        self.points = 0
        self._handled = threading.Condition()
        self._count = 0

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
            raise Refused(403, "API rate limit exceeded for installation.")
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
