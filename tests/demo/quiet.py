"""Play the demo without a terminal and without a network."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from infx.bench.jobs import RowJob
from infx.play.steps import RowOutcome


class Quiet:
    """A display of progress that shows nothing."""

    def begin(self, total: int, title: str) -> None: ...

    def started(self, job: RowJob) -> None: ...

    def ended(self, outcome: RowOutcome) -> None: ...

    def end(self) -> None: ...


@contextmanager
def offline() -> Iterator[None]:
    """Refuse connections to other machines, and fail at the end even if the caller ignored the refusal."""
    connect_really = socket.socket.connect
    refused = []

    def connect(sock: socket.socket, address: Any) -> None:
        if address[0] not in {"127.0.0.1", "::1"}:
            refused.append(address)
            raise OSError(f"the demo is offline and must not connect to {address}")
        connect_really(sock, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        yield
    assert refused == []
