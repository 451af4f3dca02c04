from __future__ import annotations

from collections.abc import Iterator

import pytest

from infx.hub.service import Snapshot
from tests.reconcile.world import NOW, World, policy


@pytest.fixture(scope="session")
def made_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Snapshot]]:
    """One hub for all tests: making it takes longer than most of them."""
    world = World.make(tmp_path_factory.mktemp("world"))
    yield world, world.hub.snapshot()
    world.hub.stop()


@pytest.fixture
def world(made_world: tuple[World, Snapshot]) -> World:
    """As it was made: a repository with a changelog, and nothing else."""
    world, start = made_world
    world.hub.restore(start)
    world.hub.clear_log()
    world.hub.faults.clear()
    world.clock.now, world.policy = NOW, policy()
    world.waited.clear()
    assert world.hub.errors == []
    return world
