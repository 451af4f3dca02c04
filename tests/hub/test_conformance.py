"""Requests of the client and answers of the hub follow GitHub's description of its API."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from infx.github.api import GitHub
from infx.github.errors import NotFoundError, PermissionDeniedError, ValidationError
from infx.hub import Hub
from infx.hub.router import ROUTES
from infx.hub.rules import ACTIONS_APP, QueueRule
from infx.model import CommentKind, CommentReference, StatusState
from tests.hub.conftest import ALL
from tests.hub.openapi import UNDESCRIBED, Description, Operation, check_log


@pytest.fixture(scope="session")
def description(shared: Path, github_description: Description | None) -> Description:
    assert github_description is not None, shared
    return github_description


def served(description: Description) -> dict[str, Operation]:
    """Return the operations that the hub has a route for, by method and template."""
    operations = {}
    for route in ROUTES:
        path = re.sub(r"\{\w+(:\w+)?\}", lambda match: "1" if match[1] == ":int" else "x", route.template)
        operation = description.find(route.method, path)
        if operation is None or route.template in UNDESCRIBED:
            assert route.template in UNDESCRIBED, f"{route.template} is not described"
        else:
            operations[f"{operation.method} {operation.template}"] = operation
    return operations


def talk(github: GitHub) -> None:
    comment = github.create_comment(77, "hello @cody")
    github.edit_comment(comment.id, "hello again")
    github.issue_comments(77)
    github.comment(_reference(CommentKind.ISSUE, comment.id))
    reaction = github.add_reaction(comment.id, "+1")
    github.add_reaction(comment.id, "+1")
    github.reactions(comment.id)
    github.remove_reaction(comment.id, reaction.id)
    github.remove_reaction(comment.id, reaction.id)
    github.delete_comment(comment.id)
    with pytest.raises(NotFoundError):
        github.edit_comment(comment.id, "gone")
    with pytest.raises(ValidationError):
        github.create_comment(77, "x" * 65_537)


def review(hub: Hub, github: GitHub) -> None:
    approval = hub.review(77, "fine", state="APPROVED")
    hub.review(77, "", state="COMMENTED", by="ghost-app[bot]")
    line = hub.review_comment(77, "here", path="README.md")
    github.reviews(77)
    github.review_comments(77)
    github.comment(_reference(CommentKind.REVIEW, approval.id))
    github.comment(_reference(CommentKind.REVIEW_COMMENT, line.id))


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
    github.permission("mia")
    github.permission("unknown-account")
    github.team_members("acme", "core")


def judge(hub: Hub, github: GitHub) -> None:
    sha = hub.state.pulls[77].head_sha
    github.create_status(sha, context="infx/sweep", state=StatusState.PENDING, description="waiting")
    github.create_status(
        sha, context="infx/sweep", state=StatusState.SUCCESS, description="done", target_url=hub.web
    )
    github.statuses(sha)
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
    github.find_run(run.id)
    github.jobs(run.id)
    github.jobs(run.id, every_attempt=True)
    github.artifacts(run.id)
    github.download_artifact(kept.id)
    with pytest.raises(NotFoundError):
        github.download_artifact(gone.id)
    github.cancel_run(run.id)
    github.cancel_run(run.id)
    github.rerun_failed(run.id)
    github.dispatch_workflow("run-sweep.yml", ref="main", inputs={"pr": "77"})
    with pytest.raises(ValidationError):
        github.dispatch_workflow("run-sweep.yml", ref="0" * 40, inputs={})


SETTINGS = dict.fromkeys(
    ("actions_variables", "administration", "environments", "organization_self_hosted_runners", "secrets"),
    "read",
)


def look_at_settings(hub: Hub, github: GitHub) -> None:
    hub.add_environment("reconcile", branches=["main"])
    hub.add_environment("publish", protected_only=True)
    hub.add_runner("node-1", "self-hosted", "h200")
    hub.add_runner("node-2", "h200", group=hub.add_runner_group("gpu", "acme/bench/a.yml@main"))
    hub.state.settings.secrets.add("KEY")
    hub.state.settings.variables["INFX_APP_ID"] = "7"
    github.settings()
    github.label_names()
    github.protected_branches()
    github.environments()
    github.environment_branches("reconcile")
    github.secret_names()
    github.variables()
    github.runners()
    github.organization_runners("acme")
    github.runner_groups("acme")
    github.token_settings()
    for hub.state.settings.actions.is_enabled in (False, True):
        github.actions_settings()
    with pytest.raises(NotFoundError):
        github.organization_runners("other")


def ask_by_hand(hub: Hub, token: str) -> None:
    """Send the requests that people and other tools may send, but infx's client does not."""
    base = f"{hub.api}/repos/{hub.repository}"
    headers = {"Authorization": f"token {token}"}
    for path in (
        "actions/artifacts",
        "compare/main...feat-x",
        "contents/docs",
        "codeowners/errors",
        "",
        "rules/branches/main",
        "rulesets",
        f"rulesets/{hub.state.rulesets[0].id}",
        "branches/main",
        "branches/main/protection",
        "branches/main/protection/required_status_checks",
        "branches/none/protection",
        "pulls/77/merge",
        "commits/feat-x/check-runs",
        "actions/workflows",
        "actions/workflows/run-sweep.yml",
    ):
        requests.get(f"{base}/{path}".rstrip("/"), headers=headers, timeout=5)
    event: Any = {"event_type": "publish", "client_payload": {"key": "7"}}
    requests.post(f"{base}/dispatches", headers=headers, json=event, timeout=5)
    requests.get(f"{hub.api}/rate_limit", headers=headers, timeout=5)
    hub.push("other", {"b": "1"})
    body = {"title": "By API", "head": "other", "base": "main"}
    for _ in range(2):  # the second is refused
        requests.post(f"{base}/pulls", headers=headers, json=body, timeout=5)
    for change in ({"title": "New"}, {"state": "closed"}, {"state": "open"}):
        requests.patch(f"{base}/pulls/78", headers=headers, json=change, timeout=5)
    hub.push("release", {"c": "1"})
    requests.patch(f"{base}/pulls/78", headers=headers, json={"base": "release"}, timeout=5)
    for name in ("full-sweep-enabled", "odd / label"):
        requests.post(f"{base}/issues/77/labels", headers=headers, json={"labels": [name]}, timeout=5)
    for _ in range(2):  # the second is refused
        requests.delete(f"{base}/issues/77/labels/odd%20%2F%20label", headers=headers, timeout=5)
    hub.add_run(pull=77, run_id=4712, status="completed", conclusion="failure")
    requests.post(f"{base}/actions/runs/4712/rerun", headers=headers, timeout=5)
    head = hub.state.pulls[77].head_sha
    requests.put(
        f"{base}/pulls/77/merge", headers=headers, json={"sha": head}, timeout=5
    )  # a check is missing
    hub.set_status(head, "infx/sweep", "success")
    for sha in ("0" * 39 + "1", head, head):  # GitHub accepts only the second
        requests.put(f"{base}/pulls/77/merge", headers=headers, json={"sha": sha}, timeout=5)


def test_every_exchange_follows_githubs_description(
    hub: Hub, client: Callable[[str | None], GitHub], description: Description
) -> None:
    token = hub.app_token("bench-bot[bot]", {**ALL, **SETTINGS, "members": "write"})
    hub.add_ruleset(("infx/sweep", ACTIONS_APP), methods=["merge", "squash"])
    hub.add_ruleset(branch="release", queue=QueueRule())
    hub.protect("infx/sweep")
    hub.state.teams["acme/core"] = {"mia"}
    github = client(token)
    talk(github)
    look_at_settings(hub, github)
    review(hub, github)
    look_around(hub, github)
    judge(hub, github)
    act(hub, github)
    github.labels(77)
    github.label_events(77)
    ask_by_hand(hub, token)
    requests.get(f"{hub.api}/repos/acme/bench/pulls/77/merge", timeout=5)  # merged
    requests.get(f"{hub.api}/repos/acme/bench/rules/branches/release", timeout=5)
    github.pull(77)
    github.pulls(state="closed")
    with pytest.raises(PermissionDeniedError):
        client(hub.fork_token()).create_comment(77, "no")
    assert served(description).keys() - check_log(hub, description) == set()


# A valid request for each operation with a body.
BODIES: dict[str, tuple[str, Any]] = {
    "POST /repos/{owner}/{repo}/pulls": ("pulls", {"title": "t", "head": "other", "base": "main"}),
    "PATCH /repos/{owner}/{repo}/pulls/{pull_number}": ("pulls/77", {}),
    "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge": ("pulls/77/merge", {}),
    "POST /repos/{owner}/{repo}/issues/{issue_number}/labels": ("issues/77/labels", {"labels": ["x"]}),
    "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": ("issues/77/comments", {"body": "x"}),
    "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": ("issues/comments/11001", {"body": "x"}),
    "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions": (
        "issues/comments/11001/reactions",
        {"content": "+1"},
    ),
    "POST /repos/{owner}/{repo}/statuses/{sha}": ("statuses/{sha}", {"state": "success"}),
    "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches": (
        "actions/workflows/run-sweep.yml/dispatches",
        {"ref": "main"},
    ),
    "POST /repos/{owner}/{repo}/dispatches": ("dispatches", {"event_type": "publish"}),
    "POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun": ("actions/runs/300/rerun", {}),
    "POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs": (
        "actions/runs/300/rerun-failed-jobs",
        {},
    ),
}
WRONG: tuple[Any, ...] = (
    7,
    "",
    "foo",
    True,
    [],
    [7],
    {},
    {"x": 1},
    "x" * 101,
    {str(n): n for n in range(26)},
)


def test_a_body_against_the_description_is_refused(hub: Hub, description: Description) -> None:
    """Every field of every body is tried with values that its schema does not allow, or left out if required.

    Null is not tried: GitHub treats it like a missing field.
    """
    hub.push("other", {"b": "1"})
    hub.comment(77, "hello", by="mia")
    hub.add_run(pull=77, status="completed", conclusion="failure")
    token = {"Authorization": f"token {hub.user_token('mia')}"}
    operations = {
        name: operation
        for name, operation in served(description).items()
        if "requestBody" in operation.description
    }
    assert operations.keys() == BODIES.keys()
    before, accepted, tried = hub.snapshot(), [], 0
    for name, operation in operations.items():
        path, good = BODIES[name]
        fields = description.fields(operation)
        bodies = [{**good, field: value} for field in fields for value in WRONG]
        bodies += [{key: value for key, value in good.items() if key != field} for field in good]
        assert description.check_body(operation, good) == []
        url = f"{hub.api}/repos/acme/bench/{path.format(sha=hub.state.pulls[77].head_sha)}"
        for body in bodies:
            if not description.check_body(operation, body):
                continue
            tried += 1
            answer = requests.request(operation.method, url, headers=token, json=body, timeout=5)
            if answer.status_code != 422:
                accepted.append((name, body, answer.status_code))
    assert accepted == []
    assert tried > 150
    assert hub.state == before.state  # no refused request changes anything


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
