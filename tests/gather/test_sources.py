"""The facts of a pull request are the same whichever way they come."""

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
from infx.gather.sources import NEWEST_RUNS, Alone, Recent, Together, read_runs
from infx.github.errors import GitHubError
from infx.hub import FOREVER, Fault, FaultKind
from infx.model import Run
from infx.reconcile.facts import ReconcileFacts
from tests.builders import run
from tests.reconcile.world import BASE, BOT, LABEL, NOW, World, entry

MANY = 30


def anything(world: World, number: int, dice: random.Random) -> None:
    """A pull request with whatever can stand on it or have happened to it."""
    world.clock.now += timedelta(minutes=dice.randint(0, 90))
    repository = dice.choice([None, None, None, "eve/bench"])
    files = (
        {"perf-changelog.yaml": BASE + entry(f"of {number}")}
        if dice.random() < 0.8
        else {"README.md": str(number)}
    )
    labels = dice.choice([[], [LABEL], [LABEL, "full-sweep-enabled"], ["docs", LABEL.upper()]])
    by = dice.choice(["cody", "eve", BOT])
    branch = f"b{number - number % 2 * dice.randint(0, 1)}"  # now and then the branch of the one before
    draft = dice.random() < 0.2
    head = (branch, repository or world.hub.repository)
    for other in list(world.hub.state.pulls.values()):  # only one pull request of a branch may be open
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
    runs(world, number, dice)
    if repository:
        approve(world, number, dice)
    if dice.random() < 0.3:
        world.hub.push(branch, {"benchmarks/x.sh": str(number)}, repository=repository)
    if dice.random() < 0.2:
        world.hub.close_pull(number)


def runs(world: World, number: int, dice: random.Random) -> None:
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
        given = {"pr": str(number), "head-ref": dice.choice([head, "0" * 40])}
        world.hub.dispatch("run-sweep.yml", ref="main", inputs=given, by="mia")


def approve(world: World, number: int, dice: random.Random) -> None:
    """Its head, or nothing that was ever there."""
    sha = world.hub.state.pulls[number].head_sha
    world.hub.comment(number, f"/approve-sweep {dice.choice([sha, '0' * 40])}", by="mia")
    if dice.random() < 0.7:
        given = {"pr": str(number), "head-ref": sha}
        run = world.hub.dispatch("run-sweep.yml", ref="main", inputs=given)
        url = f"https://github.com/acme/bench/actions/runs/{run.id}"
        world.hub.set_status(sha, "infx/approval", dice.choice(["success", "error"]), target_url=url)


def gatherer(reconciler: Reconciler, numbers: range) -> ReconcileGatherer:
    assert reconciler.clone is not None
    place, path = reconciler.place, reconciler.policy_path
    branches = reconciler.clone.open_branches(reconciler.policy, place, numbers, path)
    return ReconcileGatherer(reconciler.github, reconciler.policy, branches)


def plain(facts: ReconcileFacts) -> ReconcileFacts:
    """Without what REST alone, or GraphQL alone, tells, and what has no order."""
    comments = tuple(replace(comment, editor=None) for comment in facts.comments)
    statuses = tuple(sorted(facts.statuses, key=lambda status: status.context))
    return replace(facts, comments=comments, statuses=statuses)


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 12))]
)
def test_many_pull_requests_are_the_same_all_three_ways(world: World, seed: int) -> None:
    """Together, alone, and without GraphQL."""
    dice, numbers = random.Random(seed), range(100, 100 + MANY)
    for number in numbers:
        anything(world, number, dice)
    reconciler = world.reconciler(memory=True)
    together, alone = gatherer(reconciler, numbers), gatherer(reconciler, numbers)
    shared = Together(Alone(reconciler.github, world.policy), numbers, reconciler.recent)
    of_all = [together.gather(number, shared) for number in numbers]
    of_one = [alone.gather(number) for number in numbers]
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path="/graphql", times=FOREVER))
    by_rest = gatherer(world.reconciler(clone=reconciler.clone), numbers)
    assert of_all == of_one
    assert [plain(facts) for facts in of_one] == [plain(by_rest.gather(number)) for number in numbers]
    if seed == 1:  # these dice make everything that is worth comparing; others may leave something out
        assert {facts.gate.label_actor for facts in of_one} > {None}
        assert any(len(facts.comments) > 200 for facts in of_one)
        assert any(facts.gate.approval for facts in of_one)


def test_a_branch_with_more_runs_than_are_looked_at(world: World) -> None:
    """The newest fifty, both ways; and those of a run list that would have to be read too far back are asked for alone."""
    world.pull(number=77)
    for _ in range(NEWEST_RUNS + 3):
        world.sweep(77, done=0, status="completed")
    for index in range(120):
        world.clock.now += timedelta(seconds=1)
        world.hub.add_run(branch=f"x{index}", head_sha=world.hub.state.pulls[77].head_sha, status="completed")
    reconciler = world.reconciler()
    alone = Alone(reconciler.github, world.policy)
    pull = alone.overview(77).pull
    wanted = alone.runs(pull)
    assert len(wanted) == NEWEST_RUNS
    for others in (1, 9):
        world.hub.clear_log()
        numbers = list(range(77, 77 + others))
        assert Together(alone, numbers, Recent(reconciler.recent.read)).runs(pull) == wanted
        assert world.hub.reads == 2  # one page and the branch; or two pages


def test_another_pull_request_than_those_of_the_command(world: World) -> None:
    """It is asked for by itself, and the chunk of the others stays what it was."""
    for number in (77, 78, 79):
        world.pull({"benchmarks/x.sh": str(number)}, number=number, branch=f"b{number}")
    alone = Alone(world.reconciler().github, world.policy)
    together = Together(alone, [77, 78], read_runs(alone.reader, world.policy))
    world.hub.clear_log()
    assert [together.overview(number).pull.number for number in (77, 79, 78, 77, 79)] == [77, 79, 78, 77, 79]
    assert (world.hub.queries, world.hub.reads) == (2, 0)


def hours_ago(number: int, hours: int) -> Run:
    return run(id=number, created_at=NOW - timedelta(hours=hours))


def test_a_page_that_fails_is_read_by_the_next_who_needs_it() -> None:
    """What could not be read is not the end of the list. A run that came in between shows one run twice."""
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

    recent: Recent[Run] = Recent(read)
    since: datetime = NOW - timedelta(hours=1, minutes=30)
    assert recent.reach(since)
    with pytest.raises(GitHubError):
        recent.reach(NOW - timedelta(hours=9))
    assert recent.reach(NOW - timedelta(hours=9))
    assert [found.id for found in recent.items] == [9, 8, 7]
    assert asked == [1, 2, 2]
