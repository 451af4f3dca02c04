"""One approval starts one sweep: whatever is lost on the way, and however often its job runs again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from infx.apply.approval import publish_approval
from infx.errors import InfxError
from infx.gate.approval import decide_approval
from infx.gather.approval import gather_approval
from infx.github.api import GitHub, connect
from infx.hub import Hub
from infx.hub.faults import APPLIED_KINDS, FOREVER, Fault, FaultKind
from infx.hub.seed import WORKFLOW_FILES
from infx.hub.service import Snapshot
from infx.hub.state import Comment, Run
from infx.model import CommentKind, CommentReference, DispatchedRun
from infx.policy.load import default_policy

POLICY = default_policy()


@dataclass
class Desk:
    """A fork's pull request 80, and mia, who approves its head in a comment."""

    hub: Hub
    comment: Comment

    @property
    def head(self) -> str:
        return self.hub.state.pulls[80].head_sha

    @property
    def runs(self) -> list[Run]:
        return list(self.hub.state.runs.values())

    def connect(self, *, clock: Callable[[], float] = time.time) -> GitHub:
        scopes = {"pull_requests": "write", "statuses": "write", "actions": "write", "contents": "read"}
        token = self.hub.workflow_token(scopes)
        return connect(
            "acme/bench", environ=self.hub.environ(token), sleep=lambda _: None, clock=clock, budget=600
        )

    def approve(self, github: GitHub | None = None, comment: Comment | None = None) -> DispatchedRun | None:
        """What a run of the job does, from the start."""
        github = github or self.connect()
        made = comment or self.comment
        reference = CommentReference(
            repository="acme/bench", pull_number=80, kind=CommentKind.ISSUE, id=made.id
        )
        facts = gather_approval(reference, POLICY, github)
        return publish_approval(facts, decide_approval(facts, POLICY), POLICY, github)

    def link(self) -> tuple[str, str | None]:
        status = [status for status in self.hub.state.statuses if status.context == "infx/approval"][-1]
        return status.state, status.target_url

    def assert_one_sweep(self) -> None:
        (run,) = self.runs
        assert self.link() == ("success", f"https://github.com/acme/bench/actions/runs/{run.id}")
        assert [reaction.content for reaction in self.comment.reactions] == ["+1"]


@dataclass
class Start:
    """A hub with an approving comment of which nothing has come yet."""

    hub: Hub
    snapshot: Snapshot

    def again(self) -> Desk:
        self.hub.restore(self.snapshot)
        self.hub.faults.clear()
        self.hub.clear_log()
        (made,) = self.hub.comments_of(80)
        return Desk(self.hub, made)


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    with Hub() as hub:
        hub.is_limited = False
        hub.account("mia", role="maintain")
        hub.account("eve", role="read")
        hub.push("main", {"perf-changelog.yaml": "one\n", **WORKFLOW_FILES})
        hub.push(
            "patch", {"perf-changelog.yaml": "one\nfork\n"}, by="eve", repository="eve/bench", start="main"
        )
        pull = hub.open_pull("patch", by="eve", repository="eve/bench", number=80)
        hub.label(80, "full-sweep-enabled", by="mia")
        hub.comment(80, f"/approve-sweep {pull.head_sha}", by="mia")
        yield Start(hub, hub.snapshot())


@pytest.fixture
def desk(start: Start) -> Desk:
    return start.again()


def faults() -> list[tuple[str, Callable[[int], Fault]]]:
    """Everything that can hit one request, and the death of the process at it."""
    found: list[tuple[str, Callable[[int], Fault]]] = [
        ("the process dies before it", lambda nth: Fault(kind=FaultKind.DROP, nth=nth, times=FOREVER)),
    ]
    for kind in FaultKind:
        if kind in {FaultKind.SLOW, FaultKind.OVERTAKEN, FaultKind.KILL}:
            continue  # late, but nothing is lost; KILL is a DROP with a callback
        seconds = 3600.0 if kind in {FaultKind.PRIMARY_LIMIT, FaultKind.TOO_MANY} else None
        for applied in (False, True) if kind in APPLIED_KINDS else (False,):
            for times in (1, FOREVER):
                words = (
                    f"{kind}{' (carried out)' if applied else ''}, {'once' if times == 1 else 'from it on'}"
                )

                def make(
                    nth: int,
                    kind: FaultKind = kind,
                    applied: bool = applied,
                    times: int = times,
                    seconds: float | None = seconds,
                ) -> Fault:
                    return Fault(kind=kind, nth=nth, times=times, applied=applied, seconds=seconds)

                found.append((words, make))
    return found


FAULTS = faults()


@pytest.mark.parametrize("make", [make for _, make in FAULTS], ids=[words for words, _ in FAULTS])
def test_a_fault_at_any_request_and_a_re_run_end_in_one_sweep(
    desk: Desk, make: Callable[[int], Fault], start: Start
) -> None:
    desk.approve()
    total = len(desk.hub.log)
    assert total >= 12
    for nth in range(1, total + 1):
        attempt = start.again()
        fault = attempt.hub.faults.add(make(nth))
        try:
            attempt.approve()
        except InfxError:
            attempt.hub.faults.clear()
            attempt.approve()
        assert fault.hits, nth
        attempt.assert_one_sweep()


def test_a_re_run_of_the_job_links_the_run_that_there_is(desk: Desk) -> None:
    first = desk.approve()
    assert desk.approve() == first
    desk.assert_one_sweep()


def test_the_same_comment_made_again_starts_a_sweep_anew(desk: Desk) -> None:
    first = desk.approve()
    desk.hub.state.runs[desk.runs[0].id].created_at = earlier(desk)
    again = desk.hub.comment(80, f"/approve-sweep {desk.head}", by="mia")
    second = desk.approve(comment=again)
    assert first
    assert second
    assert first.id != second.id
    assert len(desk.runs) == 2


def earlier(desk: Desk) -> str:
    return (desk.hub.clock() - timedelta(minutes=1)).isoformat()


@pytest.mark.parametrize(
    "change",
    [
        lambda run: setattr(run, "title", run.title.replace("PR 80", "PR 81")),
        lambda run: setattr(run, "title", f"PR 80 at {'e' * 40}"),
        lambda run: setattr(run, "actor", "mia"),
        lambda run: setattr(run, "head_branch", "other"),
        lambda run: setattr(run, "event", "pull_request"),
    ],
    ids=["of another pull request", "of another head", "by a person", "of another branch", "of an event"],
)
def test_a_run_of_something_else_is_not_taken_for_it(desk: Desk, change: Callable[[Run], None]) -> None:
    desk.approve()
    (other,) = desk.runs
    change(other)
    second = desk.approve()
    assert second
    assert second.id != other.id


@pytest.mark.parametrize(("job", "is_new"), [("sweep", True), ("sweep / plan", False)])
def test_a_run_that_ended_without_a_sweep_has_not_done_it(desk: Desk, job: str, is_new: bool) -> None:
    """Its gate refused, for a label that was gone in between: only the job that was skipped tells."""
    desk.approve()
    (run,) = desk.runs
    desk.hub.add_job(run.id, "gate")
    desk.hub.add_job(run.id, job, conclusion="skipped" if job == "sweep" else "success")
    desk.hub.finish_run(run.id, "failure" if is_new else "success")
    second = desk.approve()
    assert second
    assert (second.id != run.id) is is_new


@pytest.mark.parametrize("hours", [-24, 24])
def test_the_machines_clock_does_not_matter(desk: Desk, hours: int) -> None:
    """45 seconds were enough for a second sweep."""
    github = desk.connect(clock=lambda: time.time() + hours * 3600)
    desk.hub.faults.add(Fault(kind=FaultKind.DROP, path="/dispatches", applied=True))
    desk.approve(github)
    desk.approve(github)
    desk.assert_one_sweep()


def test_an_approver_whom_github_denies_is_not_refused(desk: Desk) -> None:
    """Twice, which otherwise is believed; but somebody has written the comment."""
    desk.hub.faults.add(Fault(kind=FaultKind.NOT_FOUND, path="/permission$", times=2))
    with pytest.raises(InfxError) as caught:
        desk.approve()
    assert (caught.value.exit_code, desk.comment.reactions) == (3, [])
    desk.approve()
    desk.assert_one_sweep()


def test_a_dispatch_whose_outcome_is_unknown_leaves_the_approval(desk: Desk) -> None:
    """The run that it may have started looks for the approval."""
    blind = Fault(kind=FaultKind.BAD_GATEWAY, path="/run-sweep.yml/runs$", times=FOREVER)

    def hide_runs() -> None:
        desk.hub.faults.add(blind)

    desk.hub.faults.add(Fault(kind=FaultKind.KILL, path="/dispatches", applied=True, callback=hide_runs))
    with pytest.raises(InfxError) as caught:
        desk.approve()
    assert caught.value.exit_code == 3
    assert len(desk.runs) == 1
    assert desk.link()[0] == "success"
