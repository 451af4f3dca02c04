"""Check which facts the gate gathers from GitHub, and how many requests it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from infx.errors import UnavailableError
from infx.gate.approval import describe_approver
from infx.gate.decide import decide
from infx.gate.decision import Decision, GateVerdict, Reason
from infx.gate.event import DispatchInputs, Event, EventAction, EventName, parse_event
from infx.gate.facts import GateFacts
from infx.gather.gate import EARLIER_HEADS, gather_facts
from infx.github.api import connect
from infx.hub import Hub
from infx.hub.faults import FOREVER, Fault, FaultKind
from infx.policy.load import default_policy

POLICY = default_policy()
CHANGELOG = "perf-changelog.yaml"


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        for login, role in {"cody": "write", "mia": "maintain", "eve": "read"}.items():
            hub.account(login, role=role)
        hub.push("main", {CHANGELOG: "one\n", "README.md": "hello\n"})
        hub.push("feat-x", {CHANGELOG: "one\ntwo\n"}, "Faster", start="main")
        hub.open_pull("feat-x", number=77)
        yield hub


def gather(hub: Hub, event: Event | None = None, **options: Any) -> GateFacts:
    """Gather facts about an event, by default the newest of a pull request, and log only these requests."""
    if event is None:
        newest = [event for event in hub.state.events if event.name == "pull_request"][-1]
        event = parse_event(newest.name, newest.payload, run_id=900)
    hub.clear_log()
    token = hub.workflow_token(pull_requests="read", contents="read", actions="read", statuses="read")
    return gather_facts(
        event, POLICY, connect(hub.repository, environ=hub.environ(token), sleep=lambda _: None), **options
    )


def answer(hub: Hub, event: Event | None = None) -> Decision:
    return decide(gather(hub, event), POLICY)


ASKED = Event(name=EventName.ASKED, pull=77)


def test_a_label_starts_a_sweep_with_few_requests(hub: Hub) -> None:
    hub.label(77, "full-sweep-fail-fast")
    decision = answer(hub)
    assert (decision.verdict, decision.reason) == (GateVerdict.RUN, Reason.READY)
    assert decision.head_sha == hub.state.pulls[77].head_sha
    assert hub.reads == 6  # permission, pull twice, files, head commit, its statuses
    assert hub.writes == 0


@pytest.mark.parametrize("label", ["documentation", "skip_queue"])
def test_an_unrelated_label_costs_two_requests(hub: Hub, label: str) -> None:
    hub.label(77, "full-sweep-fail-fast", label)
    assert answer(hub).reason is Reason.UNRELATED_LABEL
    assert hub.reads == 2


def test_an_unlabeled_push_costs_two_requests(hub: Hub) -> None:
    hub.push("feat-x", {CHANGELOG: "one\nthree\n"})
    assert answer(hub).reason is Reason.NO_PRIMARY_LABEL
    assert hub.reads == 2


def test_labels_are_read_live_and_not_from_the_event(hub: Hub) -> None:
    """A re-run has the payload of the first attempt."""
    hub.label(77, "full-sweep-fail-fast")
    labeled = hub.state.events[-1]
    hub.unlabel(77, "full-sweep-fail-fast")
    event = parse_event(labeled.name, labeled.payload, run_id=900, attempt=2, triggering_actor="mia")
    facts = gather(hub, event)
    assert decide(facts, POLICY).reason is Reason.NO_PRIMARY_LABEL
    assert facts.actor is not None
    assert facts.actor.login == "mia"


def test_an_event_of_an_older_head_is_stale(hub: Hub) -> None:
    hub.label(77, "full-sweep-fail-fast")
    labeled = hub.state.events[-1]
    hub.push("feat-x", {CHANGELOG: "one\nthree\n"})
    assert answer(hub, parse_event(labeled.name, labeled.payload)).reason is Reason.STALE_HEAD


def test_a_pull_request_without_a_changelog_change_is_recognized(hub: Hub) -> None:
    hub.push("docs", {"README.md": "bye\n"}, start="main")
    pull = hub.open_pull("docs")
    hub.label(pull.number, "sweep-enabled")
    assert answer(hub).reason is Reason.CHANGELOG_UNTOUCHED


def test_the_changelog_is_found_on_the_second_page_of_files(hub: Hub) -> None:
    hub.push(
        "many", {f"a/{number}.txt": "x" for number in range(130)} | {CHANGELOG: "one\nmany\n"}, start="main"
    )
    pull = hub.open_pull("many")
    hub.label(pull.number, "sweep-enabled")
    assert answer(hub).verdict is GateVerdict.RUN


@pytest.mark.parametrize("path", [".github/workflows/run-sweep.yml", "configs/policy.yaml"])
def test_edits_of_workflows_and_policy_are_found(hub: Hub, path: str) -> None:
    hub.push("feat-x", {path: "x: 1\n"})
    hub.label(77, "sweep-enabled")
    assert gather(hub, rules=("configs/policy.yaml",)).edits_rules


def test_a_merge_conflict_is_found(hub: Hub) -> None:
    hub.label(77, "full-sweep-fail-fast")
    hub.push("main", {CHANGELOG: "one\nother\n"})
    assert answer(hub, ASKED).reason is Reason.MERGE_CONFLICT


def test_a_missing_answer_is_an_error(hub: Hub) -> None:
    """A request that always fails must not end as a silent skip."""
    hub.label(77, "full-sweep-fail-fast")
    for path in ("/files", "/permission", "/pulls/77$", "/git/commits/"):
        fault = hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path=path, times=FOREVER))
        with pytest.raises(UnavailableError):
            gather(hub)
        assert fault.hits
        hub.faults.clear()


def test_a_request_that_fails_briefly_is_repeated(hub: Hub) -> None:
    hub.label(77, "full-sweep-fail-fast")
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/files", times=2))
    assert answer(hub).verdict is GateVerdict.RUN


def test_opening_with_a_label_starts_one_sweep(hub: Hub) -> None:
    hub.push("both", {CHANGELOG: "one\nboth\n"}, start="main")
    pull = hub.open_pull("both", labels=("full-sweep-enabled",))
    events = [event for event in hub.state.events if event.payload.get("number") == pull.number]
    runs = [hub.add_run(pull=pull.number) for _ in events]
    verdicts = {
        event.action: answer(hub, parse_event(event.name, event.payload, run_id=run.id)).verdict
        for event, run in zip(events, runs, strict=True)
    }
    assert verdicts == {"opened": GateVerdict.IGNORE, "labeled": GateVerdict.RUN}


def test_a_run_that_swept_nothing_does_not_block_a_sweep(hub: Hub) -> None:
    hub.label(77, "full-sweep-enabled")
    ignored = hub.add_run(pull=77)
    hub.add_job(ignored.id, "gate")
    hub.add_job(ignored.id, "sweep", conclusion="skipped")
    hub.finish_run(ignored.id)
    hub.set_draft(77, draft=False)  # ready_for_review
    assert answer(hub).verdict is GateVerdict.RUN
    swept = hub.add_run(pull=77)
    hub.add_job(swept.id, "sweep / plan", conclusion=None)
    decision = answer(hub)
    assert decision.reason is Reason.RUN_EXISTS
    assert f"/runs/{swept.id}" in decision.words


def gate(hub: Hub, run_id: int, sleep: Callable[[float], None]) -> Decision:
    """Decide for a run of `reopened`; `sleep` is called while the gate waits."""
    head = hub.state.pulls[77].head_sha
    event = Event(
        name=EventName.PULL_REQUEST,
        action=EventAction.REOPENED,
        actor="cody",
        pull=77,
        head_sha=head,
        run_id=run_id,
    )
    token = hub.workflow_token(pull_requests="read", contents="read", actions="read", statuses="read")
    github = connect(hub.repository, environ=hub.environ(token), sleep=sleep)
    return decide(gather_facts(event, POLICY, github), POLICY)


def test_closing_and_reopening_starts_a_sweep(hub: Hub) -> None:
    """The gate of `closed` is still undecided when the gate of `reopened` reads the runs."""
    hub.label(77, "full-sweep-enabled")
    closed, reopened = hub.add_run(pull=77), hub.add_run(pull=77)

    def sleep(seconds: float) -> None:
        if seconds == 4:
            hub.add_job(closed.id, "sweep", conclusion="skipped")

    assert gate(hub, reopened.id, sleep).verdict is GateVerdict.RUN


def test_a_gate_waits_for_one_that_starts_a_sweep(hub: Hub) -> None:
    hub.label(77, "full-sweep-enabled")
    other, own = hub.add_run(pull=77), hub.add_run(pull=77)

    def sleep(seconds: float) -> None:
        if seconds == 4:
            hub.add_job(other.id, "sweep / plan", conclusion=None)

    decision = gate(hub, own.id, sleep)
    assert (decision.verdict, decision.reason) == (GateVerdict.IGNORE, Reason.RUN_EXISTS)


def test_two_gates_do_not_wait_for_each_other(hub: Hub) -> None:
    """The older gate times out first, so the newer gate may start a sweep."""
    hub.label(77, "full-sweep-enabled")
    older, newer = hub.add_run(pull=77), hub.add_run(pull=77)
    waited: dict[int, list[float]] = {older.id: [], newer.id: []}
    for run in (older, newer):
        assert gate(hub, run.id, waited[run.id].append).reason is Reason.RUN_EXISTS
    assert sum(waited[newer.id]) - sum(waited[older.id]) >= 30


def test_a_dispatched_sweep_is_found_by_its_title(hub: Hub) -> None:
    """Only on the base branch, because a branch's own workflow can set any title."""
    hub.label(77, "full-sweep-enabled", by="github-actions[bot]")
    title = f"PR 77 at {hub.state.pulls[77].head_sha}"
    forged = hub.add_run(event="workflow_dispatch", branch="feat-x", title=title)
    hub.add_job(forged.id, "sweep / plan")
    assert answer(hub, ASKED).reason is Reason.LABEL_STARTED_NOTHING
    run = hub.add_run(event="workflow_dispatch", branch="main", title=title)
    hub.add_job(run.id, "sweep / plan", conclusion=None)
    decision = answer(hub, ASKED)
    assert decision.reason is Reason.RUN_EXISTS
    assert f"/runs/{run.id}" in decision.words


def test_a_label_by_the_workflow_token_is_found_in_the_timeline(hub: Hub) -> None:
    hub.label(77, "full-sweep-fail-fast", by="github-actions[bot]")
    assert answer(hub, ASKED).reason is Reason.LABEL_STARTED_NOTHING
    hub.unlabel(77, "full-sweep-fail-fast")
    hub.label(77, "full-sweep-fail-fast", by="mia")
    assert answer(hub, ASKED).reason is Reason.READY


def test_a_label_by_an_account_without_write_access_is_found(hub: Hub) -> None:
    """The labeling event reported it only in the summary of a run that started nothing."""
    hub.account("tia", role="triage")
    hub.label(77, "full-sweep-fail-fast", by="tia")
    decision = answer(hub, ASKED)
    assert decision.reason is Reason.LABEL_STARTED_NOTHING
    assert decision.words == "the label full-sweep-fail-fast was added by tia, who has no write access"
    assert "Someone with write access can start it with" in (decision.fix or "")
    run = hub.add_run(pull=77)
    hub.add_job(run.id, "sweep / plan", conclusion=None)
    assert answer(hub, ASKED).reason is Reason.RUN_EXISTS


@pytest.fixture
def fork(hub: Hub) -> Hub:
    hub.push("patch", {CHANGELOG: "one\nfork\n"}, by="eve", repository="eve/bench", start="main")
    hub.open_pull("patch", by="eve", repository="eve/bench", number=80)
    hub.label(80, "full-sweep-enabled", by="mia")
    return hub


def test_a_fork_needs_an_approval_status_of_an_identity(fork: Hub) -> None:
    head = fork.state.pulls[80].head_sha
    assert answer(fork).reason is Reason.APPROVAL_MISSING
    fork.set_status(head, "infx/approval", "success", by="eve")
    fork.set_status(head, "infx/other", "success")
    assert answer(fork).reason is Reason.APPROVAL_MISSING
    fork.set_status(head, "infx/approval", "pending")
    assert answer(fork).reason is Reason.APPROVAL_MISSING
    fork.set_status(head, "infx/approval", "success", target_url="https://x/1")
    decision = answer(fork)
    assert decision.reason is Reason.APPROVED_ELSEWHERE
    assert "https://x/1" in decision.words


@pytest.mark.parametrize(("state", "by"), [("error", "github-actions[bot]"), ("failure", "mia")])
def test_an_approval_can_be_revoked(fork: Hub, state: str, by: str) -> None:
    """For example, infx revokes an approval after a failed dispatch."""
    head = fork.state.pulls[80].head_sha
    fork.set_status(head, "infx/approval", "success")
    fork.set_status(head, "infx/approval", state, by=by)
    assert answer(fork).reason is Reason.APPROVAL_MISSING


def test_a_push_to_a_fork_voids_the_approval(fork: Hub) -> None:
    head = fork.state.pulls[80].head_sha
    fork.set_status(head, "infx/approval", "success")
    fork.push("patch", {CHANGELOG: "one\nfork\nmore\n"}, by="eve", repository="eve/bench")
    decision = answer(fork)
    assert decision.reason is Reason.APPROVAL_STALE
    assert head[:12] in decision.words
    assert fork.reads <= 9 + EARLIER_HEADS


def test_a_deleted_fork_is_a_fork(fork: Hub) -> None:
    fork.state.pulls[80].head_repository = None
    decision = answer(fork)
    assert decision.reason is Reason.APPROVAL_MISSING
    assert "deleted" in decision.words


def test_the_dispatch_of_an_approved_fork(fork: Hub) -> None:
    pull = fork.state.pulls[80]
    fork.set_status(pull.head_sha, "infx/approval", "success")
    fork.compute_merge(pull)
    inputs = DispatchInputs(pull=80, head_ref=pull.head_sha, merge_sha=pull.merge_sha or "")
    event = Event(
        name=EventName.DISPATCH, actor="github-actions[bot]", pull=80, head_sha=pull.head_sha, inputs=inputs
    )
    assert answer(fork, event).verdict is GateVerdict.RUN
    fork.push("main", {"other.txt": "x"})  # the base of the test merge is now an older commit
    assert answer(fork, event).reason is Reason.TEST_MERGE  # GitHub no longer shows that it made this merge
    words = f"Approved by {describe_approver('mia', inputs.merge_sha)}; the sweep is linked"
    fork.set_status(pull.head_sha, "infx/approval", "success", description=words)
    assert answer(fork, event).verdict is GateVerdict.RUN
    gone = Event(
        name=EventName.DISPATCH,
        actor="github-actions[bot]",
        pull=80,
        head_sha=pull.head_sha,
        inputs=DispatchInputs(pull=80, head_ref=pull.head_sha, merge_sha="e" * 40),
    )
    assert answer(fork, gone).reason is Reason.TEST_MERGE


def dispatched(head_ref: str, **more: Any) -> Event:
    inputs = DispatchInputs(base_ref="main", head_ref=head_ref)
    return Event(
        name=EventName.DISPATCH, actor="github-actions[bot]", head_sha=head_ref, inputs=inputs, **more
    )


def test_a_commit_of_a_fork_is_dispatched_only_with_an_approval(fork: Hub) -> None:
    head = fork.state.pulls[80].head_sha
    assert answer(fork, dispatched(head)).reason is Reason.FOREIGN_COMMIT
    fork.set_status(head, "infx/approval", "success", by="cody")
    assert answer(fork, dispatched(head)).reason is Reason.FOREIGN_COMMIT
    fork.set_status(head, "infx/approval", "success")
    assert answer(fork, dispatched(head)).runs


def test_commits_of_own_branches_are_dispatched(hub: Hub) -> None:
    old, first = hub.state.pulls[77].head_sha, hub.git.resolve("main") or ""
    hub.push("main", {"other.txt": "x"})
    tip = hub.push("feat-x", {"other.txt": "x"})
    assert answer(hub, dispatched(tip)).runs  # the tip of a branch
    assert answer(hub, dispatched(first)).runs  # in the base branch's history
    assert answer(hub, dispatched(old, ref="refs/heads/feat-x")).runs  # in the dispatched branch's history
    decision = answer(hub, dispatched(old, ref="refs/heads/main"))
    assert decision.reason is Reason.FOREIGN_COMMIT  # histories of other branches are not searched
    assert "Name the branch" in (decision.fix or "")


def test_a_forged_test_merge_is_refused(fork: Hub) -> None:
    """Its parents are right, but its files are not the merged files."""
    pull = fork.state.pulls[80]
    fork.set_status(pull.head_sha, "infx/approval", "success")
    fork.compute_merge(pull)
    merge = fork.git.commit(pull.merge_sha or "")
    evil = fork.git.commit(fork.push("evil", {"benchmarks/run.sh": "curl\n"}, by="cody")).tree
    forged = fork.git.commit_tree(evil, merge.parents, merge.message, author="GitHub", seconds=1)
    inputs = DispatchInputs(pull=80, head_ref=pull.head_sha, merge_sha=forged)
    event = Event(
        name=EventName.DISPATCH, actor="github-actions[bot]", pull=80, head_sha=pull.head_sha, inputs=inputs
    )
    assert answer(fork, event).reason is Reason.TEST_MERGE


BROKEN = f"{CHANGELOG}:12: The link is foreign."


@pytest.mark.parametrize("event", [ASKED, None], ids=["asked", "labeled"])
def test_without_a_clone_the_status_tells_that_the_changelog_is_broken(hub: Hub, event: Event | None) -> None:
    hub.label(77, "full-sweep-fail-fast")
    head = hub.state.pulls[77].head_sha
    hub.set_status(head, "infx/sweep", "failure", description=BROKEN)
    decision = answer(hub, event)
    assert (decision.reason, decision.refused) == (Reason.CHANGELOG_INVALID, True)
    assert decision.words == f"the changelog {CHANGELOG} has 1 problem: {BROKEN.rstrip('.')}"


@pytest.mark.parametrize(
    "status",
    [
        {"state": "failure", "description": BROKEN, "by": "eve"},
        {"state": "success", "description": BROKEN},
        {"state": "failure", "description": "Failed: 1 of 40 rows done, 39 failed."},
        {"state": "failure", "description": BROKEN, "context": "other"},
    ],
)
def test_other_statuses_do_not_describe_the_changelog(hub: Hub, status: dict[str, Any]) -> None:
    hub.label(77, "full-sweep-fail-fast")
    hub.set_status(hub.state.pulls[77].head_sha, **{"context": "infx/sweep", **status})
    assert answer(hub).reason is Reason.READY


def test_a_clone_judges_the_changelog_itself(hub: Hub) -> None:
    hub.label(77, "full-sweep-fail-fast")
    hub.set_status(hub.state.pulls[77].head_sha, "infx/sweep", "failure", description=BROKEN)
    good = gather(hub, ASKED, judge=lambda _: ())
    assert (good.changelog.problems, decide(good, POLICY).reason) == ((), Reason.READY)
    bad = gather(hub, ASKED, judge=lambda pull: (f"{pull.number} is bad",))
    assert decide(bad, POLICY).reason is Reason.CHANGELOG_INVALID
    unknown = gather(hub, ASKED, judge=lambda _: None)
    assert decide(unknown, POLICY).reason is Reason.CHANGELOG_INVALID  # from the status


def test_a_dispatch_by_branch_is_resolved(hub: Hub) -> None:
    tip = hub.state.pulls[77].head_sha
    event = Event(
        name=EventName.DISPATCH,
        actor="mia",
        head_sha="feat-x",
        inputs=DispatchInputs(base_ref="main", head_ref="feat-x"),
    )
    decision = answer(hub, event)
    assert (decision.head_sha, decision.base_sha) == (tip, hub.git.resolve("refs/heads/main"))
    assert hub.reads == 3
    gone = Event(
        name=EventName.DISPATCH, actor="mia", inputs=DispatchInputs(base_ref="main", head_ref="gone")
    )
    assert answer(hub, gone).reason is Reason.DISPATCH_INPUTS
    unknown = Event(
        name=EventName.DISPATCH, actor="mia", inputs=DispatchInputs(base_ref="main", head_ref="e" * 40)
    )
    assert answer(hub, unknown).reason is Reason.DISPATCH_INPUTS


def test_a_command_runs_on_the_base_branch_unless_it_names_a_head(hub: Hub) -> None:
    for head, branch in (("", "main"), ("feat-x", "feat-x")):
        inputs = DispatchInputs(command="full-sweep --smoke", head_ref=head)
        decision = answer(hub, Event(name=EventName.DISPATCH, actor="mia", inputs=inputs))
        assert (decision.verdict, decision.head_sha) == (
            GateVerdict.RUN,
            hub.git.resolve(f"refs/heads/{branch}"),
        )


@pytest.mark.parametrize("where", ["known", "unknown", "first", "missing"])
def test_a_new_branch_is_compared_with_the_parent_of_its_first_commit(hub: Hub, where: str) -> None:
    tip = hub.git.resolve("refs/heads/main")
    head = hub.state.pulls[77].head_sha
    oldest = {"known": head, "unknown": "d" * 40, "first": tip, "missing": None}[where]
    push = Event(
        name=EventName.PUSH, ref="refs/heads/main", head_sha=head, before="0" * 40, oldest=oldest, actor="mia"
    )
    assert gather(hub, push).base_sha == (tip if where == "known" else None)


def test_a_sender_unknown_to_github_is_an_error(hub: Hub) -> None:
    """The event proves that cody has an account, so even two 404 replies do not mean a missing permission."""
    hub.label(77, "full-sweep-fail-fast")
    hub.faults.add(Fault(kind=FaultKind.NOT_FOUND, path="/permission$", times=2))
    with pytest.raises(UnavailableError, match="does not report the permission of cody"):
        answer(hub)
    assert answer(hub).verdict is GateVerdict.RUN
