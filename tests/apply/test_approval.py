"""One approval starts one sweep, whatever fails and however often its job is rerun."""

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
class Approval:
    """A hub where the maintainer mia has approved the head of a fork's pull request 80 in a comment."""

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
        """Run the whole job for a comment, by default the first."""
        github = github or self.connect()
        comment = comment or self.comment
        reference = CommentReference(
            repository="acme/bench", pull_number=80, kind=CommentKind.ISSUE, id=comment.id
        )
        facts = gather_approval(reference, POLICY, github)
        return publish_approval(facts, decide_approval(facts, POLICY), POLICY, github)

    def read_status(self) -> tuple[str, str | None]:
        status = [status for status in self.hub.state.statuses if status.context == "infx/approval"][-1]
        return status.state, status.target_url

    def assert_one_sweep(self) -> None:
        (run,) = self.runs
        assert self.read_status() == ("success", f"https://github.com/acme/bench/actions/runs/{run.id}")
        assert [reaction.content for reaction in self.comment.reactions] == ["+1"]


@dataclass
class Start:
    """A hub with an approving comment that no job has read yet."""

    hub: Hub
    snapshot: Snapshot

    def restore(self) -> Approval:
        self.hub.restore(self.snapshot)
        self.hub.faults.clear()
        self.hub.clear_log()
        (comment,) = self.hub.comments_of(80)
        return Approval(self.hub, comment)


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
def approval(start: Start) -> Approval:
    return start.restore()


def faults() -> list[tuple[str, Callable[[int], Fault]]]:
    """Return every fault of one request, and the end of the process at a request, each with a name."""
    makers: list[tuple[str, Callable[[int], Fault]]] = [
        (
            "the process dies before the request",
            lambda nth: Fault(kind=FaultKind.DROP, nth=nth, times=FOREVER),
        ),
    ]
    for kind in FaultKind:
        if kind in {FaultKind.SLOW, FaultKind.OVERTAKEN, FaultKind.KILL}:
            continue  # SLOW and OVERTAKEN lose nothing; KILL is a DROP with a callback
        seconds = 3600.0 if kind in {FaultKind.PRIMARY_LIMIT, FaultKind.TOO_MANY} else None
        for applied in (False, True) if kind in APPLIED_KINDS else (False,):
            for times in (1, FOREVER):
                words = f"{kind}{' (carried out)' if applied else ''}, {'once' if times == 1 else 'forever'}"

                def make(
                    nth: int,
                    kind: FaultKind = kind,
                    applied: bool = applied,
                    times: int = times,
                    seconds: float | None = seconds,
                ) -> Fault:
                    return Fault(kind=kind, nth=nth, times=times, applied=applied, seconds=seconds)

                makers.append((words, make))
    return makers


FAULTS = faults()


# A fault that lasts differs from one that is repeated only by the end of the process, which the first of them shows.
SOME = [
    pytest.param(make, id=words, marks=[pytest.mark.nightly] if words.endswith(", forever") else [])
    for words, make in FAULTS
]


@pytest.mark.parametrize("make", SOME)
def test_a_fault_at_any_request_and_a_rerun_end_in_one_sweep(
    approval: Approval, make: Callable[[int], Fault], start: Start
) -> None:
    approval.approve()
    total = len(approval.hub.log)
    assert total >= 12
    for nth in range(1, total + 1):
        attempt = start.restore()
        fault = attempt.hub.faults.add(make(nth))
        try:
            attempt.approve()
        except InfxError:
            attempt.hub.faults.clear()
            attempt.approve()
        assert fault.hits, nth
        attempt.assert_one_sweep()


def test_a_rerun_of_the_job_links_the_existing_run(approval: Approval) -> None:
    first = approval.approve()
    assert approval.approve() == first
    approval.assert_one_sweep()


def test_a_second_approving_comment_starts_another_sweep(approval: Approval) -> None:
    first = approval.approve()
    approval.hub.state.runs[approval.runs[0].id].created_at = earlier(approval)
    comment = approval.hub.comment(80, f"/approve-sweep {approval.head}", by="mia")
    second = approval.approve(comment=comment)
    assert first
    assert second
    assert first.id != second.id
    assert len(approval.runs) == 2


def earlier(approval: Approval) -> str:
    return (approval.hub.clock() - timedelta(minutes=1)).isoformat()


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
def test_a_run_of_something_else_is_not_linked(approval: Approval, change: Callable[[Run], None]) -> None:
    approval.approve()
    (other,) = approval.runs
    change(other)
    second = approval.approve()
    assert second
    assert second.id != other.id


@pytest.mark.parametrize(("job", "is_new"), [("sweep", True), ("sweep / plan", False)])
def test_a_run_that_ended_without_a_sweep_is_replaced(approval: Approval, job: str, is_new: bool) -> None:
    """The gate of the run refused because the label had been removed, so its `sweep` job was skipped."""
    approval.approve()
    (run,) = approval.runs
    approval.hub.add_job(run.id, "gate")
    approval.hub.add_job(run.id, job, conclusion="skipped" if job == "sweep" else "success")
    approval.hub.finish_run(run.id, "failure" if is_new else "success")
    second = approval.approve()
    assert second
    assert (second.id != run.id) is is_new


@pytest.mark.parametrize("hours", [-24, 24])
def test_a_wrong_clock_of_the_machine_starts_no_second_sweep(approval: Approval, hours: int) -> None:
    github = approval.connect(clock=lambda: time.time() + hours * 3600)
    approval.hub.faults.add(Fault(kind=FaultKind.DROP, path="/dispatches", applied=True))
    approval.approve(github)
    approval.approve(github)
    approval.assert_one_sweep()


def test_an_approver_unknown_to_github_is_an_error_and_no_refusal(approval: Approval) -> None:
    """The author of a comment exists, so infx does not believe even a repeated 404."""
    approval.hub.faults.add(Fault(kind=FaultKind.NOT_FOUND, path="/permission$", times=2))
    with pytest.raises(InfxError) as caught:
        approval.approve()
    assert (caught.value.exit_code, approval.comment.reactions) == (3, [])
    approval.approve()
    approval.assert_one_sweep()


def test_a_dispatch_with_an_unknown_outcome_keeps_the_approval(approval: Approval) -> None:
    """The gate of the run that may have started needs the approval."""
    no_list = Fault(kind=FaultKind.BAD_GATEWAY, path="/run-sweep.yml/runs$", times=FOREVER)

    def hide_runs() -> None:
        approval.hub.faults.add(no_list)

    approval.hub.faults.add(Fault(kind=FaultKind.KILL, path="/dispatches", applied=True, callback=hide_runs))
    with pytest.raises(InfxError) as caught:
        approval.approve()
    assert caught.value.exit_code == 3
    assert len(approval.runs) == 1
    assert approval.read_status()[0] == "success"
