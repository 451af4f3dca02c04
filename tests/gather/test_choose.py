"""Check which pull requests a command chooses."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from infx.gather.choose import list_in_turn, list_open, list_recent, select_moved
from infx.gather.reconcile import RESERVE
from infx.gather.sources import list_runs
from infx.github import convert
from infx.hub import render
from tests.reconcile.world import BASE, NOW, World, entry

DAY = timedelta(days=1)


def recent(world: World, **ago: int) -> list[int]:
    github = world.reconciler().github
    runs = list_runs(github, world.policy)
    return list_recent(github, world.policy, world.clock.now - timedelta(**ago), runs)


def several(world: World) -> None:
    for number in (71, 72, 73):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
        world.clock.now += timedelta(hours=1)
    world.clock.now += timedelta(hours=1)


def test_every_open_pull_request_is_reached_within_the_budget(world: World) -> None:
    """40 calls are enough for two pull requests in any case, so five take three days."""
    for number in range(71, 76):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    small = replace(world.policy, limits=replace(world.policy.limits, api_requests=2 * RESERVE))
    github = world.reconciler().github
    turns = [list_in_turn(github, small, date(2026, 11, day)) for day in (28, 29, 30)]
    assert [sorted(turn) for turn in turns] == [[71, 72, 73, 74, 75]] * 3
    assert {number for turn in turns for number in turn[:2]} == {71, 72, 73, 74, 75}
    assert list_in_turn(github, replace(small, base_branch="none"), date(2026, 11, 30)) == []


def test_recently_updated_pull_requests_come_latest_first(world: World) -> None:
    several(world)
    assert recent(world, hours=1) == []
    assert recent(world, hours=2) == [73]
    assert recent(world, hours=10) == [73, 72, 71]


def test_closed_pull_requests_are_included(world: World) -> None:
    """Their sweeps may still run."""
    several(world)
    world.hub.close_pull(71)
    assert recent(world, minutes=5) == [71]


@pytest.mark.parametrize("status", ["in_progress", "queued"])
def test_a_pull_request_with_a_running_sweep_is_included(world: World, status: str) -> None:
    several(world)
    world.sweep(72, done=1, status=status)
    world.clock.now += DAY
    assert recent(world, hours=2) == [72]


def test_a_pull_request_whose_sweep_has_ended_is_included(world: World) -> None:
    """The end of a run does not update its pull request."""
    several(world)
    run = world.sweep(72, done=1)
    world.clock.now += DAY
    world.hub.finish_run(run.id)
    assert recent(world, hours=2) == [72]
    world.clock.now += DAY
    assert recent(world, hours=2) == []


def test_the_pull_request_of_a_fork_s_run_is_found_by_its_branch(world: World) -> None:
    world.hub.push("fork-x", {"benchmarks/x": "y"}, repository="eve/bench")
    world.hub.open_pull("fork-x", number=80, repository="eve/bench", by="eve")
    run = world.sweep(80, done=1)
    assert run.pulls == []
    world.clock.now += DAY
    assert recent(world, hours=2) == [80]


def test_the_title_of_a_dispatched_run_names_its_pull_request(world: World) -> None:
    several(world)
    world.hub.add_run(event="workflow_dispatch", branch="main", title=f"PR 72 at {'a' * 40}")
    world.hub.add_run(event="workflow_dispatch", branch="main", title="run-sweep")
    # The title of an event's run is the pull request's, so its author can choose it.
    world.sweep(73, title=f"PR 71 at {'b' * 40}", status="completed")
    world.clock.now += DAY
    assert recent(world, hours=2) == [72]


def test_a_pull_request_within_a_fork_is_ignored(world: World) -> None:
    several(world)
    fork = {"id": 2, "url": "https://api.github.com/repos/eve/bench", "name": "bench"}
    foreign = {"number": 71, "base": {"repo": fork}, "head": {"repo": fork}}
    data = {**render.run(world.hub, world.sweep(72)), "pull_requests": [foreign]}
    assert convert.parse_run(data).pull_numbers == ()


def test_pull_requests_into_another_branch_are_left_out(world: World) -> None:
    world.hub.push("trunk", {})
    world.hub.push("b", {"benchmarks/x": "y"})
    world.hub.open_pull("b", number=71, base="trunk")
    assert recent(world, hours=1) == []
    assert list_open(world.reconciler().github, world.policy) == []


def test_a_push_to_the_base_selects_pull_requests_with_new_conflicts(world: World) -> None:
    """One request lists all pull requests; the rest comes from git."""
    assert world.clock.now == NOW
    changelog = {"perf-changelog.yaml": BASE + entry()}
    world.pull(changelog, number=71, branch="b71")
    world.pull({"benchmarks/x.sh": "x"}, number=72, branch="b72")
    world.pull({"README.md": "mine"}, number=73, branch="b73")  # conflicts, but changes no benchmark
    before = world.hub.git.resolve("main") or ""
    world.hub.push("main", {"perf-changelog.yaml": BASE + entry("other"), "README.md": "theirs"})
    reconciler = world.reconciler()
    world.hub.clear_log()
    pulls = list_open(reconciler.github, world.policy)
    assert reconciler.clone is not None
    tip = reconciler.clone.fetch("main", [pull.number for pull in pulls])
    assert select_moved(pulls, world.clone, world.policy, before, tip) == [71]
    again = world.hub.push("main", {"benchmarks/y.sh": "y"})
    reconciler.clone.fetch("main", [])
    assert select_moved(pulls, world.clone, world.policy, tip, again) == []
    assert world.hub.reads == 1
