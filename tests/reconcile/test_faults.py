"""A fault at any request and a second run, or two concurrent runs, end in the state of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infx.github.errors import UnknownOutcomeError
from infx.hub import FOREVER, Fault, FaultKind
from infx.model import Comment
from infx.reconcile.actions import CancelRun, SetStatus
from tests.reconcile.world import BASE, BOT, LABEL, POLICY, VISUALIZER, World, entry


def fresh(world: World) -> None:
    """Open a pull request that gets a greeting, a visualizer comment and a status."""
    world.pull(labels=[LABEL])
    world.sweep(done=3, failed=1, running=2)


def moved_on(world: World) -> None:
    """Create outdated state: a resolved notice, two greetings, an older run's comment, a sweep to cancel."""
    world.pull({"perf-changelog.yaml": BASE + entry(), "benchmarks/run.sh": "false\n"}, labels=[LABEL])
    world.sweep(
        run_id=290, status="completed", conclusion="failure", head_sha=world.hub.git.resolve("feat-x")
    )
    world.hub.add_artifact(290, "results_bmk", {"x": "y"})
    world.reconcile()
    for body in (
        "<!-- infx-greeting -->\nOld",
        "<!-- infx-notice fork -->\nOld",
        "chat",
        f"{VISUALIZER}\nOld",
    ):
        world.hub.comment(77, body, by=BOT)
    world.sweep(done=1, running=3)
    world.hub.push("main", {"benchmarks/run.sh": "true || true\n"})
    world.hub.set_status(world.hub.state.pulls[77].head_sha, "infx/sweep", "success", by="eve")


def several(world: World) -> None:
    """Open two pull requests with several notices: labels, changelog, a fork; and an adopted comment."""
    world.hub.push("fork-x", {"perf-changelog.yaml": BASE + entry()}, repository="eve/bench")
    world.hub.open_pull("fork-x", number=78, repository="eve/bench", by="eve", labels=[LABEL])
    world.pull({"perf-changelog.yaml": "- broken\n"}, labels=[LABEL, "full-sweep-enabled"])
    world.hub.comment(
        77, "View unofficial run (performance): https://bench.test/inference?unofficialRun=200", by=BOT
    )
    world.sweep(done=1, status="completed", conclusion="success")
    world.sweep(done=1)


def closed(world: World) -> None:
    """Close a pull request that has a running sweep and a notice."""
    world.pull(labels=[LABEL])
    world.sweep(running=2, done=1)
    world.hub.comment(77, "<!-- infx-notice labels -->\nOld", by=BOT)
    world.hub.close_pull(77)


def asked(world: World) -> None:
    """Ask twice for reuse: the newer command is refused, and a former answer to the older one is outdated."""
    world.pull(labels=[LABEL])
    run = world.sweep(done=1, failed=1, status="completed", conclusion="cancelled")
    world.hub.add_artifact(run.id, "results_bmk", {"x": "y"})
    world.hub.account("mia", role="admin")
    older = world.hub.comment(77, f"/use {run.id}", by="mia")
    world.hub.react(older.id, "+1", by=BOT)
    world.hub.react(older.id, "+1", by="cody")
    newer = world.hub.comment(77, "/reuse-sweep-run", by="mia")
    world.hub.react(newer.id, "+1", by=BOT)


SCENES: list[Callable[[World], None]] = [fresh, moved_on, several, closed, asked]


@dataclass(frozen=True)
class Kind:
    """A kind of fault."""

    name: str
    fault: dict[str, Any]
    of_reads: bool = False  # whether it differs from other kinds if the request is a read


KINDS = [
    Kind("the reply is lost after the write", {"kind": FaultKind.DROP, "applied": True}),
    Kind("the request is lost", {"kind": FaultKind.DROP}, of_reads=True),
    Kind("502 after the write", {"kind": FaultKind.BAD_GATEWAY, "applied": True}),
    Kind("502 before the write", {"kind": FaultKind.BAD_GATEWAY}, of_reads=True),
    Kind("primary limit", {"kind": FaultKind.PRIMARY_LIMIT, "seconds": 90}),
    Kind("secondary limit", {"kind": FaultKind.SECONDARY_LIMIT, "seconds": 120}),
    Kind("a limit too long to wait for", {"kind": FaultKind.TOO_MANY, "seconds": 3600}, of_reads=True),
    Kind("killed after the write", {"kind": FaultKind.DROP, "applied": True, "times": FOREVER}),
    Kind("killed before the write", {"kind": FaultKind.DROP, "times": FOREVER}, of_reads=True),
]


@pytest.fixture(params=SCENES, ids=lambda scene: scene.__name__)
def scene(request: pytest.FixtureRequest, world: World) -> World:
    request.param(world)
    return world


def numbers(world: World) -> list[int]:
    return sorted(world.hub.state.pulls)


EXTENT = pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["some", "every"]
)


@EXTENT
def test_every_fault_at_every_request(
    scene: World, capsys: pytest.CaptureFixture[str], *, every: bool
) -> None:
    """Try all kinds of faults at each request, or some kinds in turns, so that each scene varies."""
    hub = scene.hub
    hub.state.events.clear()
    start = hub.snapshot()
    driver = scene.reconciler(memory=True)
    hub.clear_log()
    assert not driver.run(numbers(scene)).failed
    methods, wanted = [exchange.method for exchange in hub.log], scene.state()
    assert not driver.run(numbers(scene)).done  # a second run has nothing to do
    injected = 0
    for nth, method in enumerate(methods, 1):
        for kind in _kinds(method, nth, every=every):
            hub.restore(start)
            fault = hub.faults.add(Fault(**{"nth": nth, **kind.fault}))
            scene.reconciler(clone=driver.clone).run(numbers(scene))
            assert fault.hits, (nth, kind)
            injected += 1
            hub.faults.clear()
            report = scene.reconciler(clone=driver.clone).run(numbers(scene))
            assert not report.failed, (nth, kind)
            assert scene.state() == wanted, (nth, kind)
    with capsys.disabled():
        print(f"\n{injected} faults injected into {len(methods)} requests, every one recovered from")


SOFT = [FaultKind.NOT_FOUND, FaultKind.INVALID, FaultKind.EMPTY, FaultKind.UNAUTHORIZED]


@EXTENT
def test_a_failed_read_does_not_count_as_missing(scene: World, *, every: bool) -> None:
    """After a single fault, either the state is that of an undisturbed run, or the exit code is 3."""
    hub = scene.hub
    hub.state.events.clear()
    start = hub.snapshot()
    driver = scene.reconciler(memory=True)
    hub.clear_log()
    assert driver.run(numbers(scene)).exit_code == 0
    total, wanted = len(hub.log), scene.state()
    for nth in range(1, total + 1):
        for kind in SOFT if every else SOFT[nth % 4 :][:1]:
            hub.restore(start)
            fault = hub.faults.add(Fault(kind=kind, nth=nth))
            report = scene.reconciler(clone=driver.clone).run(numbers(scene))
            assert fault.hits == 1
            hub.faults.clear()
            assert report.exit_code == 3 or scene.state() == wanted, (nth, kind, report)
            report = scene.reconciler(clone=driver.clone).run(numbers(scene))
            assert (report.exit_code, scene.state()) == (0, wanted), (nth, kind)


def _kinds(method: str, nth: int, *, every: bool) -> list[Kind]:
    """Return the kinds of faults for a request; in turns, three kinds for a write and one kind for a read."""
    kinds = [kind for kind in KINDS if kind.of_reads or method != "GET"]
    return kinds if every else kinds[nth % 3 :: 3] if method != "GET" else kinds[nth % len(kinds) :][:1]


@pytest.mark.parametrize("nth", range(1, 12, 2))
def test_two_at_once_end_with_one_of_each(scene: World, nth: int) -> None:
    """Delay request `nth` until the other process has completed a request; then both continue."""
    hub = scene.hub
    start = hub.snapshot()
    clone = scene.reconciler(memory=True).clone
    scene.reconciler(clone=clone).run(numbers(scene))
    wanted = [texts(scene, number) for number in numbers(scene)]
    hub.restore(start)
    barrier = threading.Barrier(2)

    def work() -> None:
        reconciler = scene.reconciler(clone=clone)
        barrier.wait()
        reconciler.run(numbers(scene))

    hub.faults.add(Fault(kind=FaultKind.OVERTAKEN, nth=nth, seconds=0.2))
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    hub.faults.clear()
    assert [texts(scene, number) for number in numbers(scene)] == wanted
    assert not scene.reconciler(clone=clone).run(numbers(scene)).done


def texts(world: World, number: int) -> list[str]:
    return sorted(world.comments(number))


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_write_that_times_out(world: World, nth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub carries out the write, but the reply comes after the timeout."""
    fresh(world)
    start = world.hub.snapshot()
    assert not world.reconcile().failed
    wanted = world.state()
    world.hub.restore(start)
    fault = world.hub.faults.add(Fault(kind=FaultKind.SLOW, writes=True, nth=nth, applied=True, seconds=1.0))
    with monkeypatch.context() as patch:
        patch.setattr("infx.github.transport.TIMEOUT", 0.5)
        (_, error), *_ = world.reconcile().failed
    assert fault.hits == 1
    assert isinstance(error, UnknownOutcomeError)
    world.hub.faults.clear()
    assert not world.reconcile().failed
    assert world.state() == wanted


KILLED = [
    *((fresh, nth) for nth in (1, 2, 3)),
    *((asked, nth) for nth in (3, 4, 5, 6)),  # the notice, two reactions to remove, one to add
]


@pytest.mark.parametrize(
    ("make", "nth", "applied"),
    [
        pytest.param(make, nth, applied, id=f"{make.__name__}-{nth}-{moment}", marks=marks)
        for make, nth in KILLED
        for applied, moment in ((True, "after the write"), (False, "before it"))
        # `make test` kills at every write, in turn before and after it.
        for marks in (() if applied == bool(nth % 2) else (pytest.mark.nightly,),)
    ],
)
def test_a_killed_process_is_recovered_from(
    world: World, tmp_path: Path, make: Callable[[World], None], nth: int, *, applied: bool
) -> None:
    """Send SIGKILL at a write of `infx reconcile`, then run the same command again."""
    make(world)
    start = world.hub.snapshot()
    (tmp_path / "policy.yaml").write_bytes(POLICY)
    environ = {**os.environ, **world.hub.environ(world.token()), "INFX_POLICY": str(tmp_path / "policy.yaml")}
    command = [sys.executable, "-m", "infx", "reconcile", "--pr", "77"]

    def spawn() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            cwd=world.clone.directory,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    assert not world.reconcile().failed
    wanted = world.state()
    world.hub.restore(start)
    process: subprocess.Popen[bytes] | None = None

    def kill() -> None:
        assert process is not None
        process.kill()

    world.hub.faults.add(Fault(kind=FaultKind.KILL, writes=True, nth=nth, applied=applied, callback=kill))
    process = spawn()
    assert process.wait() == -signal.SIGKILL
    assert spawn().wait() == 0
    assert world.state() == wanted


def test_a_write_that_a_limit_refuses_is_made_after_the_wait(world: World) -> None:
    """The write did not happen, and the state is read again before the second try."""
    fresh(world)
    start = world.hub.snapshot()
    assert not world.reconcile().failed
    wanted = world.state()
    world.hub.restore(start)
    for nth in (1, 3, 5):
        world.hub.faults.add(Fault(kind=FaultKind.SECONDARY_LIMIT, writes=True, nth=nth, seconds=20 + nth))
    assert not world.reconcile().failed
    assert world.waited == [21, 23, 25]
    assert world.state() == wanted


def test_a_run_that_cannot_be_cancelled_does_not_stop_other_writes(world: World) -> None:
    """GitHub replies with 5xx to the cancellation of a stuck run."""
    world.pull(labels=[LABEL, "full-sweep-enabled"])
    stuck = world.sweep(done=1, running=1)
    world.hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path=f"/runs/{stuck.id}/cancel", times=FOREVER))
    report = world.reconcile()
    assert not report.failed
    ((action, error),) = report.refused
    assert isinstance(action, CancelRun)
    assert isinstance(error, UnknownOutcomeError)
    assert "<!-- infx-notice labels -->" in world.bot_comments()


def test_a_push_after_the_fetch_is_fetched_as_well(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh(world)
    reconciler = world.reconciler()
    assert reconciler.clone is not None
    fetch = reconciler.clone.fetch
    pushed: list[str] = []

    def fetch_and_push(base_branch: str, numbers: Sequence[int]) -> str:
        tip = fetch(base_branch, numbers)
        if not pushed:
            pushed.append(world.hub.push("feat-x", {"benchmarks/run.sh": "pushed\n"}))
        return tip

    monkeypatch.setattr(reconciler.clone, "fetch", fetch_and_push)
    report = reconciler.run([77])
    assert not report.failed
    assert [action.sha for action in report.done if isinstance(action, SetStatus)] == pushed


# Several pull requests in one command


def two(world: World) -> None:
    for number in (77, 78):
        world.pull({"perf-changelog.yaml": BASE + entry(str(number))}, number=number, branch=f"b{number}")


def test_shared_facts_never_decide_a_write(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """While 77 is written, another process completes 78, so a fresh read of 78 finds nothing to write."""
    two(world)
    clone = world.reconciler(memory=True).clone
    reconciler = world.reconciler(clone=clone)
    create = reconciler.github.create_comment

    def create_meanwhile(number: int, body: str) -> Comment:
        assert world.reconciler(clone=clone).run([78]).done
        return create(number, body)

    monkeypatch.setattr(reconciler.github, "create_comment", create_meanwhile)
    report = reconciler.run([77, 78])
    assert not report.failed
    assert {action.pull for action in report.done} == {77}
    assert [len(world.bot_comments(number)) for number in (77, 78)] == [1, 1]
    assert not any(exchange.method == "DELETE" for exchange in world.hub.log)


@pytest.mark.parametrize(
    ("path", "times"), [("/issues/77/comments", FOREVER), ("/pulls/77", FOREVER), ("/actions/workflows", 1)]
)
def test_a_pull_request_that_cannot_be_read_does_not_stop_others(world: World, path: str, times: int) -> None:
    """GraphQL refuses every query, and REST refuses this path; the list of runs is refused once."""
    two(world)
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path="/graphql", times=FOREVER))
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path=path, times=times))
    report = world.reconcile(77, 78)
    assert [number for number, _ in report.failed] == [77]
    assert report.exit_code == 3
    assert (world.bot_comments(77), len(world.bot_comments(78))) == ([], 1)


def test_graphql_faults_cost_only_more_requests(world: World) -> None:
    """Every second query fails."""
    two(world)
    start = world.hub.snapshot()
    world.reconcile(77, 78)
    wanted = world.state()
    for first in (1, 2):
        world.hub.restore(start)
        for nth in range(first, 20, 2):
            world.hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/graphql", nth=nth))
        report = world.reconcile(77, 78)
        assert (report.failed, world.state()) == ([], wanted)
        world.hub.faults.clear()
