"""Single soft faults: unreadable data does not count as absent, and a later run reads it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from infx.github.exchange import Reply, Request
from infx.github.transport import PyGithubTransport
from infx.hub import FOREVER, Fault, FaultKind
from tests.calling import call
from tests.signoff.world import World, checklist, reuse, signed_off

SOFT = [FaultKind.NOT_FOUND, FaultKind.INVALID, FaultKind.EMPTY, FaultKind.UNAUTHORIZED]
UNREAD = "could not be read"


def fresh(world: World) -> None:
    """Set up a review, comments of both kinds and a command, without a verdict."""
    reuse(world, world.sweep().id)
    world.hub.review(77, "Nice.", by="amy")
    world.hub.review_comment(77, "Why?", path="configs/nvidia.yaml", by="amy")
    world.sign()


def edited(world: World) -> None:
    """Set up a verdict whose sign-off was edited since."""
    signed_off(world)
    signoff = next(c for c in world.hub.comments_of(77) if c.author == "noor")
    world.hub.edit_comment(signoff.id, f"{signoff.body}\nMore.\n")
    world.hub.comment(77, "/settle 3 as agreed in the meeting", by="mia")


def tampered(world: World) -> None:
    """Set up a sign-off that another person wrote by editing a comment."""
    reuse(world, world.sweep().id)
    comment = world.hub.comment(77, "Nice.", by="noor")
    world.hub.edit_comment(comment.id, checklist(), by="cody")


def verify(world: World) -> tuple[int, str]:
    """Return the exit code and the output."""
    called = world.try_to_verify("--pr", "77", "--publish")
    return called.code, called.out + called.err


def state(world: World) -> tuple[object, ...]:
    return world.status(), world.verdicts()


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["some", "every"]
)
@pytest.mark.parametrize("scene", [fresh, edited, tampered])
def test_unreadable_data_does_not_count_as_absent(
    world: World, scene: Callable[[World], None], monkeypatch: pytest.MonkeyPatch, *, every: bool
) -> None:
    """Inject a fault at each request.

    The run ends as without the fault, or with exit code 3, or names what could not be read. The fault neither rejects
    the sign-off nor turns it green, and the next run ends as without it. every: all kinds of faults at each request,
    else in turns.
    """
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    scene(world)
    before, start = state(world), world.hub.snapshot()
    world.hub.clear_log()
    assert verify(world)[0] == 0
    total, expected = len(world.hub.log), state(world)
    for nth in range(1, total + 1):
        for kind in SOFT if every else SOFT[nth % 4 :][:1]:
            world.hub.restore(start)
            fault = world.hub.faults.add(Fault(kind=kind, nth=nth))
            code, output = verify(world)
            assert fault.hits == 1
            world.hub.faults.clear()
            outcome = state(world)
            assert code == 3 or outcome == expected or UNREAD in output, (nth, kind, world.hub.log[-1].path)
            assert outcome[0] in {before[0], expected[0]} or (world.status() or ("",))[0] == "pending", (
                nth,
                kind,
            )
            assert "REJECTED" not in str(outcome[1])
            if outcome != expected:
                verify(world)
                assert state(world) == expected, (nth, kind)


@pytest.mark.parametrize("kind", [*SOFT, FaultKind.TOO_MANY])
@pytest.mark.parametrize(
    "path", ["/workflows/run-sweep.yml/runs$", "/jobs$", "/artifacts$", "/zip$", "/_store/"]
)
def test_unreadable_evidence_is_pending(
    world: World, path: str, kind: FaultKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long it takes: pending, exit code 3, and an unchanged verdict.
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    signed_off(world)
    before = world.verdicts()
    world.hub.faults.add(Fault(kind=kind, path=path, times=FOREVER, seconds=3600))
    code, output = verify(world)
    world.hub.faults.clear()
    if kind is FaultKind.NOT_FOUND and path.startswith("/workflows"):
        assert "There is no run of" in world.verdicts()[0]  # GitHub answers the same for a missing workflow
        assert (world.status() or ("",))[0] == "pending"
        return
    assert code == 3
    assert UNREAD.capitalize() in output
    assert world.verdicts() == before
    state, words = world.status() or ("", "")
    assert (state, words.startswith("The sign-off of noor could not be read yet: ")) == ("pending", True)


@pytest.mark.parametrize("kind", [FaultKind.TOO_MANY, FaultKind.EMPTY, FaultKind.BAD_GATEWAY, FaultKind.DROP])
def test_a_failing_file_store_is_asked_again(
    world: World, kind: FaultKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The second request uses a new link, because the old one may have expired during the wait.
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    reuse(world, world.sweep().id)
    world.sign()
    world.hub.faults.add(Fault(kind=kind, path="/_store/", seconds=7))
    assert verify(world)[0] == 0
    assert (world.status() or ("",))[0] == "success"
    assert sum(exchange.path.endswith("/zip") for exchange in world.hub.log) == 3


def test_a_file_that_is_not_the_artifact_is_not_judged(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # A proxy answers with a page and status 200. Its size differs from the artifact's.
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    signed_off(world)
    before = world.verdicts()
    with monkeypatch.context() as patch:
        patch.setattr(PyGithubTransport, "fetch", lambda self, url: iter([b"<html>Sign in</html>"]))
        code, output = verify(world)
    assert (code, "The download of the artifact eval_results_all is broken" in output) == (3, True)
    assert (world.status() or ("",))[0] == "pending"
    assert world.verdicts() == before


def test_missing_comments_are_requested_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # The pull request has the number of comments.
    signed_off(world)
    wanted, send, asked = state(world), PyGithubTransport.send, []

    def send_none(self: PyGithubTransport, request: Request) -> Reply:
        reply = send(self, request)
        if request.path.endswith("/issues/77/comments"):
            asked.append(request.path)
            return reply if len(asked) > 1 else replace(reply, data=[])
        return reply

    monkeypatch.setattr(PyGithubTransport, "send", send_none)
    assert (verify(world)[0], state(world)) == (0, wanted)


def test_an_unknown_editor_is_exit_code_3(world: World) -> None:
    # Without an answer about editors, no sign-off may count as its author's own.
    tampered(world)
    world.hub.faults.add(Fault(kind=FaultKind.NOT_FOUND, path="/graphql", times=FOREVER))
    code, output = verify(world)
    assert (code, "does not say for every comment who edited" in output) == (3, True)
    assert world.verdicts() == []


def test_failed_verifications_are_started_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without failures this takes one request. Successful, running, old and often failed runs stay.
    hub = world.hub
    old = hub.add_run("signoff.yml", branch="main", event="issue_comment", run_id=1)
    hub.finish_run(old.id, "failure")
    world.now += timedelta(days=2)
    token = hub.workflow_token(contents="read", actions="write")
    policy = {"INFX_POLICY": str(world.folder / "clone/configs/policy.yaml"), **hub.environ(token)}

    def retry() -> list[str]:
        hub.clear_log()
        called = call("signoff", "retry", environ=policy)
        assert called.code == 0, called.err
        return [exchange.path for exchange in hub.log if exchange.method == "POST"]

    monkeypatch.chdir(world.folder / "clone")
    assert retry() == []
    assert [exchange.path for exchange in hub.log if exchange.path != "/rate_limit"] == [
        "/repos/acme/bench/actions/workflows/signoff.yml/runs"
    ]
    for number, conclusion in ((2, "failure"), (3, "success"), (4, None), (5, "failure"), (6, "cancelled")):
        hub.add_run("signoff.yml", branch="main", event="issue_comment", run_id=number)
        if conclusion:
            hub.finish_run(number, conclusion)
    hub.add_run("signoff.yml", branch="feat-x", event="workflow_dispatch", run_id=7)
    hub.finish_run(7, "failure")
    hub.state.runs[5].attempt = 5
    assert retry() == ["/repos/acme/bench/actions/runs/2/rerun-failed-jobs"]
    for attempt in (2, 3, 4):
        assert (hub.state.runs[2].attempt, hub.state.runs[2].status) == (attempt, "queued")
        assert retry() == []
        hub.finish_run(2, "failure")
        assert len(retry()) == 1
    hub.finish_run(2, "failure")
    assert retry() == []


def test_a_refused_write_is_exit_code_3(world: World) -> None:
    world.sign()
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, method="POST", path="/statuses/"))
    code, output = verify(world)
    assert (code, "refused: PR 77" in output) == (3, True)
