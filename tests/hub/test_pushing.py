"""A push with git, and a merge, by different tokens: which runs start, and what GitHub refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from infx.errors import InfxError
from infx.git import Git
from infx.hub import Hub

WORKFLOW = ".github/workflows/x.yml"
APP = "bench-bot[bot]"
WRITE = {"contents": "write", "pull-requests": "write"}

Push = Callable[..., None]


@pytest.fixture
def push(hub: Hub, tmp_path: Path) -> Push:
    """Return a function that pushes files to `feat-x` with git and lets the hub notice."""
    clone = tmp_path / "clone"
    Git(tmp_path).run("clone", "--quiet", "--branch", "feat-x", str(hub.git.path), str(clone))
    git = Git(clone)

    def send(*paths: str, merge: bool = False) -> None:
        if merge:
            git.run("fetch", "--quiet", "origin")
            who = ("-c", "user.name=cody", "-c", "user.email=cody@example.com")
            git.run(*who, "merge", "--quiet", "--no-edit", "origin/main")
        for path in paths:
            (clone / path).parent.mkdir(parents=True, exist_ok=True)
            (clone / path).write_text("x\n")
            git.run("add", path)
            git.run("-c", "user.name=cody", "-c", "user.email=cody@example.com", "commit", "-qm", "late")
        git.run("push", "--quiet", "origin", "HEAD:feat-x")
        hub.sync()

    return send


def last_events(hub: Hub) -> list[tuple[str, str, bool, bool]]:
    return [(e.name, e.sender, e.starts_runs, e.waits_for_approval) for e in hub.state.events[-2:]]


def test_runs_of_a_head_that_a_workflow_token_pushed_wait(hub: Hub, push: Push) -> None:
    hub.push_as(hub.workflow_token(WRITE))
    push("a.md")
    bot = "github-actions[bot]"
    assert last_events(hub) == [("push", bot, False, False), ("pull_request", bot, False, True)]


def test_an_apps_push_starts_runs(hub: Hub, push: Push) -> None:
    hub.push_as(hub.app_token(APP, WRITE))
    push("a.md")
    assert last_events(hub) == [("push", APP, True, False), ("pull_request", APP, True, False)]


@pytest.mark.parametrize("is_app", [False, True])
def test_a_push_of_workflow_files_needs_its_own_permission(hub: Hub, push: Push, is_app: bool) -> None:
    hub.push_as(hub.app_token(APP, WRITE) if is_app else hub.workflow_token(WRITE))
    before = hub.git.resolve("refs/heads/feat-x")
    with pytest.raises(InfxError, match="refusing to allow a GitHub App to create or update workflow"):
        push("a.md", WORKFLOW)
    assert hub.git.resolve("refs/heads/feat-x") == before
    hub.push_as(hub.app_token(APP, {**WRITE, "workflows": "write"}))
    push()
    assert hub.git.file("feat-x", WORKFLOW) is not None


def test_merging_a_base_that_changed_workflows_is_refused(hub: Hub, push: Push) -> None:
    hub.push("main", {WORKFLOW: "on: push\n"}, by="mia")
    hub.push_as(hub.workflow_token(WRITE))
    with pytest.raises(InfxError, match=WORKFLOW):
        push(merge=True)
    hub.push_as(hub.user_token("cody"))
    push()
    assert hub.git.file("feat-x", WORKFLOW) is not None


def test_a_merge_of_workflow_files_needs_its_own_permission(hub: Hub) -> None:
    hub.push("feat-x", {WORKFLOW: "on: push\n"})

    def merge(token: str) -> int:
        headers = {"Authorization": f"token {token}"}
        return requests.put(
            f"{hub.api}/repos/acme/bench/pulls/77/merge", headers=headers, timeout=5
        ).status_code

    assert merge(hub.workflow_token(WRITE)) == 403
    assert merge(hub.app_token(APP, WRITE)) == 403
    assert merge(hub.app_token(APP, {**WRITE, "workflows": "write"})) == 200


@pytest.mark.parametrize("is_app", [False, True])
def test_a_merge_by_a_workflow_token_starts_no_run(hub: Hub, is_app: bool) -> None:
    token = hub.app_token(APP, WRITE) if is_app else hub.workflow_token(WRITE)
    start = len(hub.state.events)
    headers = {"Authorization": f"token {token}"}
    requests.put(f"{hub.api}/repos/acme/bench/pulls/77/merge", headers=headers, timeout=5)
    assert [(event.name, event.starts_runs) for event in hub.state.events[start:]] == [
        ("pull_request", is_app),
        ("push", is_app),
    ]
