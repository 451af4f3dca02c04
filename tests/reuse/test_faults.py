"""A fault and a kill at each request of `infx reuse check`: the same decision, or exit code 3; and nothing is written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from infx.hub import FOREVER, Fault, FaultKind
from tests.reuse.world import CHANGE, World


def newest(world: World) -> None:
    """Let the newest green run do nothing, so that an older run is found."""
    world.sweep()
    world.sweep(rows=(), artifacts=())
    world.ask()


def pinned(world: World) -> None:
    """Name a failed run, which covers less than the merge plans."""
    run = world.sweep("failure", failing=[1])
    world.ask(f"/use {run.id}")


def refused(world: World) -> None:
    """Leave no green run, and no authority to the author of the newest command."""
    world.sweep("cancelled", failing=[1])
    world.ask(by="mia")
    world.ask("/use 1", by="noor")
    world.hub.account("noor", role="read")


def approved(world: World) -> None:
    """Sweep a fork by a dispatch that its approval links."""
    world.hub.push("feat-f", CHANGE, "fork", repository="eve/bench", by="eve")
    world.hub.open_pull("feat-f", number=79, repository="eve/bench", by="eve")
    head, rows = world.head(79), world.rows(number=79)
    run = world.sweep(
        rows=rows, pull=None, branch="main", event="workflow_dispatch", title=f"PR 79 at {head}"
    )
    url = f"https://github.com/acme/bench/actions/runs/{run.id}"
    world.hub.set_status(head, "infx/approval", "success", target_url=url)
    world.ask(number=79)


def completed(world: World) -> None:
    """Complete a failed run by a follow-up sweep of its one failed row."""
    first = world.sweep("failure", failing=[1])
    title = f"PR 77 at {world.head()}, completes run {first.id}"
    rows = world.rows()[1:2]
    world.sweep(rows=rows, pull=None, branch="main", event="workflow_dispatch", title=title)
    world.ask()


SCENES: list[Callable[[World], None]] = [newest, pinned, refused, approved, completed]
FAULTS: list[dict[str, Any]] = [
    {"kind": FaultKind.DROP},
    {"kind": FaultKind.BAD_GATEWAY},
    {"kind": FaultKind.SECONDARY_LIMIT, "seconds": 60},
    {"kind": FaultKind.NOT_FOUND},
    {"kind": FaultKind.EMPTY},
    {"kind": FaultKind.UNAUTHORIZED},
    {"kind": FaultKind.INVALID},
    {"kind": FaultKind.TOO_MANY, "seconds": 7200},
]
KILLED: dict[str, Any] = {"kind": FaultKind.DROP, "times": FOREVER}


def look(
    world: World, scene: Callable[[World], None], event: tuple[str, Any] | None = None
) -> tuple[int, Any]:
    """Return the exit code and the decision."""
    arguments = () if event else ("--pr", "79" if scene is approved else "77")
    called = world.check(*arguments, event=event)
    return called.code, called.json if called.code == 0 else None


@pytest.mark.parametrize("is_merge", [False, True], ids=["asked", "merged"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_fault_at_each_request(
    world: World, scene: Callable[[World], None], capsys: pytest.CaptureFixture[str], *, is_merge: bool
) -> None:
    scene(world)
    event = None
    if is_merge:
        world.hub.merge_pull(79 if scene is approved else 77)
        event = world.last_push()
    world.hub.clear_log()
    wanted = look(world, scene, event)
    assert wanted[0] == 0
    methods = [exchange.method for exchange in world.hub.log]
    assert set(methods) == {"GET"}
    outcomes = {0: 0, 3: 0}
    for nth in range(1, len(methods) + 1):
        # two of the other kinds at each request, in turns, and the death of the connection
        for fault in (*(FAULTS * 2)[nth * 2 % len(FAULTS) :][:2], KILLED):
            struck = world.hub.faults.add(Fault(**fault, nth=nth))
            found = look(world, scene, event)
            assert struck.hits, (nth, fault)
            world.hub.faults.clear()
            assert found in (wanted, (3, None)), (nth, fault, found)
            outcomes[found[0]] += 1
            assert found[0] == 3 or fault is not KILLED
    assert min(outcomes.values()) > 0
    assert look(world, scene, event) == wanted
    with capsys.disabled():
        print(f"\n{sum(outcomes.values())} faults in {len(methods)} requests: {outcomes}")


def test_a_fault_while_a_follow_up_chooses_its_rows(world: World) -> None:
    """A row that could not be looked up never counts as covered, nor as missing."""
    rows = world.rows()
    names = [f"bmk_x_{row.id}" for row in rows[1:]]
    run = world.sweep("failure", failing=[0], artifacts=names)
    arguments = ("reuse", "follow-up", "--pr", "77", "--run", str(run.id))
    world.hub.clear_log()
    wanted = world.call(*arguments).json
    assert wanted["only"] == [rows[0].id]
    methods = [exchange.method for exchange in world.hub.log]
    assert methods == ["GET"] * 6  # pull request, branch, run, jobs, timeline, artifacts
    for nth in range(1, len(methods) + 1):
        for fault in (*FAULTS, KILLED):
            world.hub.faults.add(Fault(**fault, nth=nth))
            called = world.call(*arguments)
            world.hub.faults.clear()
            assert called.code in {0, 3}, (nth, fault, called.err)
            assert called.code == 3 or called.json == wanted, (nth, fault)


@pytest.mark.parametrize("nth", [2, 5, 8])
def test_a_process_that_is_killed_leaves_nothing_behind(world: World, nth: int) -> None:
    """SIGKILL at a request, then the same command again."""
    newest(world)
    wanted = world.check().json
    token = world.hub.workflow_token(contents="read", actions="read", pull_requests="read", statuses="read")
    policy = str(world.folder / "policy.yaml")
    environ = {**os.environ, **world.hub.environ(token), "INFX_POLICY": policy}
    process: subprocess.Popen[bytes] | None = None

    def kill() -> None:
        assert process is not None
        process.kill()

    world.hub.faults.add(Fault(kind=FaultKind.KILL, nth=nth, callback=kill))
    process = subprocess.Popen(
        [sys.executable, "-m", "infx", "reuse", "check", "--pr", "77"],
        cwd=world.clone.directory,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.wait() == -signal.SIGKILL
    world.hub.faults.clear()
    assert world.check().json == wanted
