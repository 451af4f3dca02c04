"""Tokens, rate limits, faults, the log, and snapshots of the hub."""

from __future__ import annotations

import copy
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path

from infx.hub.configuring import SettingActions
from infx.hub.events import Pusher
from infx.hub.exchange import CORE, GRAPHQL, Exchange
from infx.hub.faults import Faults
from infx.hub.queue import QueueActions
from infx.hub.refusal import Refused
from infx.hub.state import State
from infx.hub.tokens import WORKFLOW_SCOPES, Token, TokenKind, parse_scopes
from infx.hub.world import WORKFLOW_LOGIN, locked

HOUR = 3600
WORKFLOW_LIMIT = 1000  # requests an hour, and as many points of GraphQL
LIMIT = 5000
ANONYMOUS_LIMIT = 60  # requests an hour without a token


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    state: State
    refs: Mapping[str, str]


class Service(QueueActions, SettingActions):
    """A hub without its HTTP servers."""

    store: str  # the file store's address, for links to artifacts

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
        """Make a GITHUB_TOKEN of the repository, as in `workflow_token(pull_requests="write")`."""
        return self._token(TokenKind.WORKFLOW, WORKFLOW_LOGIN, {**(permissions or {}), **scopes})

    def fork_token(self) -> str:
        """Make the token of a fork's `pull_request` run, which reads, whatever its workflow asks for."""
        return self._token(TokenKind.WORKFLOW, WORKFLOW_LOGIN, dict.fromkeys(WORKFLOW_SCOPES, "read"))

    def app_token(self, login: str, permissions: Mapping[str, str] | None = None, **scopes: str) -> str:
        """Make an installation token of an app. login: such as `bench-bot[bot]`."""
        return self._token(TokenKind.APP, login, {**(permissions or {}), **scopes})

    def user_token(self, login: str) -> str:
        """Make a classic token of a person, which may do what the person's role allows at that time."""
        return self._token(TokenKind.USER, login, {})

    @locked
    def _token(self, kind: TokenKind, login: str, scopes: Mapping[str, str]) -> str:
        self.account(login)
        secret = f"{kind}-token-{len(self.tokens) + 1}"
        self.tokens[secret] = Token(
            secret=secret, kind=kind, login=login, permissions=parse_scopes(scopes, kind)
        )
        return secret

    @locked
    def push_as(self, secret: str | None) -> None:
        """Let later pushes with git count as pushes with this token; None: with those of the authors.

        The git repository then refuses what GitHub refuses to the token.
        """
        token = self.tokens[secret] if secret is not None else None
        is_app = token is not None and token.kind is not TokenKind.USER
        self.git.refuse_workflow_files(token is not None and is_app and not token.allows("workflows=write"))
        self.pusher = Pusher(token.login, token.kind is TokenKind.WORKFLOW) if token is not None else None

    # Rate limit

    def get_limit(self, token: Token | None, resource: str = CORE) -> tuple[int, int, int]:
        """Return a resource's rate limit, what remains of it, and its reset time in seconds since 1970."""
        if token is None:
            limit = ANONYMOUS_LIMIT if self.is_limited else LIMIT
        else:
            limit = WORKFLOW_LIMIT if token.kind is TokenKind.WORKFLOW else LIMIT
        used = self._used[resource, token.secret if token else None] if self.is_limited else 0
        return limit, max(0, limit - used), (self.seconds() // HOUR + 1) * HOUR

    def spend(self, token: Token | None) -> None:
        """Count a request. Raises Refused if the limit is used up."""
        if self.is_limited and self.get_limit(token)[1] == 0:
            raise Refused(403, "API rate limit exceeded for installation.")
        self._used[CORE, token.secret if token else None] += 1

    def spend_points(self, token: Token, points: int) -> bool:
        """Count the points of a GraphQL query; return False if the limit is used up."""
        if self.is_limited and self.get_limit(token, GRAPHQL)[1] == 0:
            return False
        self._used[GRAPHQL, token.secret] += points
        self.points += points
        return True

    def refill(self) -> None:
        """Reset all rate limits, as if the next hour had begun."""
        self._used.clear()

    # Log

    def record(self, exchange: Exchange) -> None:
        with self._handled:
            self.log.append(exchange)
            self._count += 1
            self._handled.notify_all()

    def wait_for_another(self, seconds: float) -> None:
        """Wait until another request has been handled, or `seconds` have passed."""
        with self._handled:
            before = self._count
            self._handled.wait_for(lambda: self._count > before, seconds)

    @property
    def counts(self) -> Counter[str]:
        """The number of requests by method since the log was cleared, also of those that a fault has hit."""
        return Counter(exchange.method for exchange in self.log)

    @property
    def reads(self) -> int:
        return self.counts["GET"]

    @property
    def queries(self) -> int:
        """The number of GraphQL queries; `points` has their cost."""
        return sum(exchange.is_query for exchange in self.log)

    @property
    def writes(self) -> int:
        return sum(exchange.is_write for exchange in self.log)

    def clear_log(self) -> None:
        self.log.clear()
        self.points = 0

    def iso(self, seconds: float) -> str:
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")

    def http_date(self) -> str:
        return formatdate(self.clock().timestamp(), usegmt=True)

    # Snapshots

    @locked
    def snapshot(self) -> Snapshot:
        return Snapshot(state=_copy(self.state), refs=self.git.refs())

    @locked
    def restore(self, snapshot: Snapshot) -> None:
        """Restore the state and the refs, but not the tokens, faults and the log."""
        self.state = _copy(snapshot.state)
        self.git.restore_refs(snapshot.refs)


def _copy(state: State) -> State:
    # both states share the events, which are many and never change
    return copy.deepcopy(state, {id(event): event for event in state.events})
