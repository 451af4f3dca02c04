"""What can go wrong between a client and GitHub, on demand."""

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
    PRIMARY_LIMIT = "primary limit"  # 403, reset in `seconds`
    SECONDARY_LIMIT = "secondary limit"  # 403 with Retry-After: `seconds`; without any if it is None
    TOO_MANY = "too many"  # 429 with Retry-After: `seconds`
    UNAUTHORIZED = "unauthorized"  # 401, as if the token were none
    NOT_FOUND = "not found"  # 404, whatever is there
    INVALID = "invalid"  # 422
    EMPTY = "empty"  # 200 without a body
    SLOW = "slow"  # answered after `seconds`
    OVERTAKEN = "overtaken"  # held back until another request was handled, at most `seconds`
    KILL = "kill"  # `callback` is called, then the connection is cut


APPLIED_KINDS = {FaultKind.DROP, FaultKind.BAD_GATEWAY, FaultKind.KILL, FaultKind.SLOW, FaultKind.EMPTY}


@dataclass(kw_only=True)
class Fault:
    """Hits the matching requests number nth to nth + times - 1, counted from when the fault was added.

    method, path: which requests; `path` is a regular expression searched in the path, every one by default.
    writes: only requests that are neither GET nor a query of GraphQL. applied: the request is carried out all the same; only its reply suffers.
    A dead process is a DROP with `times=FOREVER`: nothing that it would still send arrives.
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
            raise ValueError(f"a request that is refused ({self.kind}) is never carried out")

    def matches(self, method: str, path: str) -> bool:
        reads = method == "GET" or path == "/graphql"
        if self.method not in {None, method} or (self.writes and reads):
            return False
        return re.search(self.path, path) is not None


class Faults:
    """The faults that wait for their request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self.hits = 0  # faults that have struck since the hub started

    def add(self, fault: Fault) -> Fault:
        with self._lock:
            self._faults.append(fault)
        return fault

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    def strike(self, method: str, path: str) -> Fault | None:
        """The fault that hits this request, if any; every matching fault counts it."""
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
