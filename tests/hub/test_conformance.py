"""Requests of the client and answers of the hub, held against GitHub's own description of its API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from infx.github.api import GitHub
from infx.github.errors import ConflictError, NotFoundError, PermissionDeniedError, ValidationError
from infx.hub import Hub
from infx.model import CommentKind, CommentReference, StatusState
from tests.hub.conftest import ALL
from tests.hub.openapi import Description

# Routes that the slice does not describe; `test_shapes.py` holds their shapes.
UNDESCRIBED = {
    "/repos/{owner}/{repo}/git/blobs/{sha}",
    "/orgs/{org}/members/{login}",
    "/_store/{artifact:int}",
    "/graphql",
}


@pytest.fixture(scope="session")
def description(shared: Path) -> Description:
    return Description(shared / "github-openapi-slice.json")


def check_log(hub: Hub, description: Description) -> set[str]:
    """Every exchange of the hub's log; returns the templates of the description that were met."""
    met, problems = set(), []
    for exchange in hub.log:
        operation = description.find(exchange.method, exchange.path)
        if operation is None:
            assert exchange.template is None or exchange.template in UNDESCRIBED, exchange.template
            continue
        met.add(f"{operation.method} {operation.template}")
        assert exchange.status is not None
        found = description.problems(
            operation,
            query=exchange.query,
            body=exchange.body,
            status=exchange.status,
            reply=exchange.reply,
        )
        problems += [f"{exchange.method} {exchange.path}: {problem}" for problem in found]
    assert problems == [], "\n".join(problems)
    return met


def talk(github: GitHub) -> None:
    comment = github.create_comment(77, "hello @cody")
    github.edit_comment(comment.id, "hello again")
    github.issue_comments(77)
    github.comment(_reference(CommentKind.ISSUE, comment.id))
    reaction = github.add_reaction(comment.id, "+1")
    github.add_reaction(comment.id, "+1")
    github.reactions(comment.id)
    github.remove_reaction(comment.id, reaction.id)
    github.delete_comment(comment.id)
    with pytest.raises(NotFoundError):
        github.edit_comment(comment.id, "gone")
    with pytest.raises(ValidationError):
        github.create_comment(77, "x" * 65_537)


def review(hub: Hub, github: GitHub) -> None:
    said = hub.review(77, "fine", state="APPROVED")
    hub.review(77, "", state="COMMENTED", by="ghost-app[bot]")
    line = hub.review_comment(77, "here", path="README.md")
    github.reviews(77)
    github.review_comments(77)
    github.comment(_reference(CommentKind.REVIEW, said.id))
    github.comment(_reference(CommentKind.REVIEW_COMMENT, line.id))


def label(github: GitHub) -> None:
    github.add_label(77, "full-sweep-enabled")
    github.add_label(77, "odd / label")
    github.labels(77)
    github.remove_label(77, "odd / label")
    with pytest.raises(NotFoundError):
        github.remove_label(77, "odd / label")
    github.label_events(77)


def look_around(hub: Hub, github: GitHub) -> None:
    pull = github.pull(77)
    github.pulls(state="all", head="acme:feat-x")
    github.files(pull)
    github.commits(pull)
    github.pulls_of_commit(pull.head_sha)
    github.read_file("README.md", "feat-x")
    github.read_file("missing.md", "feat-x")
    github.ref("pull/77/merge")
    github.ref("heads/none")
    github.matching_refs("heads/")
    github.commit(pull.head_sha)
    github.is_ancestor(pull.base_sha, pull.head_sha)
    github.default_branch()
    github.permission("mia")
    github.permission("nobody-knows")
    github.login()
    github.team_members("acme", "core")
    github.organization_member("acme", "mia")


def judge(hub: Hub, github: GitHub) -> None:
    sha = hub.state.pulls[77].head_sha
    github.create_status(sha, context="infx/sweep", state=StatusState.PENDING, description="waiting")
    github.create_status(
        sha, context="infx/sweep", state=StatusState.SUCCESS, description="done", target_url=hub.web
    )
    github.statuses(sha)
    hub.add_check(sha, "lint")
    hub.add_check(sha, "lint", conclusion="failure")
    hub.add_check(sha, "build", conclusion=None)
    github.check_runs(sha)
    with pytest.raises(ValidationError):
        github.create_status(sha, context="c", state=StatusState.ERROR, description="x" * 141)
    with pytest.raises(ValidationError):
        github.create_status("0" * 39 + "1", context="c", state=StatusState.ERROR, description="x")


def act(hub: Hub, github: GitHub) -> None:
    run = hub.add_run(pull=77, run_id=4711)
    hub.add_job(run.id, "row · h200", runner="h200-cw_00")
    hub.add_job(run.id, "later", conclusion=None, status="queued")
    kept = hub.add_artifact(run.id, "sweep-plan", {"plan.json": "{}"})
    gone = hub.add_artifact(run.id, "old", {"a": "b"}, expired=True)
    github.runs(branch="feat-x", event="pull_request", newest=5)
    github.runs(workflow="run-sweep.yml", status="in_progress")
    github.run(run.id)
    github.jobs(run.id)
    github.jobs(run.id, every_attempt=True)
    github.jobs(run.id, attempt=1)
    github.artifacts(run.id)
    github.download_artifact(kept.id)
    with pytest.raises(NotFoundError):
        github.download_artifact(gone.id)
    github.cancel_run(run.id)
    github.cancel_run(run.id)
    github.rerun(run.id)
    hub.finish_run(run.id, "failure")
    github.rerun(run.id, failed_only=True)
    github.dispatch_workflow("run-sweep.yml", ref="main", inputs={"pr": "77"})
    github.dispatch_event("stage-results", {"run-id": "4711"})
    with pytest.raises(ValidationError):
        github.dispatch_workflow("run-sweep.yml", ref="0" * 40, inputs={})


def merge(hub: Hub, github: GitHub) -> None:
    with pytest.raises(ConflictError):
        github.merge(77, sha="0" * 39 + "1")
    github.merge(77, sha=hub.state.pulls[77].head_sha)
    with pytest.raises(ConflictError):
        github.merge(77, sha=hub.state.pulls[77].head_sha)
    github.pull(77)
    github.pulls(state="closed")


def ask_by_hand(hub: Hub, token: str) -> None:
    """What people and other tools may ask, and our own client does not."""
    base = f"{hub.api}/repos/{hub.repository}"
    headers = {"Authorization": f"token {token}"}
    sha = hub.state.pulls[77].head_sha
    for path in (
        "issues/77",
        "issues/comments",
        "branches/main",
        "commits/feat-x",
        f"commits/{sha}/status",
        "actions/artifacts",
        "compare/main...feat-x",
        "contents/docs",
        "codeowners/errors",
    ):
        requests.get(f"{base}/{path}", headers=headers, timeout=5)
    requests.get(f"{hub.api}/rate_limit", headers=headers, timeout=5)
    hub.push("other", {"b": "1"})
    body = {"title": "By API", "head": "other", "base": "main"}
    for _ in range(2):  # the second is refused
        requests.post(f"{base}/pulls", headers=headers, json=body, timeout=5)
    for change in ({"title": "New"}, {"state": "closed"}, {"state": "open"}):
        requests.patch(f"{base}/pulls/78", headers=headers, json=change, timeout=5)
    requests.get(f"{hub.api}/user", headers={"Authorization": f"token {hub.user_token('mia')}"}, timeout=5)


def test_every_exchange_follows_githubs_description(
    hub: Hub, client: Callable[[str | None], GitHub], description: Description
) -> None:
    token = hub.app_token("bench-bot[bot]", {**ALL, "members": "write"})
    hub.state.teams["acme/core"] = {"mia"}
    github = client(token)
    talk(github)
    review(hub, github)
    label(github)
    look_around(hub, github)
    judge(hub, github)
    act(hub, github)
    ask_by_hand(hub, token)
    merge(hub, github)
    with pytest.raises(PermissionDeniedError):
        client(hub.fork_token()).create_comment(77, "no")
    met = check_log(hub, description)
    missing = {f"{one.method} {one.template}" for one in description.operations} - met
    assert missing == {  # nothing of infx asks for these
        "GET /orgs/{org}/actions/runners",
        "GET /orgs/{org}/teams/{team_slug}/memberships/{username}",
        "GET /repos/{owner}/{repo}/actions/runners",
        "GET /repos/{owner}/{repo}/rules/branches/{branch}",
        "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
        "POST /repos/{owner}/{repo}/check-runs",
    }


def test_the_checker_finds_what_is_wrong(hub: Hub, github: GitHub, description: Description) -> None:
    github.pull(77)
    operation = description.find("GET", "/repos/acme/bench/pulls/77")
    assert operation is not None
    good = hub.log[-1].reply
    for query, status, reply in (
        ({"labels": "1"}, 200, good),
        ({}, 200, {**good, "number": "77"}),
        ({}, 200, {key: value for key, value in good.items() if key != "mergeable"}),
        ({}, 202, good),
    ):
        assert description.problems(operation, query=query, body=None, status=status, reply=reply)


def _reference(kind: CommentKind, comment_id: int) -> CommentReference:
    return CommentReference(repository="acme/bench", pull_number=77, kind=kind, id=comment_id)
