"""Reconcile starts the publication of recent merges that no run has dealt with, with a bounded number of requests."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from infx.hub.state import Run
from infx.publish.unpublished import MAX_LOOKED, MAX_TRIES
from tests.calling import Called
from tests.publish.world import Publishing

WORKFLOW = ".github/workflows/publish.yml"
FILE = (Path(__file__).parents[2] / WORKFLOW).read_text(encoding="utf-8")


@pytest.fixture
def sha(publishing: Publishing) -> str:
    """Merge pull request 77 by a workflow's token, whose push starts nothing, and let an hour pass."""
    hub = publishing.world.hub
    hub.set_status(hub.tip("main"), "infx/published", "success", by="github-actions[bot]")
    hub.push("main", {WORKFLOW: FILE}, "workflow", by="mia")
    publishing.sweep()
    publishing.world.ask()
    sha = publishing.merge()
    publishing.world.now += timedelta(hours=1)
    return sha


def reconcile(publishing: Publishing, *arguments: str) -> Called:
    """Reconcile, and return the call; the log holds only its requests about publications."""
    hub = publishing.world.hub
    hub.clear_log()
    token = hub.workflow_token(contents="read", pull_requests="write", statuses="write", actions="write")
    words = ["reconcile", "--policy", str(publishing.world.folder / "policy.yaml"), "--format", "table"]
    return publishing.world.call_plain([*words, *(arguments or ("--since", "2h"))], hub.environ(token))


def list_started(publishing: Publishing) -> list[Run]:
    return [run for run in publishing.world.hub.state.runs.values() if run.workflow == "publish.yml"]


def count_asked(publishing: Publishing, part: str = "publish.yml") -> int:
    return sum(part in exchange.path for exchange in publishing.world.hub.log)


def test_a_merge_without_the_status_is_started_once(publishing: Publishing, sha: str) -> None:
    called = reconcile(publishing)
    assert called.code == 0, called.err
    (run,) = list_started(publishing)
    assert (run.event, run.inputs["sha"], run.head_branch) == ("workflow_dispatch", sha, "main")
    reconcile(publishing)
    assert len(list_started(publishing)) == 1, "the first run is still active"
    publishing.world.hub.finish_run(run.id, "success")
    reconcile(publishing)
    assert len(list_started(publishing)) == 1, "the first run was green"
    # the list of runs, and no status
    assert (count_asked(publishing), count_asked(publishing, f"commits/{sha}/statuses")) == (1, 0)


def test_the_started_run_publishes(publishing: Publishing, sha: str) -> None:
    reconcile(publishing)
    (run,) = list_started(publishing)
    assert publishing.publish("--sha", run.inputs["sha"]).code == 0
    publishing.world.hub.finish_run(run.id, "failure")
    reconcile(publishing)
    assert len(list_started(publishing)) == 1, "the status says that it was published"
    assert (len(publishing.rows), len(publishing.sent)) == (4, 1)


def test_a_dry_run_starts_nothing(publishing: Publishing, sha: str) -> None:
    called = reconcile(publishing, "--since", "2h", "--dry-run")
    assert f"Merge {sha[:12]}: start publish.yml" in called.err
    assert list_started(publishing) == []


@pytest.mark.parametrize("arguments", [("--pr", "77"), ("--since", "2h")])
def test_a_policy_that_publishes_nothing_costs_nothing(
    publishing: Publishing, sha: str, arguments: tuple[str, ...]
) -> None:
    if arguments[0] == "--since":
        publishing.follow("nothing")
    reconcile(publishing, *arguments)
    assert list_started(publishing) == []
    assert count_asked(publishing) == 0


def test_a_young_or_an_old_merge_is_left_alone(publishing: Publishing, sha: str) -> None:
    publishing.world.now -= timedelta(minutes=59)  # the push's own run may not have begun yet
    reconcile(publishing)
    assert list_started(publishing) == []
    publishing.world.now += timedelta(days=4)
    reconcile(publishing, "--since", "2h")
    assert list_started(publishing) == []
    assert count_asked(publishing) == 0


def test_a_merge_is_not_started_forever(publishing: Publishing, sha: str) -> None:
    for _ in range(MAX_TRIES + 2):
        reconcile(publishing)
        for run in list_started(publishing):
            if run.status != "completed":
                publishing.world.hub.finish_run(run.id, "cancelled")
    assert len(list_started(publishing)) == MAX_TRIES


@pytest.mark.parametrize(
    ("by", "state", "words", "is_started"),
    [
        ("eve", "success", "done", True),
        ("eve", "failure", "no", True),
        ("github-actions[bot]", "success", "done", False),
        ("github-actions[bot]", "failure", "refused", False),
        ("github-actions[bot]", "pending", f"sending {'a' * 16}", False),
        ("github-actions[bot]", "pending", "the merge has no sweep of its own yet", True),
    ],
)
def test_only_own_statuses_count(
    publishing: Publishing, sha: str, by: str, state: str, words: str, *, is_started: bool
) -> None:
    publishing.world.hub.set_status(sha, "infx/published", state, description=words, by=by)
    reconcile(publishing)
    assert bool(list_started(publishing)) is is_started


def test_a_sweep_that_ends_starts_the_publication(publishing: Publishing, sha: str) -> None:
    """A refused merge is tried again when its own sweep has ended again."""
    publishing.follow("reuse-or-sweep")
    hub = publishing.world.hub
    run = hub.add_run(event="push", branch="main", head_sha=sha)
    reconcile(publishing)
    assert list_started(publishing) == [], "the sweep is running"
    hub.finish_run(run.id, "failure")
    hub.set_status(
        sha, "infx/published", "failure", description="it ended as failure", by="github-actions[bot]"
    )
    reconcile(publishing)
    assert list_started(publishing) == [], "refused"
    hub.rerun(run.id)
    hub.finish_run(run.id, "success")
    reconcile(publishing)
    assert len(list_started(publishing)) == 1


def test_many_merges_cost_a_bounded_number_of_requests(publishing: Publishing, sha: str) -> None:
    hub = publishing.world.hub
    for number in range(15):
        text = (hub.git.file("main", "perf-changelog.yaml") or ("", "", b""))[2].decode()
        entry = (
            f'\n- config-keys:\n    - m3-fp8-h200-vllm\n  description:\n    - "{number}"\n  pr-link: XXX\n'
        )
        made = hub.push("main", {"perf-changelog.yaml": text + entry}, f"merge {number}", by="mia")
        hub.set_status(made, "infx/published", "failure", description="refused", by="github-actions[bot]")
    publishing.world.now += timedelta(hours=1)
    reconcile(publishing)
    looked = sum("/statuses" in exchange.path and exchange.method == "GET" for exchange in hub.log)
    assert looked <= MAX_LOOKED + 2  # and those of the pull request
    assert count_asked(publishing) <= 2  # the list, and the start of the merge without a status
