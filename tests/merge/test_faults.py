"""A fault and a kill at each request of a merge: after another try, the same end as without the fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from infx.hub import FOREVER, Fault, FaultKind
from infx.hub.rules import QueueRule
from tests.merge.world import World

KILLED: dict[str, Any] = {"kind": FaultKind.DROP, "times": FOREVER}
FAULTS: list[dict[str, Any]] = [
    {"kind": FaultKind.DROP},
    {"kind": FaultKind.DROP, "applied": True},
    {"kind": FaultKind.BAD_GATEWAY, "applied": True},
    {"kind": FaultKind.EMPTY, "applied": True},
    {"kind": FaultKind.SECONDARY_LIMIT, "seconds": 60},
    {"kind": FaultKind.NOT_FOUND},
    {"kind": FaultKind.FORBIDDEN},
    {"kind": FaultKind.UNAUTHORIZED},
    {"kind": FaultKind.INVALID},
    KILLED,
    {**KILLED, "applied": True},
]


def conflicting(world: World) -> None:
    """Append an entry on both sides, so that the branch needs a commit."""
    world.pull()
    world.conflict()


def queued(world: World) -> None:
    """Give the base branch a merge queue, which waits for a check of the group."""
    world.pull()
    world.hub.add_ruleset("infx/sweep", queue=QueueRule())


SCENES: list[Callable[[World], None]] = [conflicting, queued]


def find_end(world: World) -> tuple[object, object]:
    """Return what is left on GitHub, without times and ids."""
    comments = sorted((comment.author or "", comment.body or "") for comment in world.hub.comments_of(77))
    commits = len(world.hub.git.commits_between(None, "feat-77"))
    return world.end(), (comments, commits)


def finish(world: World) -> tuple[object, object]:
    """Merge again until it is done, at most three times, and return the end."""
    for _ in range(3):
        if world.merge().code == 0:
            return find_end(world)
    raise AssertionError(world.merge().err)


def merge_undisturbed(
    world: World, scene: Callable[[World], None]
) -> tuple[tuple[object, object], list[tuple[str, str]]]:
    """Return the end of a merge without faults, and its requests; restore the hub."""
    scene(world)
    start = world.hub.snapshot()
    world.hub.clear_log()
    end = finish(world)
    requests = [(exchange.method, exchange.path) for exchange in world.hub.log]
    world.hub.restore(start)
    return end, requests


def strike(world: World, fault: Fault, wanted: tuple[object, object]) -> int:
    """Merge with a fault, then without it; return the exit code of the first merge."""
    start = world.hub.snapshot()
    struck = world.hub.faults.add(fault)
    code = world.merge().code
    assert struck.hits, fault
    world.hub.faults.clear()
    assert finish(world) == wanted, fault
    world.hub.restore(start)
    return code


def test_a_merge_that_is_killed_after_its_push_continues(world: World) -> None:
    """The push itself is not a request; of the pushed head, infx sets two statuses."""
    wanted, requests = merge_undisturbed(world, conflicting)
    last_status = max(at for at, request in enumerate(requests, 1) if "/statuses/" in request[1])
    assert strike(world, Fault(**KILLED, nth=last_status), wanted) == 3


def test_a_lost_reply_to_the_merge_is_looked_up(world: World) -> None:
    wanted, _ = merge_undisturbed(world, conflicting)
    lost = Fault(kind=FaultKind.BAD_GATEWAY, method="PUT", path="/merge", applied=True)
    assert strike(world, lost, wanted) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_fault_at_each_request(
    world: World, scene: Callable[[World], None], capsys: pytest.CaptureFixture[str]
) -> None:
    wanted, requests = merge_undisturbed(world, scene)
    codes: dict[int, int] = {}
    for nth in range(1, len(requests) + 1):
        for fault in (*(FAULTS * 2)[nth * 2 % 9 :][:2], *FAULTS[-2:]):
            code = strike(world, Fault(**fault, nth=nth), wanted)
            codes[code] = codes.get(code, 0) + 1
    assert set(codes) <= {0, 1, 3}
    with capsys.disabled():
        print(f"\n{sum(codes.values())} faults in {len(requests)} requests: {codes}")
