"""What a reconciliation costs, counted by the hub: GitHub gives a repository's token 1,000 requests an hour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from infx.reconcile.gather import EXTRA_READS, MAX_READS
from tests.reconcile.world import BASE, BOT, LABEL, World, entry

PAGES = 2  # beyond the first, of 300 comments


def chat(world: World, count: int = 300) -> None:
    """Of the days before."""
    for index in range(count):
        world.hub.comment(77, f"comment {index}", by="eve")
    world.clock.now += timedelta(days=1)


def count(world: World) -> tuple[int, int]:
    world.hub.clear_log()
    report = world.reconcile()
    assert not report.failed
    assert world.hub.writes == len(report.done)
    return world.hub.reads, world.hub.writes


def test_three_hundred_comments(world: World) -> None:
    world.pull(
        {"perf-changelog.yaml": BASE + entry(link="https://github.com/acme/bench/pull/77")}, labels=[LABEL]
    )
    world.sweep(done=40, status="completed", conclusion="success")
    chat(world)
    # pull, comments, statuses, runs, jobs; and one look whether somebody else created the same
    assert count(world) == (5 + PAGES + 1, 3)
    assert MAX_READS == 5 + 1
    assert count(world) == (5 + PAGES + 1, 0)  # 302 comments are a page more


def test_the_bot_s_comments_are_found_on_any_page(world: World) -> None:
    world.pull(labels=[LABEL])
    chat(world, 150)
    world.reconcile()
    chat(world, 150)
    assert count(world)[1] == 0


def plain(world: World) -> None:
    world.pull()


def labelled_and_nothing_started(world: World) -> None:
    world.pull()
    for _ in range(6):
        world.sweep(done=0, status="completed", conclusion="success")
    world.hub.label(77, LABEL, by=BOT)


def noise(world: World) -> None:
    """Runs that the gate ignored, around one that sweeps, and earlier ones."""
    world.pull(labels=[LABEL])
    for _ in range(3):
        run = world.sweep(done=2, status="completed", conclusion="failure")
        world.hub.add_artifact(run.id, "results_bmk", {"x": "y"})
    world.hub.push("feat-x", {"benchmarks/run.sh": "echo\n"})
    world.sweep(done=3, running=2)
    for _ in range(5):
        world.sweep(done=0, status="completed", conclusion="success")


def fork(world: World) -> None:
    world.hub.push("fork-x", {"perf-changelog.yaml": BASE + entry()}, repository="eve/bench")
    pull = world.hub.open_pull("fork-x", number=77, repository="eve/bench", by="eve", labels=[LABEL])
    world.hub.comment(77, f"/approve-sweep {pull.head_sha}", by="mia")
    run = world.hub.dispatch("run-sweep.yml", ref="main", inputs={})
    url = f"https://github.com/acme/bench/actions/runs/{run.id}"
    world.hub.set_status(pull.head_sha, "infx/approval", "success", target_url=url)


def closed(world: World) -> None:
    world.pull(labels=[LABEL])
    world.sweep(done=1, status="completed", conclusion="success")
    world.hub.close_pull(77)


@pytest.mark.parametrize(
    ("scene", "extra"),
    [(plain, 0), (labelled_and_nothing_started, EXTRA_READS), (noise, 0), (fork, 0), (closed, 0)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_no_scene_needs_more_reads(world: World, scene: Callable[[World], None], extra: int) -> None:
    scene(world)
    count(world)
    reads, writes = count(world)
    assert reads <= MAX_READS + extra
    assert writes == 0


def test_a_command_stops_before_its_budget_is_spent_and_says_what_it_left(world: World) -> None:
    for number in range(70, 80):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    small = replace(world.policy, limits=replace(world.policy.limits, api_requests=30))
    world.policy = small
    world.hub.clear_log()
    report = world.reconcile(*range(70, 80))
    assert len(world.hub.log) <= 30
    assert report.left == list(range(73, 80))
    assert report.why_left == "the budget of 30 calls is nearly spent"
    assert [len(world.ours(number)) for number in range(70, 75)] == [1, 1, 1, 0, 0]


def test_it_stops_before_github_does(world: World) -> None:
    world.pull()
    reconciler = world.reconciler()
    reconciler.github.requests.remaining = 11
    report = reconciler.run([77])
    assert report.left == [77]
    assert report.why_left == "GitHub allows only 11 more calls this hour"


def test_a_limit_that_is_too_long_ends_the_pass(world: World) -> None:
    from infx.hub import Fault, FaultKind

    for number in (77, 78):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    world.hub.faults.add(Fault(kind=FaultKind.TOO_MANY, seconds=3600))
    report = world.reconcile(77, 78)
    assert [number for number, _ in report.failed] == [77]
    assert report.left == [78]
    assert world.waited == []
