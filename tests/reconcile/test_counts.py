"""Count the requests of a reconciliation; a workflow token has 1,000 requests and GraphQL points an hour."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from infx.gather.choose import list_recent
from infx.gather.clone import GitClone
from infx.gather.reconcile import MAX_READS
from infx.hub import FOREVER, Fault, FaultKind
from infx.reconcile.acknowledge import MAX_ANSWERED
from tests.reconcile.world import BASE, BOT, LABEL, World, entry

REUSE_READS = (
    8  # role, pull requests of the branch, runs, dispatches, artifacts, jobs, earlier bases, reactions
)
PAGES = 2  # beyond the first, of 300 comments


def chat(world: World, count: int = 300) -> None:
    """Add comments, and let a day pass."""
    for index in range(count):
        world.hub.comment(77, f"comment {index}", by="eve")
    world.clock.now += timedelta(days=1)


def count(world: World) -> tuple[int, int, int]:
    """Reconcile, and return the numbers of reads, GraphQL points and writes."""
    world.hub.clear_log()
    report = world.reconcile()
    assert not report.failed
    assert world.hub.writes == len(report.done)
    return world.hub.reads, world.hub.points, world.hub.writes


def test_three_hundred_comments_cost_two_more_points(world: World) -> None:
    world.pull(
        {"perf-changelog.yaml": BASE + entry(link="https://github.com/acme/bench/pull/77")}, labels=[LABEL]
    )
    world.sweep(done=40, status="completed", conclusion="success")
    chat(world)
    # runs, jobs and the comparison of the sweep, and one search for duplicates of the new comments
    assert count(world) == (3 + 1, 1 + PAGES, 3)
    assert count(world) == (2, 1 + PAGES + 1, 0)  # 302 comments need one more page


def test_the_bot_s_comments_are_found_on_any_page(world: World) -> None:
    world.pull(labels=[LABEL])
    chat(world, 150)
    world.reconcile()
    chat(world, 150)
    assert count(world)[-1] == 0


def plain(world: World) -> None:
    world.pull()


def labeled_without_a_sweep(world: World) -> None:
    world.pull()
    for _ in range(6):
        world.sweep(done=0, status="completed", conclusion="success")
    world.hub.label(77, LABEL, by=BOT)


def noise(world: World) -> None:
    """Add runs that the gate ignored, before and after a running sweep, and earlier sweeps."""
    world.pull(labels=[LABEL])
    for _ in range(3):
        run = world.sweep(done=2, status="completed", conclusion="failure")
        world.hub.add_artifact(run.id, "results_bmk", {"x": "y"})
    world.hub.push("feat-x", {"benchmarks/run.sh": "echo\n"})
    world.sweep(done=3, running=2)
    for _ in range(5):
        world.sweep(done=0, status="completed", conclusion="success")


def swept(world: World) -> None:
    """Add a successful sweep, whose proof is not gathered twice."""
    world.pull(
        {"perf-changelog.yaml": BASE + entry(link="https://github.com/acme/bench/pull/77")}, labels=[LABEL]
    )
    world.sweep(done=2, status="completed", conclusion="success")


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
    ("scene", "shared"),
    # shared: the runs of its branch, and the list of results or of dispatched runs if one is needed
    [(plain, 1), (labeled_without_a_sweep, 3), (noise, 2), (swept, 0), (fork, 1), (closed, 1)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_no_scene_needs_more_reads(world: World, scene: Callable[[World], None], shared: int) -> None:
    """A single pull request reads the lists that many pull requests would share."""
    scene(world)
    count(world)
    reads, points, writes = count(world)
    assert reads <= MAX_READS + shared
    assert (points, writes) == (1, 0)


def commanded(world: World, *, by: str = "mia") -> None:
    """Ask for the reuse of a successful sweep, below many comments of which some carry people's thumbs."""
    swept(world)
    world.hub.account("mia", role="admin")
    world.hub.add_artifact(max(world.hub.state.runs), "results_bmk", {"x": "y"})
    for index in range(20):
        praised = world.hub.comment(77, f"comment {index}", by="eve")
        world.hub.react(praised.id, "+1", by="cody")
    world.hub.comment(77, "/reuse-sweep-run", by=by)


def test_a_reuse_command_costs_eight_reads(world: World) -> None:
    commanded(world)
    assert count(world)[-1] == 4, "greeting, visualizer comment, status and thumb"
    reads, points, writes = count(world)
    assert (points, writes) == (1, 0)
    (command,) = (c for c in world.hub.comments_of(77) if c.body == "/reuse-sweep-run")
    world.hub.delete_comment(command.id)
    assert reads - count(world)[0] == REUSE_READS


def test_the_command_of_a_person_without_access_costs_nothing(world: World) -> None:
    commanded(world, by="eve")
    count(world)
    assert count(world) == (2, 1, 0)


@pytest.mark.parametrize("number", [1, 12])
def test_thumbs_on_edited_comments_are_read_up_to_a_limit(world: World, number: int) -> None:
    """One of them may be infx's answer to a command that an edit removed."""
    swept(world)
    for index in range(number):
        comment = world.hub.comment(77, f"comment {index}", by="eve")
        world.hub.react(comment.id, "+1", by="cody")
        world.clock.now += timedelta(minutes=1)
        world.hub.edit_comment(comment.id, f"comment {index}, edited")
    count(world)
    assert count(world) == (2 + min(number, MAX_ANSWERED), 1, 0)


# An hour with 60 recently updated pull requests, reconciled four times


def busy(world: World, count: int = 60) -> None:
    """Create active pull requests, 300 earlier runs, and 12 comments on each pull request, 150 on two.

    Of sixty pull requests, 48 have a sweep in any state, six come from forks (four with an approved sweep),
    and six have no label.
    """
    for day in range(5 * count):
        world.hub.add_run(branch=f"old-{day}", head_sha=world.hub.git.resolve("main"), status="completed")
        world.clock.now += timedelta(minutes=30)
    for number in range(100, 100 + count):
        world.clock.now += timedelta(minutes=1)
        kind = number % 10
        if kind == 9:
            add_fork(world, number)
        else:
            add_pull(world, number, kind)
        for index in range(150 if number in {104, 128} else 12):
            world.hub.comment(number, f"comment {index}", by="eve")


def add_pull(world: World, number: int, kind: int) -> None:
    link = f"https://github.com/acme/bench/pull/{number}"
    labels = [] if kind == 8 else [LABEL]
    files = {"perf-changelog.yaml": BASE + entry(f"of {number}", link)}
    world.pull(files, number=number, branch=f"b{number}", labels=labels)
    for _ in range(kind % 3):  # runs whose gate started nothing
        world.sweep(number, done=0, status="completed", conclusion="success")
    if kind != 8:
        ends = ["success", "failure", "cancelled", None][kind % 4]
        state: dict[str, Any] = {"status": "completed", "conclusion": ends} if ends else {}
        run = world.sweep(number, done=2, failed=ends == "failure", running=0 if ends else 2, **state)
        if ends:
            world.hub.add_artifact(run.id, "results_bmk", {"x": "y"})


def add_fork(world: World, number: int) -> None:
    world.hub.push(f"b{number}", {"perf-changelog.yaml": BASE + entry()}, repository="eve/bench")
    pull = world.hub.open_pull(f"b{number}", number=number, repository="eve/bench", by="eve", labels=[LABEL])
    if number > 119:
        world.hub.comment(number, f"/approve-sweep {pull.head_sha}", by="mia")
        inputs = {"pr": str(number), "head-ref": pull.head_sha}
        run = world.hub.dispatch("run-sweep.yml", ref="main", inputs=inputs)
        url = f"https://github.com/acme/bench/actions/runs/{run.id}"
        world.hub.set_status(pull.head_sha, "infx/approval", "success", target_url=url)


def reconcile_recent(world: World, clone: GitClone | None = None) -> GitClone | None:
    """Run `infx reconcile --since 2h`, with the clone of an earlier pass to save time."""
    reconciler = world.reconciler(memory=True, clone=clone)
    since = world.clock.now - timedelta(hours=2)
    chosen = list_recent(reconciler.github, world.policy, since, reconciler.recent)
    assert sorted(chosen) == [number for number in sorted(world.hub.state.pulls) if number >= 100]
    report = reconciler.run(chosen)
    assert (report.failed, report.refused, report.left) == ([], [], [])
    return reconciler.clone


def count_single_reads(world: World) -> Counter[int]:
    """Count the reads that were made for a single pull request, by its number."""
    pull_of_run = {}
    for run in world.hub.state.runs.values():
        title = re.match(r"PR (\d+) at", run.title)
        pulls = [p.number for p in world.hub.state.pulls.values() if p.head_ref == run.head_branch]
        pull_of_run[run.id] = int(title[1]) if title else pulls[0] if pulls else 0
    reads: Counter[int] = Counter()
    for exchange in world.hub.log:
        request = f"{exchange.path}?{exchange.query.get('branch', '')}"
        if match := re.search(r"/actions/runs/(\d+)/jobs", request):
            reads[pull_of_run[int(match[1])]] += 1
        elif match := re.search(r"/(?:pulls|issues)/(\d+)|\?b(\d+)$", request):
            reads[int(match[1] or match[2])] += 1
    return reads


def test_an_hour_with_sixty_active_pull_requests(world: World) -> None:
    """Four passes use at most 300 of GitHub's 1,000 requests and 20 of its 1,000 GraphQL points.

    The rest is left to gates, sign-offs and sweeps. The test makes two of the four passes. Each pass reads
    the jobs of 64 runs (52 pull requests have a sweep, six without a label have two idle runs each), 4 pages
    of runs, 2 of pull requests and 1 of results. Three queries return 60 pull requests, and two more queries
    two long conversations.
    """
    busy(world)
    clone = reconcile_recent(world)  # writes what is missing
    before, reads, points = world.state(), 0, 0
    for _ in range(2):
        world.clock.now += timedelta(minutes=1)
        world.hub.clear_log()
        reconcile_recent(world, clone)
        assert max(count_single_reads(world).values()) <= 2
        reads, points = reads + world.hub.reads, points + world.hub.points
        assert world.hub.writes == 0
    assert world.state() == before
    assert (2 * reads <= 300, 2 * points) == (True, 4 * 5), reads


def test_without_graphql_the_result_is_the_same(world: World) -> None:
    """It needs more requests, which is why a command has a budget."""
    busy(world, 20)
    start = world.hub.snapshot()
    clone = reconcile_recent(world)
    wanted = world.state()
    world.hub.restore(start)
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path="/graphql", times=FOREVER))
    world.policy = replace(world.policy, limits=replace(world.policy.limits, api_requests=5000))
    reconcile_recent(world, clone)
    assert world.state() == wanted


def test_a_command_stops_before_its_budget_is_spent(world: World) -> None:
    for number in range(70, 80):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    small = replace(world.policy, limits=replace(world.policy.limits, api_requests=34))
    world.policy = small
    world.hub.clear_log()
    report = world.reconcile(*range(70, 80))
    assert len(world.hub.log) <= 34
    assert report.left == list(range(73, 80))
    assert report.why_left == "the budget of 34 calls is nearly spent"
    assert [len(world.bot_comments(number)) for number in range(70, 75)] == [1, 1, 1, 0, 0]


def test_a_command_stops_before_github_s_limit_is_reached(world: World) -> None:
    world.pull()
    reconciler = world.reconciler()
    reconciler.github.requests.remaining = 11
    report = reconciler.run([77])
    assert report.left == [77]
    assert report.why_left == "GitHub allows only 11 more calls this hour"


def test_a_long_rate_limit_ends_the_command(world: World) -> None:
    for number in (77, 78):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    world.hub.faults.add(Fault(kind=FaultKind.TOO_MANY, path="/actions/", seconds=3600))
    report = world.reconcile(77, 78)
    assert [number for number, _ in report.failed] == [77]
    assert report.left == [78]
    assert world.waited == []
