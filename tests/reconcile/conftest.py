from __future__ import annotations

from collections.abc import Iterator

import pytest

from infx.hub.service import Snapshot
from tests.reconcile.world import NOW, World, policy


@pytest.fixture(scope="session")
def made_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Snapshot]]:
    """Create one hub for all tests, because its creation takes longer than most tests."""
    world = World.make(tmp_path_factory.mktemp("world"))
    yield world, world.hub.snapshot()
    world.hub.stop()


@pytest.fixture
def world(made_world: tuple[World, Snapshot]) -> World:
    """Restore the hub to a repository with a changelog and no pull request."""
    world, start = made_world
    world.hub.restore(start)
    world.hub.clear_log()
    world.hub.faults.clear()
    world.clock.now, world.policy = NOW, policy()
    world.waited.clear()
    assert world.hub.errors == []
    return world
