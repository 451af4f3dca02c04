"""Faults between client and hub: the client reaches the same end state as without them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from infx.github.api import GitHub, connect
from infx.github.errors import (
    GitHubError,
    PermissionDeniedError,
    PrimaryLimitError,
    SecondaryLimitError,
    UnknownOutcomeError,
    UnreachableError,
)
from infx.hub import FOREVER, Fault, FaultKind, Hub
from infx.model import CommentKind, StatusState

FAULTS = [
    Fault(kind=FaultKind.DROP),
    Fault(kind=FaultKind.DROP, applied=True),
    Fault(kind=FaultKind.BAD_GATEWAY),
    Fault(kind=FaultKind.BAD_GATEWAY, applied=True),
    Fault(kind=FaultKind.PRIMARY_LIMIT, seconds=30),
    Fault(kind=FaultKind.SECONDARY_LIMIT, seconds=30),
    Fault(kind=FaultKind.SECONDARY_LIMIT),
    Fault(kind=FaultKind.TOO_MANY, seconds=30),
    Fault(kind=FaultKind.SLOW, seconds=0.01),
    Fault(kind=FaultKind.DROP, times=3),
    Fault(kind=FaultKind.BAD_GATEWAY, applied=True, times=2),
]


def name_of(fault: Fault) -> str:
    return f"{fault.kind}{' after' if fault.applied else ''}{f' x{fault.times}' if fault.times > 1 else ''}"


READS: dict[str, Callable[[GitHub], object]] = {
    "pull": lambda github: github.pull(77),
    "comments": lambda github: github.issue_comments(77),
    "files": lambda github: github.files(github.pull(77)),
    "runs": lambda github: github.runs(),
    "file": lambda github: github.read_file("README.md", "main"),
    "artifact": lambda github: github.download_artifact(80001),
}


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
@pytest.mark.parametrize("read", READS)
def test_a_read_returns_the_same_result_despite_a_fault(
    hub: Hub, github: GitHub, read: str, fault: Fault
) -> None:
    hub.add_artifact(hub.add_run(pull=77).id, "a", {"b": "c"})
    expected = READS[read](github)
    hub.faults.add(replace(fault))
    assert READS[read](github) == expected
    assert hub.faults.hits == fault.times


@dataclass(frozen=True)
class Write:
    """A write that the tests try."""

    do: Callable[[GitHub], Any]
    look: Callable[[GitHub], Any]  # returns the write's result, if it was done


def _seen(items: list[Any]) -> Any:
    return items[0] if items else None


def _delete_comment(github: GitHub) -> bool:
    github.delete_comment(11001)
    return True


WRITES = {
    "create comment": Write(
        lambda github: github.create_comment(77, "from infx"),
        lambda github: _seen([c for c in github.issue_comments(77) if c.body == "from infx"]),
    ),
    "edit comment": Write(
        lambda github: github.edit_comment(11001, "new"),
        lambda github: _seen([c for c in github.issue_comments(77) if c.body == "new"]),
    ),
    "delete comment": Write(
        _delete_comment,
        lambda github: all(c.id != 11001 for c in github.issue_comments(77)) or None,
    ),
    "create status": Write(
        lambda github: github.create_status(
            "feat-x-sha", context="c", state=StatusState.SUCCESS, description="d"
        ),
        lambda github: _seen([s for s in github.statuses("feat-x") if s.context == "c"]),
    ),
    "cancel run": Write(
        lambda github: github.cancel_run(300),
        lambda github: github.run(300).is_completed or None,
    ),
    "dispatch": Write(
        lambda github: github.dispatch_workflow("run-sweep.yml", ref="main", inputs={}),
        lambda github: _seen(github.runs(event="workflow_dispatch")),
    ),
}


def end_state(hub: Hub) -> object:
    """Return the relevant state, without ids and times."""
    return (
        [(comment.author, comment.body) for comment in hub.comments_of(77)],
        [(status.context, status.state) for status in hub.state.statuses],
        [(run.event, run.status, run.conclusion) for run in hub.state.runs.values()],
    )


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
@pytest.mark.parametrize("write", WRITES)
def test_write_then_look_has_the_end_state_of_an_undisturbed_write(
    hub: Hub, github: GitHub, write: str, fault: Fault
) -> None:
    hub.comment(77, "old")
    hub.add_run(pull=77, run_id=300)
    sha = hub.state.pulls[77].head_sha
    do, look = WRITES[write].do, WRITES[write].look
    if write == "create status":

        def do(github: GitHub) -> object:
            return github.create_status(sha, context="c", state=StatusState.SUCCESS, description="d")

    start = hub.snapshot()
    github.write_then_look(lambda: do(github), lambda: look(github))
    undisturbed = end_state(hub)
    hub.restore(start)
    hub.clear_log()
    hub.faults.add(replace(fault, writes=True))
    assert github.write_then_look(lambda: do(github), lambda: look(github))
    assert end_state(hub) == undisturbed
    applied = [e for e in hub.log if e.method != "GET" and e.status and e.status < 300]
    assert len(applied) <= 1 or write == "create status"


@pytest.mark.parametrize("write", WRITES)
def test_a_plain_write_is_never_sent_twice(hub: Hub, github: GitHub, write: str) -> None:
    hub.comment(77, "old")
    hub.add_run(pull=77, run_id=300)
    hub.faults.add(Fault(kind=FaultKind.DROP, applied=True, writes=True))
    with pytest.raises(UnknownOutcomeError):
        WRITES[write].do(github)
    assert hub.writes == 1


@pytest.mark.parametrize(
    ("fault", "waits_expected"),
    [
        (Fault(kind=FaultKind.SECONDARY_LIMIT, seconds=120), [120]),
        (Fault(kind=FaultKind.TOO_MANY, seconds=45), [45]),
        (Fault(kind=FaultKind.SECONDARY_LIMIT), [60]),
        (Fault(kind=FaultKind.BAD_GATEWAY, times=2), [1, 2]),
    ],
    ids=["secondary", "429", "secondary without a time", "502"],
)
def test_a_wait_is_as_long_as_github_asks(
    hub: Hub, github: GitHub, waits: list[float], fault: Fault, waits_expected: list[float]
) -> None:
    hub.faults.add(replace(fault))
    github.pull(77)
    assert waits == waits_expected


def test_a_read_waits_for_the_reset_of_the_limit(hub: Hub, github: GitHub, waits: list[float]) -> None:
    hub.faults.add(Fault(kind=FaultKind.PRIMARY_LIMIT, seconds=90))
    github.pull(77)
    assert len(waits) == 1
    assert 89 <= waits[0] <= 91


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(kind=FaultKind.FORBIDDEN), PermissionDeniedError),
        (Fault(kind=FaultKind.PRIMARY_LIMIT, seconds=3600), PrimaryLimitError),
        (Fault(kind=FaultKind.SECONDARY_LIMIT, seconds=3600), SecondaryLimitError),
        (Fault(kind=FaultKind.DROP, times=FOREVER), UnreachableError),
    ],
    ids=["permission", "primary", "secondary", "dead"],
)
def test_an_error_that_outlasts_the_budget_is_exit_code_3(
    hub: Hub, github: GitHub, fault: Fault, kind: type[GitHubError]
) -> None:
    hub.faults.add(replace(fault))
    with pytest.raises(kind) as caught:
        github.pull(77)
    assert caught.value.exit_code == 3


def test_the_nth_matching_request_is_hit(hub: Hub, github: GitHub) -> None:
    hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, method="GET", path=r"/pulls/\d+$", nth=3))
    github.pull(77)
    github.issue_comments(77)
    github.pull(77)
    with pytest.raises(PermissionDeniedError):
        github.pull(77)
    github.pull(77)
    assert [exchange.fault for exchange in hub.log if exchange.fault] == [FaultKind.FORBIDDEN]


def test_a_killed_process_sends_no_further_request(hub: Hub, github: GitHub) -> None:
    killed = threading.Event()
    hub.faults.add(Fault(kind=FaultKind.KILL, method="POST", applied=True, callback=killed.set))
    hub.faults.add(Fault(kind=FaultKind.DROP, times=FOREVER, nth=2))
    with pytest.raises(GitHubError):
        github.write_then_look(
            lambda: github.create_comment(77, "x"), lambda: _seen(github.issue_comments(77))
        )
    assert killed.is_set()
    assert len(hub.comments_of(77)) == 1
    hub.faults.clear()
    assert len(github.issue_comments(77)) == 1


def test_a_slow_answer_comes_late(hub: Hub, github: GitHub) -> None:
    hub.faults.add(Fault(kind=FaultKind.SLOW, seconds=0.2, applied=True))
    start = time.monotonic()
    github.pull(77)
    assert time.monotonic() - start >= 0.2


def test_an_overtaken_request_is_executed_second(hub: Hub, client: Callable[[str | None], GitHub]) -> None:
    token = hub.workflow_token(pull_requests="write")
    hub.faults.add(Fault(kind=FaultKind.OVERTAKEN, method="POST"))
    first = threading.Thread(target=lambda: client(token).create_comment(77, "sent first"))
    first.start()
    while not hub.faults.hits:
        time.sleep(0.005)
    client(token).create_comment(77, "sent second")
    first.join()
    assert [comment.body for comment in hub.comments_of(77)] == ["sent second", "sent first"]


def test_three_clients_at_once_lose_no_comment(hub: Hub) -> None:
    token = hub.workflow_token(pull_requests="write")

    def talk(name: str) -> None:
        github = connect("acme/bench", environ=hub.environ(token))
        for number in range(20):
            github.create_comment(77, f"{name} {number}")

    threads = [threading.Thread(target=talk, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [comment.id for comment in hub.comments_of(77, CommentKind.ISSUE)]
    assert len(ids) == len(set(ids)) == 60
    assert hub.writes == 60


def test_a_refusal_cannot_be_applied() -> None:
    with pytest.raises(ValueError, match="is not executed"):
        Fault(kind=FaultKind.FORBIDDEN, applied=True)
