from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from infx.hub.service import Snapshot
from tests.merge.world import POLICY, World


@pytest.fixture(scope="session")
def made_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Snapshot]]:
    """Create one hub for all tests, because its creation takes longer than most tests."""
    world = World.make(tmp_path_factory.mktemp("merge"))
    yield world, world.hub.snapshot()
    world.hub.stop()


@pytest.fixture
def world(made_world: tuple[World, Snapshot]) -> World:
    """Restore the hub to a repository with a changelog and no pull request."""
    world, start = made_world
    world.hub.restore(start)
    world.hub.clear_log()
    world.hub.faults.clear()
    world.now, world.policy = World.now, POLICY
    world.waited.clear()
    return world


@pytest.fixture(autouse=True)
def on_wait(monkeypatch: pytest.MonkeyPatch, world: World) -> list[Callable[[], None]]:
    """Record the waits of commands instead of waiting; each wait calls the first function of the returned list."""
    due: list[Callable[[], None]] = []

    def wait(seconds: float) -> None:
        world.waited.append(seconds)
        if due:
            due.pop(0)()

    monkeypatch.setattr("infx.cli.github.wait", wait)
    return due
