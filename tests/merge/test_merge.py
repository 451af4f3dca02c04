"""Merge pull requests against a hub, through the command line."""

from __future__ import annotations

from tests.merge.world import BASE, OTHER, OWN, World


def test_a_ready_pull_request_is_merged(world: World) -> None:
    world.pull()
    called = world.merge()
    print(called.err, called.out)
    assert called.code == 0
    assert world.hub.state.pulls[77].merged_at
    assert world.file() == BASE + OWN


def test_a_changelog_conflict_is_resolved_before_the_merge(world: World) -> None:
    world.pull()
    world.conflict()
    called = world.merge()
    print(called.err, called.out)
    assert called.code == 0
    assert world.file() == BASE + OTHER + OWN


def test_count(world: World) -> None:
    world.pull()
    world.conflict()
    world.hub.clear_log()
    world.merge()
    for e in world.hub.log:
        print(e.method, e.path)
    assert 0
