"""The hub with one pull request and a target, opened once for each file and restored for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from infx.hub.service import Snapshot
from tests.publish.world import ListedStore, Publishing, prepare


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Publishing, Snapshot]]:
    with prepare(tmp_path_factory.mktemp("publishing")) as publishing:
        yield publishing, publishing.world.hub.snapshot()


@pytest.fixture
def publishing(opened: tuple[Publishing, Snapshot]) -> Publishing:
    made, start = opened
    world = made.world
    world.hub.restore(start)
    world.hub.faults.clear()
    world.hub.clear_log()
    world.now = datetime(2026, 11, 30, 13, tzinfo=UTC)
    for prefix in ("refs/infx", "refs/test"):  # of an earlier test, whose history was rewritten
        for name in world.clone.refs(prefix):
            world.clone.run("update-ref", "-d", f"{prefix}/{name}")
    shutil.rmtree(world.folder / "out", ignore_errors=True)
    made.store, made.attempt, made.has_token = ListedStore(), 0, True
    made.follow()
    return made
