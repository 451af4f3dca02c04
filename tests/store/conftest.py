"""The stores that every test of the interface runs with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infx.git import Git
from infx.store.memory import MemoryStore
from infx.store.open import open_store
from infx.store.port import ResultStore
from tests.store.clones import make_clone
from tests.store.postgres import NoPostgresError, run_postgres

OpenStore = Callable[[], ResultStore]  # opens the same store each time


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Return the address of a server, which every test gets with tables of its own."""
    try:
        with run_postgres() as address:
            yield address
    except NoPostgresError as error:
        pytest.skip(f"no Postgres: {error}")


_schemas = itertools.count()


def _make_schema(address: str) -> str:
    import psycopg

    name = f"test_{next(_schemas)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"create schema {name}".encode())
    return f"{address}&options=-csearch_path%3D{name}"


@pytest.fixture
def clone(tmp_path: Path) -> Git:
    return make_clone(tmp_path)


@pytest.fixture(params=["memory", "branch", "sqlite", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    """Return a function that opens the store again, as another process would."""
    if request.param == "memory":
        store = MemoryStore()
        return lambda: store
    git = make_clone(tmp_path) if request.param == "branch" else Git(tmp_path)
    address = "branch:infx-results" if request.param == "branch" else f"sqlite:{tmp_path / 'results.db'}"
    if request.param == "postgres":
        address = _make_schema(request.getfixturevalue("postgres"))
    return lambda: open_store(address, git, author="octocat")


@pytest.fixture
def store(opener: OpenStore) -> ResultStore:
    return opener()
