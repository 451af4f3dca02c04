"""A hub with one pull request, 77 from cody's branch `feat-x`, and clients that record their waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import requests

from infx.github.api import GitHub, connect
from infx.hub import Hub
from infx.hub.faults import Faults
from infx.hub.seed import WORKFLOW_FILES
from infx.hub.service import Snapshot
from tests.conftest import SHARED
from tests.hub.openapi import Description, check_log

ALL = dict.fromkeys(("actions", "checks", "contents", "issues", "pull-requests", "statuses"), "write")


@pytest.fixture(scope="session")
def shared_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hub, Snapshot]]:
    with Hub(tmp_path_factory.mktemp("hub")) as made:
        fill(made)
        yield made, made.snapshot()
        assert made.errors == []


@pytest.fixture(scope="session")
def github_description() -> Description | None:
    """Return GitHub's description of its API, or None without the data folder."""
    path = SHARED / "data" / "github-openapi-slice-2.json"
    return Description(path) if path.exists() else None


@pytest.fixture
def hub(shared_hub: tuple[Hub, Snapshot], github_description: Description | None) -> Iterator[Hub]:
    """Yield the shared hub, reset for one test; then check its log against GitHub's description."""
    made, start = shared_hub
    assert made.errors == []
    made.restore(start)
    made.faults = Faults()
    made.tokens.clear()
    made.push_as(None)
    made.listeners.clear()
    made.clear_log()
    made.refill()
    yield made
    if github_description is not None:
        check_log(made, github_description)


def fill(hub: Hub) -> None:
    for login, role in {"mia": "admin", "cody": "write", "amy": "write"}.items():
        hub.account(login, role=role)
    hub.push(
        "main", {"README.md": "one\n", "configs/amd.yaml": "a: 1\n", **WORKFLOW_FILES}, "first", by="mia"
    )
    hub.push("feat-x", {"README.md": "one\ntwo\n", "docs/new.md": "hello\n"}, "second")
    hub.open_pull("feat-x", title="Add two", number=77)


@pytest.fixture
def waits() -> list[float]:
    """Return the list of seconds that the clients of this test would have waited."""
    return []


@pytest.fixture
def client(hub: Hub, waits: list[float]) -> Callable[[str | None], GitHub]:
    """Return a function that makes a client for a token, or an anonymous client for None."""

    def make(token: str | None) -> GitHub:
        return connect(hub.repository, environ=hub.environ(token), sleep=waits.append)

    return make


@pytest.fixture
def github(hub: Hub, client: Callable[[str | None], GitHub]) -> GitHub:
    """Return a client with a workflow token that has every permission of a workflow."""
    return client(hub.workflow_token(ALL))


def ask(hub: Hub, text: str, token: str | None = None, **variables: Any) -> Any:
    """Return the answer to a GraphQL query or mutation, by default with a token that only reads."""
    token = token or hub.workflow_token(pull_requests="read", statuses="read")
    body: Mapping[str, Any] = {"query": text, "variables": variables}
    headers = {"Authorization": f"token {token}"}
    return requests.post(f"{hub.api}/graphql", headers=headers, json=body, timeout=5).json()
