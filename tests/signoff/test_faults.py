"""A single soft fault at each request: what is there and cannot be read is not absent, and is looked at again."""

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


def first_look(world: World) -> None:
    """Nothing stands there yet; a review, comments of both kinds, and a command."""
    reuse(world, world.sweep().id)
    world.hub.review(77, "Nice.", by="amy")
    world.hub.review_comment(77, "Why?", path="configs/nvidia.yaml", by="amy")
    world.sign()


def edited(world: World) -> None:
    """Our own comment is there, and somebody else has edited the sign-off and taken it back."""
    signed_off(world)
    signoff = next(c for c in world.hub.comments_of(77) if c.author == "noor")
    world.hub.edit_comment(signoff.id, f"{signoff.body}\nMore.\n")
    world.hub.comment(77, "/settle 3 as agreed in the meeting", by="mia")


def of_another(world: World) -> None:
    """Somebody else wrote the words of a sign-off, which is none: who did is asked for."""
    reuse(world, world.sweep().id)
    comment = world.hub.comment(77, "Nice.", by="noor")
    world.hub.edit_comment(comment.id, checklist(), by="cody")


def look(world: World) -> tuple[int, str]:
    """Exit code, and all that was said."""
    called = world.try_to_verify("--pr", "77", "--publish")
    return called.code, called.out + called.err


def state(world: World) -> tuple[object, ...]:
    return world.status(), world.verdicts()


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["some", "every"]
)
@pytest.mark.parametrize("scene", [first_look, edited, of_another])
def test_what_cannot_be_read_is_not_absent(
    world: World, scene: Callable[[World], None], monkeypatch: pytest.MonkeyPatch, *, every: bool
) -> None:
    """At each request: it ends as without the fault, or with exit code 3, or says what could not be read. Nothing is
    rejected and nothing green for it, and the next look ends as if there had been none. every: all kinds of faults
    at each request; else they take turns.
    """
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    scene(world)
    before, start = state(world), world.hub.snapshot()
    world.hub.clear_log()
    assert look(world)[0] == 0
    total, wanted = len(world.hub.log), state(world)
    for nth in range(1, total + 1):
        for kind in SOFT if every else SOFT[nth % 4 :][:1]:
            world.hub.restore(start)
            fault = world.hub.faults.add(Fault(kind=kind, nth=nth))
            code, said = look(world)
            assert fault.hits == 1
            world.hub.faults.clear()
            found = state(world)
            assert code == 3 or found == wanted or UNREAD in said, (nth, kind, world.hub.log[-1].path)
            assert found[0] in {before[0], wanted[0]} or (world.status() or ("",))[0] == "pending", (
                nth,
                kind,
            )
            assert "REJECTED" not in str(found[1])
            if found != wanted:
                look(world)
                assert state(world) == wanted, (nth, kind)


@pytest.mark.parametrize("kind", [*SOFT, FaultKind.TOO_MANY])
@pytest.mark.parametrize(
    "path", ["/workflows/run-sweep.yml/runs$", "/jobs$", "/artifacts$", "/zip$", "/_store/"]
)
def test_evidence_that_cannot_be_read_is_waited_for(
    world: World, path: str, kind: FaultKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long: pending, exit code 3, and no word in the verdict, which stays what it was."""
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    signed_off(world)
    before = world.verdicts()
    world.hub.faults.add(Fault(kind=kind, path=path, times=FOREVER, seconds=3600))
    code, said = look(world)
    world.hub.faults.clear()
    if kind is FaultKind.NOT_FOUND and path.startswith("/workflows"):
        assert "There is no run of" in world.verdicts()[0]  # what GitHub says of a workflow that is not there
        assert (world.status() or ("",))[0] == "pending"
        return
    assert code == 3
    assert UNREAD.capitalize() in said
    assert world.verdicts() == before
    state, words = world.status() or ("", "")
    assert (state, words.startswith("The sign-off of noor could not be read yet: ")) == ("pending", True)


@pytest.mark.parametrize("kind", [FaultKind.TOO_MANY, FaultKind.EMPTY, FaultKind.BAD_GATEWAY, FaultKind.DROP])
def test_a_file_store_that_hiccups_is_asked_again(
    world: World, kind: FaultKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a new link, because the old one may have run out while we waited."""
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    reuse(world, world.sweep().id)
    world.sign()
    world.hub.faults.add(Fault(kind=kind, path="/_store/", seconds=7))
    assert look(world)[0] == 0
    assert (world.status() or ("",))[0] == "success"
    assert sum(exchange.path.endswith("/zip") for exchange in world.hub.log) == 3


def test_what_is_not_the_artifact_is_not_judged(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a proxy, with status 200, in the place of the file: its size is not the artifact's."""
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    signed_off(world)
    before = world.verdicts()
    with monkeypatch.context() as patch:
        patch.setattr(PyGithubTransport, "fetch", lambda self, url: iter([b"<html>Sign in</html>"]))
        code, said = look(world)
    assert (code, "The download of the artifact eval_results_all is broken" in said) == (3, True)
    assert (world.status() or ("",))[0] == "pending"
    assert world.verdicts() == before


def test_comments_that_are_kept_back_are_asked_for_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pull request says how many there are."""
    signed_off(world)
    wanted, send, asked = state(world), PyGithubTransport.send, []

    def send_none(self: PyGithubTransport, request: Request) -> Reply:
        found = send(self, request)
        if request.path.endswith("/issues/77/comments"):
            asked.append(request.path)
            return found if len(asked) > 1 else replace(found, data=[])
        return found

    monkeypatch.setattr(PyGithubTransport, "send", send_none)
    assert (look(world)[0], state(world)) == (0, wanted)


def test_who_edited_must_be_told(world: World) -> None:
    """A sign-off in the words of another is none, and nobody is told to be its author for want of an answer."""
    of_another(world)
    world.hub.faults.add(Fault(kind=FaultKind.NOT_FOUND, path="/graphql", times=FOREVER))
    code, said = look(world)
    assert (code, "does not tell who edited" in said) == (3, True)
    assert world.verdicts() == []


def test_looks_that_failed_are_started_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """For one request if there are none. Not those that ended well, are under way, are old, or failed often enough."""
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


def test_a_write_that_is_refused_is_exit_code_3(world: World) -> None:
    world.sign()
    world.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, method="POST", path="/statuses/"))
    code, said = look(world)
    assert (code, "refused: PR 77" in said) == (3, True)
