"""A hub with one pull request, 77 of cody's branch `feat-x`, and clients that never really wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infx.github.api import GitHub, connect
from infx.hub import Hub

ALL = dict.fromkeys(("actions", "checks", "contents", "issues", "pull-requests", "statuses"), "write")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with Hub(tmp_path / "hub") as made:
        fill(made)
        yield made
        assert made.errors == []


def fill(hub: Hub) -> None:
    for login, role in {"mia": "admin", "cody": "write", "amy": "write"}.items():
        hub.account(login, role=role)
    hub.push("main", {"README.md": "one\n", "configs/amd.yaml": "a: 1\n"}, "first", by="mia")
    hub.push("feat-x", {"README.md": "one\ntwo\n", "docs/new.md": "hello\n"}, "second")
    hub.open_pull("feat-x", title="Add two", number=77)


@pytest.fixture
def waits() -> list[float]:
    """What the clients of this test would have waited."""
    return []


@pytest.fixture
def client(hub: Hub, waits: list[float]) -> Callable[[str | None], GitHub]:
    """A client for a token; without one for nobody."""

    def make(token: str | None) -> GitHub:
        return connect(hub.repository, environ=hub.environ(token), sleep=waits.append)

    return make


@pytest.fixture
def github(hub: Hub, client: Callable[[str | None], GitHub]) -> GitHub:
    """A client with a workflow token that may write everything a workflow may."""
    return client(hub.workflow_token(ALL))
