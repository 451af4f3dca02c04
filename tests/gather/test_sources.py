"""The facts of a pull request are the same from every source."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from infx.apply.reconcile import Reconciler
from infx.errors import InfxError
from infx.gather.reconcile import ReconcileGatherer
from infx.gather.sources import NEWEST_RUNS, RecentList, SharedSource, SingleSource, list_runs
from infx.github.errors import GitHubError
from infx.hub import FOREVER, Fault, FaultKind
from infx.model import Run
from infx.reconcile.facts import ReconcileFacts
from tests.builders import run
from tests.reconcile.world import BASE, BOT, LABEL, NOW, World, entry

MANY = 30


def create_random_pull(world: World, number: int, dice: random.Random) -> None:
    """Create a pull request with a random history of comments, statuses, labels and runs."""
    world.clock.now += timedelta(minutes=dice.randint(0, 90))
    repository = dice.choice([None, None, None, "eve/bench"])
    files = (
        {"perf-changelog.yaml": BASE + entry(f"of {number}")}
        if dice.random() < 0.8
        else {"README.md": str(number)}
    )
    labels = dice.choice([[], [LABEL], [LABEL, "full-sweep-enabled"], ["docs", LABEL.upper()]])
    by = dice.choice(["cody", "eve", BOT])
    branch = f"b{number - number % 2 * dice.randint(0, 1)}"  # sometimes the previous pull request's branch
    draft = dice.random() < 0.2
    head = (branch, repository or world.hub.repository)
    for other in list(world.hub.state.pulls.values()):  # a branch may have only one open pull request
        if other.is_open and (other.head_ref, other.head_repository) == head:
            world.hub.close_pull(other.number)
    pull = world.pull(
        files, number=number, branch=branch, repository=repository, by=by, labels=labels, draft=draft
    )
    for _ in range(dice.choice([0, 1, 3])):
        world.hub.label(number, "docs", by=dice.choice(["mia", BOT]))
        world.hub.unlabel(number, "docs", by="mia")
    for index in range(dice.choice([0, 2, 5, 99, 100, 101, 205])):
        world.hub.comment(number, f"comment {index}", by=dice.choice(["eve", "mia", BOT, None]))
    if comments := world.hub.comments_of(number):
        world.hub.edit_comment(dice.choice(comments).id, "edited", by=dice.choice(["eve", "ghost", BOT]))
        world.hub.delete_comment(dice.choice(comments).id)
    for _ in range(dice.randint(0, 3)):
        state = dice.choice(["success", "failure", "pending", "error"])
        context = dice.choice(["ci", "infx/sweep", "codeowner-signoff-verify"])
        world.hub.set_status(pull.head_sha, context, state, by=dice.choice([BOT, "eve"]))
    add_random_runs(world, number, dice)
    if repository:
        approve(world, number, dice)
    if dice.random() < 0.3:
        world.hub.push(branch, {"benchmarks/x.sh": str(number)}, repository=repository)
    if dice.random() < 0.2:
        world.hub.close_pull(number)


def add_random_runs(world: World, number: int, dice: random.Random) -> None:
    for _ in range(dice.randint(0, 5)):
        world.clock.now += timedelta(minutes=dice.randint(0, 5))
        ended = dice.choice(["success", "failure", "cancelled", "timed_out", None])
        state: dict[str, Any] = {"status": "completed", "conclusion": ended} if ended else {}
        run = world.sweep(
            number, done=dice.randint(0, 3), failed=dice.randint(0, 1), running=0 if ended else 1, **state
        )
        if ended and dice.random() < 0.5:
            world.hub.add_artifact(run.id, "results_bmk", {"x": "y"}, expired=dice.random() < 0.2)
        if ended and dice.random() < 0.3:
            world.hub.rerun(run.id)
    if dice.random() < 0.3:
        head = world.hub.state.pulls[number].head_sha
        inputs = {"pr": str(number), "head-ref": dice.choice([head, "0" * 40])}
        world.hub.dispatch("run-sweep.yml", ref="main", inputs=inputs, by="mia")


def approve(world: World, number: int, dice: random.Random) -> None:
    """Approve the head, or a commit that does not exist."""
    sha = world.hub.state.pulls[number].head_sha
    world.hub.comment(number, f"/approve-sweep {dice.choice([sha, '0' * 40])}", by="mia")
    if dice.random() < 0.7:
        inputs = {"pr": str(number), "head-ref": sha}
        run = world.hub.dispatch("run-sweep.yml", ref="main", inputs=inputs)
        url = f"https://github.com/acme/bench/actions/runs/{run.id}"
        world.hub.set_status(sha, "infx/approval", dice.choice(["success", "error"]), target_url=url)


def gatherer(reconciler: Reconciler, numbers: range) -> ReconcileGatherer:
    assert reconciler.clone is not None
    place, path = reconciler.place, reconciler.policy_path
    branches = reconciler.clone.open_branches(reconciler.policy, place, numbers, path)
    return ReconcileGatherer(reconciler.github, reconciler.policy, branches)


def normalize(facts: ReconcileFacts) -> ReconcileFacts:
    """Return the facts without editors, which only GraphQL reports, and with ordered statuses."""
    comments = tuple(replace(comment, editor=None) for comment in facts.comments)
    statuses = tuple(sorted(facts.statuses, key=lambda status: status.context))
    return replace(facts, comments=comments, statuses=statuses)


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 12))]
)
def test_shared_single_and_rest_sources_have_the_same_facts(world: World, seed: int) -> None:
    dice, numbers = random.Random(seed), range(100, 100 + MANY)
    for number in numbers:
        create_random_pull(world, number, dice)
    reconciler = world.reconciler(memory=True)
    for_all, for_each = gatherer(reconciler, numbers), gatherer(reconciler, numbers)
    source = SharedSource(SingleSource(reconciler.github, world.policy), numbers, reconciler.recent)
    shared = [for_all.gather(number, source) for number in numbers]
    single = [for_each.gather(number) for number in numbers]
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path="/graphql", times=FOREVER))
    without_graphql = gatherer(world.reconciler(clone=reconciler.clone), numbers)
    assert shared == single
    assert [normalize(facts) for facts in single] == [
        normalize(without_graphql.gather(number)) for number in numbers
    ]
    if seed == 1:  # this seed makes everything that is worth comparing; other seeds may miss something
        assert {facts.gate.label_actor for facts in single} > {None}
        assert any(len(facts.comments) > 200 for facts in single)
        assert any(facts.gate.approval for facts in single)


def test_both_sources_return_the_newest_runs_of_a_branch(world: World) -> None:
    """If the shared list would need too many pages, the shared source requests the branch's own list."""
    world.pull(number=77)
    for _ in range(NEWEST_RUNS + 3):
        world.sweep(77, done=0, status="completed")
    for index in range(120):
        world.clock.now += timedelta(seconds=1)
        world.hub.add_run(branch=f"x{index}", head_sha=world.hub.state.pulls[77].head_sha, status="completed")
    reconciler = world.reconciler()
    single = SingleSource(reconciler.github, world.policy)
    pull = single.overview(77).pull
    newest_runs = single.runs(pull)
    assert len(newest_runs) == NEWEST_RUNS
    for others in (1, 9):
        world.hub.clear_log()
        numbers = list(range(77, 77 + others))
        shared = SharedSource(single, numbers, RecentList(reconciler.recent.read))
        assert shared.runs(pull) == newest_runs
        assert world.hub.reads == 2  # one page and the branch; or two pages


def test_a_pull_request_outside_the_command_is_read_alone(world: World) -> None:
    """The chunks of the command's own pull requests do not change."""
    for number in (77, 78, 79):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    single = SingleSource(world.reconciler().github, world.policy)
    shared = SharedSource(single, [77, 78], list_runs(single.reader, world.policy))
    world.hub.clear_log()
    assert [shared.overview(number).pull.number for number in (77, 79, 78, 77, 79)] == [77, 79, 78, 77, 79]
    assert (world.hub.queries, world.hub.reads) == (2, 0)


def hours_ago(number: int, hours: int) -> Run:
    return run(id=number, created_at=NOW - timedelta(hours=hours))


def test_a_page_that_failed_is_read_again() -> None:
    """A failed page is not the end of the list. A new run in between makes one run appear twice."""
    pages: Iterator[tuple[list[Run], bool] | InfxError] = iter(
        [
            ([hours_ago(9, 1), hours_ago(8, 2)], False),
            GitHubError("away"),
            ([hours_ago(8, 2), hours_ago(7, 3)], True),
        ]
    )
    asked: list[int] = []

    def read(number: int) -> tuple[list[Run], bool]:
        asked.append(number)
        page = next(pages)
        if isinstance(page, InfxError):
            raise page
        return page

    recent: RecentList[Run] = RecentList(read)
    since: datetime = NOW - timedelta(hours=1, minutes=30)
    assert recent.reach(since)
    with pytest.raises(GitHubError):
        recent.reach(NOW - timedelta(hours=9))
    assert recent.reach(NOW - timedelta(hours=9))
    assert [item.id for item in recent.items] == [9, 8, 7]
    assert asked == [1, 2, 2]
