"""Faults that a test can put between a client and the hub."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

FOREVER = 1_000_000


class FaultKind(StrEnum):
    DROP = "drop"  # the connection is cut instead of a reply
    BAD_GATEWAY = "bad gateway"  # 502
    FORBIDDEN = "forbidden"  # 403: a permission is missing
    PRIMARY_LIMIT = "primary limit"  # 403: the hour's requests are used up; reset in `seconds`
    SECONDARY_LIMIT = (
        "secondary limit"  # 403 with Retry-After: `seconds`, or without the header if it is None
    )
    TOO_MANY = "too many"  # 429 with Retry-After: `seconds`
    UNAUTHORIZED = "unauthorized"  # 401, as for an invalid token
    NOT_FOUND = "not found"  # 404, also for things that exist
    INVALID = "invalid"  # 422
    EMPTY = "empty"  # 200 without a body
    SLOW = "slow"  # answered after `seconds`
    OVERTAKEN = "overtaken"  # waits until another request was handled, at most `seconds`
    KILL = "kill"  # the hub calls `callback`, then cuts the connection


DELAYS = {FaultKind.SLOW, FaultKind.OVERTAKEN}
APPLIED_KINDS = {FaultKind.DROP, FaultKind.BAD_GATEWAY, FaultKind.KILL, FaultKind.SLOW, FaultKind.EMPTY}


@dataclass(kw_only=True)
class Fault:
    """A fault that hits some of the matching requests.

    A DROP with `times=FOREVER` imitates a dead client: none of its further requests arrives.

    Attributes:
        method: only requests with this method match.
        path: a regular expression that is searched in the path.
        writes: only requests that are neither GET nor GraphQL queries match.
        nth: the first matching request that is hit, counted since the fault was added.
        times: the number of requests that are hit.
        applied: the hub executes the request and changes only the reply.
    """

    kind: FaultKind
    method: str | None = None
    path: str = ""
    writes: bool = False
    nth: int = 1
    times: int = 1
    applied: bool = False
    seconds: float | None = None
    callback: Callable[[], None] | None = None
    seen: int = field(default=0, init=False)
    hits: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.applied and self.kind not in APPLIED_KINDS:
            raise ValueError(f"applied=True is impossible for {self.kind}: a refused request is not executed")

    def matches(self, method: str, path: str) -> bool:
        reads = method == "GET" or path == "/graphql"
        if self.method not in {None, method} or (self.writes and reads):
            return False
        return re.search(self.path, path) is not None


class Faults:
    """The faults that were added, and the number of their hits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self.hits = 0  # since the hub started

    def add(self, fault: Fault) -> Fault:
        with self._lock:
            self._faults.append(fault)
        return fault

    @property
    def has_delays(self) -> bool:
        """Return whether an answer may be delayed, for which requests of other connections must not wait."""
        with self._lock:
            return any(fault.kind in DELAYS for fault in self._faults)

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    def strike(self, method: str, path: str) -> Fault | None:
        """Return the fault that hits this request, if any, and count the request at every matching fault."""
        with self._lock:
            struck = None
            for fault in self._faults:
                if not fault.matches(method, path):
                    continue
                fault.seen += 1
                if struck is None and fault.nth <= fault.seen < fault.nth + fault.times:
                    struck = fault
            if struck is not None:
                struck.hits += 1
                self.hits += 1
            return struck
