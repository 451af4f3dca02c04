"""A demo without a terminal and without a network."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from infx.bench.jobs import RowJob
from infx.demo.stage import RowOutcome


class Quiet:
    def begin(self, total: int, title: str) -> None: ...

    def started(self, job: RowJob) -> None: ...

    def ended(self, outcome: RowOutcome) -> None: ...

    def end(self) -> None: ...


@contextmanager
def offline() -> Iterator[None]:
    """A connection to anywhere but this machine fails, and is noticed even if somebody makes do without it."""
    real = socket.socket.connect
    asked = []

    def connect(sock: socket.socket, address: Any) -> None:
        if address[0] not in {"127.0.0.1", "::1"}:
            asked.append(address)
            raise OSError(f"the demo is offline, and {address} was asked for")
        real(sock, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        yield
    assert asked == []
