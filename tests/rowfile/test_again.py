"""A row of a later attempt asks the live pull request before it touches a GPU, because a partial re-run keeps old answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from infx.bench.jobs import RowJob
from infx.gate.again import make_row_rules
from infx.gate.decision import Decision, GateVerdict, Reason
from infx.hub import Hub
from infx.hub.faults import FOREVER, Fault, FaultKind
from infx.hub.state import Pull
from infx.policy.load import default_policy
from tests.calling import call
from tests.matrix.rows import FIXED, row
from tests.rowfile.playing import Played, cut_plan, play, replace_in

ATTEMPT = "2"
CHANGELOG = "perf-changelog.yaml"
Ask = Callable[..., Callable[[], Played]]


@pytest.fixture(scope="module")
def shared_hub() -> Iterator[Hub]:
    with Hub() as hub:
        hub.account("cody", role="write")
        hub.account("mia", role="maintain")
        hub.push("main", {CHANGELOG: "one\n"})
        hub.push("feat-x", {CHANGELOG: "one\ntwo\n"}, "Faster", start="main")
        hub.open_pull("feat-x", number=77)
        hub.label(77, "full-sweep-fail-fast")
        hub.push("patch", {CHANGELOG: "one\nfork\n"}, by="eve", repository="eve/bench", start="main")
        hub.open_pull("patch", by="eve", repository="eve/bench", number=80)
        hub.label(80, "full-sweep-enabled", by="mia")
        hub.set_status(hub.state.pulls[80].head_sha, "infx/approval", "success")
        yield hub


@pytest.fixture
def hub(shared_hub: Hub) -> Iterator[Hub]:
    before = shared_hub.snapshot()
    yield shared_hub
    shared_hub.faults.clear()
    shared_hub.restore(before)


@pytest.fixture
def ask(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Cut a plan by what the gate decides now, and return how attempt 2 of its row answers."""
    monkeypatch.chdir(tmp_path)
    token = hub.workflow_token(pull_requests="read", contents="read", actions="read", statuses="read")
    values = {
        **hub.environ(token),
        "GITHUB_ACTIONS": "true",
        "GITHUB_RUN_ID": "700",
        "INFX_POLICY": "policy.yaml",
    }
    (tmp_path / "policy.yaml").write_text("repository: acme/bench\n")
    for name, value in values.items():
        monkeypatch.setenv(name, value)

    def plan(number: int, event: str) -> RowJob:
        pull = hub.state.pulls[number]
        inputs = {"pr": str(number)}
        if pull.head_repository != hub.repository:
            hub.compute_merge(pull)
            inputs |= {"head-ref": pull.head_sha, "merge-sha": pull.merge_sha or ""}
        payloads: Mapping[str, Mapping[str, object]] = {
            "pull_request": {
                "action": "labeled",
                "label": {"name": "full-sweep-fail-fast"},
                "number": number,
                "pull_request": {"head": {"sha": pull.head_sha}},
            },
            "workflow_dispatch": {"inputs": inputs},
        }
        payload = {**payloads[event], "sender": {"login": "mia"}}
        (tmp_path / "event.json").write_text(json.dumps(payload))
        environ = {"GITHUB_EVENT_PATH": str(tmp_path / "event.json"), "GITHUB_EVENT_NAME": event}
        called = call("gate", environ=environ)
        assert json.loads(called.out)["verdict"] == "run", called.out
        (tmp_path / "decision.json").write_text(called.out)
        script = "touch agg_$RESULT_FILENAME.json"
        return cut_plan(tmp_path, row(FIXED, 8), ["sh", "-c", script], "--decision", "decision.json")

    def prepare(number: int, event: str = "pull_request") -> Callable[[], Played]:
        job = plan(number, event)
        return lambda: play(job, GITHUB_RUN_ATTEMPT=ATTEMPT)

    return prepare


def unlabel(hub: Hub, pull: Pull) -> None:
    for label in list(pull.labels):
        hub.unlabel(pull.number, label.name)


def push(hub: Hub, pull: Pull) -> None:
    hub.push(pull.head_ref, {"more.txt": "x"}, repository=pull.head_repository)


def close(hub: Hub, pull: Pull) -> None:
    hub.close_pull(pull.number)


def nothing(_hub: Hub, _pull: Pull) -> None:
    pass


CHANGES = {
    "nothing has changed": (nothing, None),
    "the label is gone": (
        unlabel,
        "pull request {number} has 0 labels that start a sweep; exactly one must be on.",
    ),
    "the head has moved": (push, "its head is now {head}, and this row measures {planned}."),
    "the pull request is closed": (close, "pull request {number} is closed."),
}


def check(played: Played, words: str | None) -> None:
    """Check that the row ran, or was refused before its command started."""
    if words is None:
        assert (played.code, played.err[:17]) == (0, "Gathered 1 file i"), played.err
    else:
        assert played.err == f"::error title=infx row::This row may not run again: {words}\n"
        assert (played.code, played.out) == (1, "")


@pytest.mark.parametrize("event", ["pull_request", "workflow_dispatch"])
@pytest.mark.parametrize(("change", "words"), CHANGES.values(), ids=CHANGES)
def test_a_branch_of_the_repository(
    hub: Hub, ask: Ask, change: Callable[[Hub, Pull], None], words: str | None, event: str
) -> None:
    answer = ask(77, event)
    pull = hub.state.pulls[77]
    planned = pull.head_sha
    change(hub, pull)
    filled = words and words.format(number=77, head=pull.head_sha[:12], planned=planned[:12])
    check(answer(), filled)


def test_the_first_attempt_asks_nothing(hub: Hub, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ask(77)
    unlabel(hub, hub.state.pulls[77])
    monkeypatch.setattr("tests.rowfile.test_again.ATTEMPT", "1")
    hub.clear_log()
    assert (answer().code, hub.reads) == (0, 0)


@pytest.mark.parametrize(
    ("status", "may_run"),
    [
        ({"target_url": "https://github.com/acme/bench/actions/runs/700"}, True),
        ({"target_url": "https://github.com/acme/bench/actions/runs/7001"}, False),  # another sweep
        ({"target_url": "https://github.com/acme/bench/actions/runs/700", "by": "cody"}, False),
        ({"target_url": "https://github.com/acme/bench/actions/runs/700", "context": "x"}, False),
        ({}, False),
    ],
)
def test_a_sweep_that_counts_for_newer_commits_may_be_repaired(
    hub: Hub, ask: Ask, status: dict[str, str], may_run: bool
) -> None:
    """After a push that only merged the base or made links canonical, reconcile links the sweep from its status."""
    answer = ask(77)
    hub.push("feat-x", {"more.txt": "x"}, "Merge main [skip-sweep]")
    given = dict(status)
    hub.set_status(hub.state.pulls[77].head_sha, given.pop("context", "infx/sweep"), "failure", **given)
    hub.clear_log()
    assert answer().code == (0 if may_run else 1)
    assert hub.reads == 2


def test_the_status_is_found_on_a_later_page(hub: Hub, ask: Ask) -> None:
    """Every job of another app may have set statuses since; a page holds 100."""
    answer = ask(77)
    hub.push("feat-x", {"more.txt": "x"}, "Merge main [skip-sweep]")
    head = hub.state.pulls[77].head_sha
    url = "https://github.com/acme/bench/actions/runs/700"
    hub.set_status(head, "infx/sweep", "failure", target_url=url)
    for number in range(150):
        hub.set_status(head, f"other/{number}", "success")
    hub.clear_log()
    assert answer().code == 0
    assert hub.reads == 3


def void(hub: Hub, pull: Pull) -> None:
    hub.set_status(pull.head_sha, "infx/approval", "error")


def forge(hub: Hub, pull: Pull) -> None:
    """Put another account's status over infx's own."""
    hub.set_status(pull.head_sha, "infx/approval", "success", by="cody")


FORK_CHANGES = {
    **CHANGES,
    "the approval was withdrawn": (void, "no approval of the fork's head {head} is in force."),
    "the newest status is another account's": (forge, "no approval of the fork's head {head} is in force."),
}


@pytest.mark.parametrize(("change", "words"), FORK_CHANGES.values(), ids=FORK_CHANGES)
def test_a_fork(hub: Hub, ask: Ask, change: Callable[[Hub, Pull], None], words: str | None) -> None:
    answer = ask(80, "workflow_dispatch")
    pull = hub.state.pulls[80]
    planned = pull.head_sha
    change(hub, pull)
    filled = words and words.format(number=80, head=pull.head_sha[:12], planned=planned[:12])
    check(answer(), filled)


@pytest.mark.parametrize(
    ("kind", "reads", "words"),
    [
        (FaultKind.BAD_GATEWAY, 3, "GitHub answers 502"),
        (FaultKind.FORBIDDEN, 1, "GitHub answers 403: Resource not accessible by integration"),
    ],
)
def test_without_an_answer_no_row_runs(hub: Hub, ask: Ask, kind: FaultKind, reads: int, words: str) -> None:
    """Reads are tried again where a later answer may differ; here without the waiting between."""
    answer = ask(77)
    replace_in("row.py", "PAUSES = (0.0, 2.0, 10.0)", "PAUSES = (0.0, 0.0, 0.0)")
    hub.faults.add(Fault(kind=kind, path="/pulls/77$", times=FOREVER))
    hub.clear_log()
    played = answer()
    assert (played.code, played.out, hub.reads) == (3, "", reads)
    assert f"::Whether this row may run again is not known. {words}" in played.err


def test_an_outage_that_ends_is_waited_for(hub: Hub, ask: Ask) -> None:
    answer = ask(77)
    replace_in("row.py", "PAUSES = (0.0, 2.0, 10.0)", "PAUSES = (0.0, 0.0, 0.0)")
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/pulls/77$", times=2))
    assert answer().code == 0


def test_the_token_follows_no_redirect(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that was renamed answers with one; another server could, too."""
    answer = ask(77)
    seen: list[str] = []

    class Redirecting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(301)
            self.send_header("Location", f"http://127.0.0.1:{server.server_port}/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Redirecting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("GITHUB_API_URL", f"http://127.0.0.1:{server.server_port}")
        played = answer()
        server.shutdown()
    assert (played.code, seen) == (3, ["/repos/acme/bench/pulls/77"])
    assert "GitHub answers 301" in played.err


def test_a_sweep_of_no_pull_request_may_always_run_again() -> None:
    """A push, and a dispatch that names no pull request: the commit that they measure does not change."""
    decision = Decision(
        verdict=GateVerdict.RUN, reason=Reason.READY, words="go", group="g", head_sha="a" * 40
    )
    assert make_row_rules(decision, default_policy()) is None
    assert make_row_rules(None, default_policy()) is None
