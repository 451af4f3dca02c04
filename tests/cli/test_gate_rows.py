"""A row of a later attempt checks the live pull request first, because a partial re-run keeps the old decision."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from infx.hub import Hub
from infx.hub.faults import FOREVER, Fault, FaultKind
from infx.hub.state import Pull
from tests.calling import Called, call

CHANGELOG = "perf-changelog.yaml"
Ask = Callable[..., Called]


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
    """Call infx gate --row in attempt 2 of a run that a pull request's event, or a dispatch for it, has started."""
    (tmp_path / "policy.yaml").write_text("repository: acme/bench\n")
    token = hub.workflow_token(pull_requests="read", contents="read", actions="read", statuses="read")
    values = {
        **hub.environ(token),
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_RUN_ATTEMPT": "2",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "INFX_POLICY": str(tmp_path / "policy.yaml"),
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    heads = {number: pull.head_sha for number, pull in hub.state.pulls.items()}  # when the sweep began

    def ask(number: int, event: str = "pull_request", **inputs: str) -> Called:
        head = heads[number]
        payloads: Mapping[str, object] = {
            "pull_request": {"action": "labeled", "number": number, "pull_request": {"head": {"sha": head}}},
            "workflow_dispatch": {"inputs": {"pr": str(number), **inputs}},
        }
        (tmp_path / "event.json").write_text(json.dumps(payloads[event]))
        monkeypatch.setenv("GITHUB_EVENT_NAME", event)
        return call("gate", "--row", head)

    return ask


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
    "the label is gone": (unlabel, "the PR has no label that starts a sweep"),
    "the head has moved": (push, "but the head is"),
    "the pull request is closed": (close, "the PR is closed"),
}


@pytest.mark.parametrize("event", ["pull_request", "workflow_dispatch"])
@pytest.mark.parametrize(("change", "words"), CHANGES.values(), ids=CHANGES)
def test_a_branch_of_the_repository(
    hub: Hub,
    ask: Ask,
    change: Callable[[Hub, Pull], None],
    words: str | None,
    event: str,
) -> None:
    """A dispatch by number alone does not name its head."""
    change(hub, hub.state.pulls[77])
    called = ask(77, event)
    assert called.code == (0 if words is None else 1)
    assert (words or "") in called.err
    assert ("This row may not run." in called.err) is (words is not None)


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
    hub: Hub, ask: Ask, monkeypatch: pytest.MonkeyPatch, status: dict[str, str], may_run: bool
) -> None:
    """Reconcile links the sweep after a push that only merged the base or made links canonical."""
    monkeypatch.setenv("GITHUB_RUN_ID", "700")
    hub.push("feat-x", {"more.txt": "x"}, "Merge main [skip-sweep]")
    assert ask(77).code == 1
    fields = dict(status)
    hub.set_status(hub.state.pulls[77].head_sha, fields.pop("context", "infx/sweep"), "failure", **fields)
    hub.clear_log()
    assert ask(77).code == (0 if may_run else 1)
    assert hub.reads == 2


def void(hub: Hub, pull: Pull) -> None:
    hub.set_status(pull.head_sha, "infx/approval", "error")


def forge(hub: Hub, pull: Pull) -> None:
    """Set another account's status after infx's own."""
    hub.set_status(pull.head_sha, "infx/approval", "success", by="cody")


FORK_CHANGES = {
    **CHANGES,
    "the approval was revoked": (void, "is not approved"),
    "the newest status is another person's": (forge, "is not approved"),
}


@pytest.mark.parametrize(("change", "words"), FORK_CHANGES.values(), ids=FORK_CHANGES)
def test_a_fork(
    hub: Hub,
    ask: Ask,
    change: Callable[[Hub, Pull], None],
    words: str | None,
) -> None:
    pull = hub.state.pulls[80]
    fields = {"head-ref": pull.head_sha, "merge-sha": pull.merge_sha or ""}
    change(hub, pull)
    called = ask(80, "workflow_dispatch", **fields)
    assert called.code == (0 if words is None else 1)
    assert (words or "") in called.err


def test_no_answer_from_github_does_not_allow_the_row(
    hub: Hub, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/pulls/77$", times=FOREVER))
    assert ask(77).code == 3


@pytest.mark.parametrize("head", ["", "main", "0" * 39])
def test_an_empty_head_sha_is_a_usage_error(ask: Ask, tmp_path: Path, head: str) -> None:
    """An empty value must not ask the gate's usual question, in which `ignore` is not a failure."""
    assert ask(77).code == 0
    assert call("gate", "--row", head).code == 2
