"""Queue a pull request again, through `infx reconcile`, after an entry ahead of it was merged."""

from __future__ import annotations

from infx.hub.rules import QueueRule
from tests.merge.world import OWN, World
from tests.reconcile.world import BASE, entry

FIRST = entry("first", "https://github.com/acme/bench/pull/70")
SWEEP, SIGNOFF = "infx/sweep", "codeowner-signoff-verify"


def finish_group(world: World) -> None:
    """Let the required check of the queue's first group pass, and the queue work."""
    sha = world.hub.state.queue[0].group_sha
    assert sha is not None
    world.hub.set_status(sha, SWEEP, "success")
    world.hub.work_queue()


def queue_two(world: World) -> None:
    """Queue two pull requests that append to the same place."""
    world.hub.add_ruleset(SWEEP, queue=QueueRule())
    for number, text in ((70, FIRST), (77, OWN)):
        world.pull(number, files={"perf-changelog.yaml": BASE + text})
        called = world.merge(str(number))
        assert called.json["outcome"] == "queued", called.err
    world.hub.work_queue()


def reconcile(world: World, *arguments: str) -> str:
    called = world.call("reconcile", "--pr", "77", "--format", "table", *arguments)
    assert called.code == 0, called.err
    return called.out + called.err


def sign_off(world: World) -> None:
    """Verify the sign-offs of the pushed head, as the workflow signoff does after a push."""
    called = world.call("signoff", "verify", "--pr", "77", "--publish")
    assert called.code == 0, called.err


def test_an_entry_that_was_pushed_out_is_updated_and_queued_again(world: World) -> None:
    queue_two(world)
    finish_group(world)
    assert world.hub.state.pulls[70].merged_at
    assert world.hub.state.queue == []  # 77 conflicts with what was merged
    assert "Merge main" in reconcile(world)
    assert world.hub.state.queue == []  # the pushed head is not signed off yet
    sign_off(world)
    assert "is queued again" in reconcile(world)
    assert [(queued.pull, queued.head_sha) for queued in world.hub.state.queue] == [(77, world.head())]
    world.hub.work_queue()
    finish_group(world)
    assert world.hub.state.pulls[77].merged_at
    assert world.file() == BASE + FIRST + OWN


def test_a_queued_pull_request_gets_no_push(world: World) -> None:
    """The push would be lost: the queue merges the head that was queued."""
    world.hub.add_ruleset(SWEEP, queue=QueueRule(build=1))
    for number in (70, 77):
        world.pull(number)
        for context in (SWEEP, SIGNOFF):
            world.hub.set_status(world.head(number), context, "success")
        world.hub.enqueue(number)  # by a person who did not make the link canonical
    before = world.head()
    reconcile(world)
    assert world.head() == before
    world.hub.dequeue(77)
    assert "Make changelog links canonical" in reconcile(world)
