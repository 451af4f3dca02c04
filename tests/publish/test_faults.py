"""A fault at each request and a kill after each request: rows are stored once, and the event is sent at most once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from infx.apply.publish import DeliveryReport, Publisher
from infx.errors import InfxError
from infx.github.api import GitHub, connect
from infx.hub import FOREVER, Fault, FaultKind
from infx.hub.faults import APPLIED_KINDS
from infx.hub.service import Snapshot
from infx.model import CommitStatus, StatusState
from infx.policy.load import parse_policy
from infx.publish.handover import ValidatedMerge, parse_handover
from tests.publish.world import OWN, TARGET, WRITES, ListedStore, Publishing, prepare
from tests.reuse.world import POLICY

WANTED = ("success", 4, 1)  # status, stored rows, events


@dataclass
class Writing:
    """The writing job of one merge, without the command line."""

    publishing: Publishing
    merge: ValidatedMerge
    start: Snapshot
    attempt: int = 0

    def reset(self) -> None:
        hub = self.publishing.world.hub
        hub.restore(self.start)
        hub.faults.clear()
        hub.clear_log()
        self.publishing.store = ListedStore()

    def connect(self, repository: str, token: str) -> GitHub:
        environ = self.publishing.world.hub.environ(token)
        return connect(repository, environ=environ, sleep=lambda _: None, budget=600)

    def make(self, *, recovers: bool = False) -> Publisher:
        """Return what a new attempt of the job uses."""
        self.attempt += 1
        hub = self.publishing.world.hub
        policy = parse_policy(
            f"{POLICY}on-merge: reuse\npublish: {{target: {TARGET}}}\n".encode(), "policy.yaml"
        )
        return Publisher(
            github=self.connect("acme/bench", hub.workflow_token(WRITES)),
            policy=policy,
            store=self.publishing.store,
            target=self.connect(TARGET, self.publishing.target_token),
            claim=f"https://github.com/acme/bench/actions/runs/{OWN}#{OWN}-{self.attempt}",
            merge_run=OWN,
            now=hub.clock(),
            recovers=recovers,
        )

    def deliver(self, *, recovers: bool = False) -> DeliveryReport:
        return self.make(recovers=recovers).deliver(self.merge)

    def deliver_again(self) -> DeliveryReport | None:
        """Run the job again until it ends, as reconcile and people do; None if it needs a person's decision."""
        for _ in range(3):
            report = self.deliver()
            if report.is_good or "delivery unknown" in report.words:
                return report if report.is_good else None
        raise AssertionError(report.words)

    @property
    def state(self) -> tuple[str, int, int]:
        statuses = self.publishing.statuses(self.merge.sha)
        return statuses[0].state if statuses else "", len(self.publishing.rows), len(self.publishing.sent)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writing]:
    """Prepare a merge whose results were validated."""
    with prepare(tmp_path_factory.mktemp("publishing")) as publishing:
        publishing.sweep()
        publishing.world.ask()
        sha = publishing.merge()
        validated = publishing.validate("--sha", sha)
        data = (publishing.world.folder / "out" / "publish.json").read_bytes()
        digest = validated.outputs["sum"]
        handover = parse_handover(data, "publish.json", digest=digest, repository="acme/bench")
        yield Writing(publishing, handover.merges[0], publishing.world.hub.snapshot())


@pytest.fixture
def writing(prepared: Writing) -> Writing:
    prepared.reset()
    return prepared


def list_faults() -> list[dict[str, Any]]:
    """Return every fault of one request, before and after GitHub has carried it out, and the end of the process."""
    faults: list[dict[str, Any]] = [
        {"kind": FaultKind.DROP, "times": FOREVER},
        {"kind": FaultKind.DROP, "times": FOREVER, "applied": True},
    ]
    for kind in FaultKind:
        if kind in {FaultKind.SLOW, FaultKind.OVERTAKEN, FaultKind.KILL}:
            continue
        seconds = 3600.0 if kind in {FaultKind.PRIMARY_LIMIT, FaultKind.TOO_MANY} else None
        applied = (False, True) if kind in APPLIED_KINDS else (False,)
        faults += [{"kind": kind, "applied": done, "seconds": seconds} for done in applied]
    return faults


QUICK = [
    {"kind": FaultKind.DROP, "times": FOREVER},
    {"kind": FaultKind.DROP, "times": FOREVER, "applied": True},
    {"kind": FaultKind.BAD_GATEWAY, "applied": True},
    {"kind": FaultKind.EMPTY, "applied": True},
    {"kind": FaultKind.NOT_FOUND},
    {"kind": FaultKind.SECONDARY_LIMIT, "seconds": 60},
]
NIGHTLY = [pytest.param(fault, marks=pytest.mark.nightly) for fault in list_faults()]


@pytest.mark.parametrize("fault", [*QUICK, *NIGHTLY], ids=str)
def test_a_fault_at_each_request(writing: Writing, fault: dict[str, Any]) -> None:
    writing.deliver()
    assert writing.state == WANTED
    # the log, the announcement, the log, the event, the success
    total = len(writing.publishing.world.hub.log)
    assert total == 5
    for nth in range(1, total + 1):
        writing.reset()
        struck = writing.publishing.world.hub.faults.add(Fault(**fault, nth=nth))
        try:
            writing.deliver()
        except InfxError:
            assert len(writing.publishing.sent) <= 1
        assert struck.hits, nth
        writing.publishing.world.hub.faults.clear()
        finish(writing)


def finish(writing: Writing) -> None:
    """Run the job again, with a person's decision if it asks for one."""
    report = writing.deliver_again()
    assert len(writing.publishing.sent) <= 1, "sent twice without a decision"
    if report is None:
        before = list(writing.publishing.sent)
        assert writing.deliver(recovers=True).is_good
        assert [payload["key"] for _, payload, _ in writing.publishing.sent[len(before) :]] == [
            payload["key"] for _, payload, _ in before
        ] or not before
    status, rows, _ = writing.state
    assert (status, rows) == ("success", 4)
    sent = list(writing.publishing.sent)
    assert writing.deliver().is_good
    assert writing.publishing.sent == sent, "a published merge is left alone"


def test_an_event_of_unknown_fate_waits_for_a_person(writing: Writing) -> None:
    hub = writing.publishing.world.hub
    hub.faults.add(Fault(kind=FaultKind.DROP, path="/dispatches", applied=True))
    with pytest.raises(InfxError):
        writing.deliver()
    for _ in range(2):
        report = writing.deliver()
        assert not report.is_good
        assert "delivery unknown" in report.words
        assert "--recover" in report.words
    assert writing.state == ("pending", 4, 1)
    assert writing.deliver(recovers=True).is_good
    (_, first, _), (_, second, _) = writing.publishing.sent
    assert first == second, "the target recognizes the key"


@pytest.mark.parametrize("kind", [FaultKind.FORBIDDEN, FaultKind.NOT_FOUND, FaultKind.INVALID])
def test_a_refused_event_is_sent_by_the_next_run(writing: Writing, kind: FaultKind) -> None:
    hub = writing.publishing.world.hub
    hub.faults.add(Fault(kind=kind, path="/dispatches"))
    with pytest.raises(InfxError):
        writing.deliver()
    status = writing.publishing.statuses(writing.merge.sha)[0]
    assert status.state == "failure"
    assert (status.description or "").startswith("not sent ")
    assert writing.deliver().is_good
    assert writing.state == WANTED


def test_a_refused_second_event_does_not_hide_the_first(writing: Writing) -> None:
    """Otherwise a third run would send without a decision."""
    hub = writing.publishing.world.hub
    hub.faults.add(Fault(kind=FaultKind.DROP, path="/dispatches", applied=True))
    with pytest.raises(InfxError):
        writing.deliver()
    hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path="/dispatches"))
    with pytest.raises(InfxError):
        writing.deliver(recovers=True)
    assert "delivery unknown" in writing.deliver().words
    assert len(writing.publishing.sent) == 1


def test_a_store_that_cannot_be_written_sends_nothing(
    writing: Writing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise InfxError("The store is not there.")

    monkeypatch.setattr(writing.publishing.store, "publish", fail)
    with pytest.raises(InfxError):
        writing.deliver()
    monkeypatch.undo()
    assert writing.state == ("", 0, 0)
    assert writing.deliver().is_good


class Rival:
    """A client whose first status is overtaken by that of another run, which has read the same empty log."""

    def __init__(self, github: GitHub, rival: Callable[[], object]) -> None:
        self.github = github
        self.rival = rival

    @property
    def repository(self) -> str:
        return self.github.repository

    def status_log(self, sha: str) -> list[CommitStatus]:
        return self.github.status_log(sha)

    def write_then_look(self, write: Callable[[], Any], look: Callable[[], Any]) -> Any:
        return self.github.write_then_look(write, look)

    def create_status(
        self, sha: str, *, context: str, state: StatusState, description: str, target_url: str = ""
    ) -> CommitStatus:
        rival, self.rival = self.rival, lambda: None
        rival()
        return self.github.create_status(
            sha, context=context, state=state, description=description, target_url=target_url
        )


def test_of_two_runs_at_once_the_first_announcement_counts(writing: Writing) -> None:
    first, second = writing.make(), writing.make()
    object.__setattr__(first, "github", Rival(first.github, lambda: second.deliver(writing.merge)))  # type: ignore[arg-type]
    assert first.deliver(writing.merge).is_good
    assert writing.state == WANTED


def test_of_two_announcements_only_the_first_run_sends(writing: Writing) -> None:
    """The other run has announced its event, and has not sent it yet."""
    first, second = writing.make(), writing.make()

    def announce() -> None:
        hub = writing.publishing.world.hub
        key = "0" * 16
        hub.set_status(
            writing.merge.sha, "infx/published", "pending", description=f"sending {key}",
            target_url=second.claim, by="github-actions[bot]",
        )  # fmt: skip

    object.__setattr__(first, "github", Rival(first.github, announce))  # type: ignore[arg-type]
    report = first.deliver(writing.merge)
    assert not report.is_good
    assert "delivery unknown" in report.words
    assert writing.publishing.sent == []


def test_a_token_of_another_identity_sends_nothing(writing: Writing) -> None:
    """infx would not trust the announcement, so the next run would send again."""
    hub = writing.publishing.world.hub
    publisher = writing.make()
    object.__setattr__(
        publisher, "github", writing.connect("acme/bench", hub.app_token("bench-bot[bot]", WRITES))
    )
    with pytest.raises(InfxError, match="would not trust its own statuses"):
        publisher.deliver(writing.merge)
    assert writing.publishing.sent == []
    assert writing.deliver().is_good


READ_FAULTS: list[dict[str, Any]] = [
    {"kind": FaultKind.NOT_FOUND},
    {"kind": FaultKind.DROP, "times": FOREVER},
    {"kind": FaultKind.EMPTY},
    {"kind": FaultKind.INVALID},
    {"kind": FaultKind.BAD_GATEWAY},
    {"kind": FaultKind.UNAUTHORIZED},
    {"kind": FaultKind.TOO_MANY, "seconds": 7200},
]


@pytest.mark.parametrize("shift", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(1, 7))])
def test_a_fault_at_each_request_of_the_reading_job(writing: Writing, shift: int) -> None:
    """What cannot be read is neither a refusal nor an empty result. shift: which fault the first request meets."""
    publishing, hub = writing.publishing, writing.publishing.world.hub
    wanted = publishing.validate("--sha", writing.merge.sha)
    assert wanted.code == 0
    total = len(hub.log)
    codes = set()
    for nth in range(1, total + 1, 1 if shift else 3):
        struck = hub.faults.add(Fault(**READ_FAULTS[(nth + shift) % len(READ_FAULTS)], nth=nth))
        called = publishing.validate("--sha", writing.merge.sha)
        hub.faults.clear()
        assert struck.hits, nth
        codes.add(called.code)
        assert called.code == 3 or called.outputs == wanted.outputs, (nth, called.err)
    assert codes == {0, 3}
    assert hub.writes == 0
