"""Render workflow runs, jobs and artifacts."""

from __future__ import annotations

from infx.hub.render.base import Json, account, address, node, page, repository
from infx.hub.rules import ACTIONS_APP
from infx.hub.state import Artifact, Job, Run
from infx.hub.world import World


def run(world: World, known: Run) -> Json:
    url = address(world, "actions", "runs", known.id)
    names = ["jobs", "logs", "cancel", "rerun", "artifacts"]
    workflow_id = world.state.workflows.index(known.workflow) + 500
    return {
        "id": known.id,
        "node_id": node("WFR", known.id),
        "name": known.workflow.rsplit(".", 1)[0],
        "display_title": known.title,
        "path": f".github/workflows/{known.workflow}",
        "run_number": known.number,
        "run_attempt": known.attempt,
        "event": known.event,
        "status": known.status,
        "conclusion": known.conclusion,
        "workflow_id": workflow_id,
        "check_suite_id": known.id,
        "check_suite_node_id": node("CS", known.id),
        "url": url,
        "html_url": page(world, "actions", "runs", known.id),
        **{f"{name}_url": f"{url}/{name}" for name in names},
        "check_suite_url": address(world, "check-suites", known.id),
        "workflow_url": address(world, "actions", "workflows", workflow_id),
        "previous_attempt_url": f"{url}/attempts/{known.attempt - 1}" if known.attempt > 1 else None,
        "head_sha": known.head_sha,
        "head_branch": known.head_branch,
        "head_commit": _head_commit(world, known.head_sha),
        "head_repository": repository(world, known.head_repository),
        "repository": repository(world, world.repository),
        "actor": account(world, known.actor),
        "triggering_actor": account(world, known.triggering_actor),
        "pull_requests": [_pull(world, number) for number in known.pulls],
        "referenced_workflows": [],
        "created_at": known.created_at,
        "updated_at": known.updated_at,
        "run_started_at": known.created_at,
    }


def _pull(world: World, number: int) -> Json:
    pull = world.state.pulls[number]
    here = {"id": 1, "url": address(world), "name": world.repository.split("/")[1]}
    return {
        "id": pull.id,
        "number": number,
        "url": address(world, "pulls", number),
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": here},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": here},
    }


def _head_commit(world: World, sha: str) -> Json | None:
    try:
        commit = world.git.commit(sha)
    except KeyError:
        return None
    person = {"name": commit.name, "email": commit.email}
    return {
        "id": sha,
        "tree_id": commit.tree,
        "message": commit.message,
        "timestamp": commit.date,
        "author": person,
        "committer": person,
    }


def job(world: World, known: Job) -> Json:
    source = world.state.runs[known.run]
    return {
        "id": known.id,
        "node_id": node("J", known.id),
        "run_id": known.run,
        "run_url": address(world, "actions", "runs", known.run),
        "run_attempt": known.attempt,
        "workflow_name": source.workflow.rsplit(".", 1)[0],
        "head_branch": source.head_branch,
        "head_sha": source.head_sha,
        "url": address(world, "actions", "jobs", known.id),
        "html_url": page(world, "actions", "runs", known.run, "job", known.id),
        "check_run_url": address(world, "check-runs", known.id),
        "name": known.name,
        "status": known.status,
        "conclusion": known.conclusion,
        "labels": [],
        "runner_id": 1 if known.runner else None,
        "runner_name": known.runner,
        "runner_group_id": None,
        "runner_group_name": None,
        "steps": [_failed_step(known, known.failed_step)] if known.failed_step else [],
        "created_at": known.created_at,
        # on GitHub a waiting job has a time here, too
        "started_at": known.started_at or known.created_at,
        "completed_at": known.completed_at,
    }


def check_run(world: World, known: Job) -> Json:
    """Render a job as the check run that GitHub Actions makes for it."""
    source = world.state.runs[known.run]
    url = address(world, "check-runs", known.id)
    details = page(world, "actions", "runs", known.run, "job", known.id)
    output = dict.fromkeys(("title", "summary", "text"), None)
    return {
        "id": known.id,
        "node_id": node("CR", known.id),
        "external_id": str(known.id),
        "head_sha": source.head_sha,
        "name": known.name,
        "status": known.status,
        "conclusion": known.conclusion,
        "url": url,
        "html_url": details,
        "details_url": details,
        "started_at": known.started_at or known.created_at,
        "completed_at": known.completed_at,
        "output": {**output, "annotations_count": 0, "annotations_url": f"{url}/annotations"},
        "check_suite": {"id": known.run},
        "app": _actions_app(world),
        "pull_requests": [_pull(world, number) for number in source.pulls],
    }


def _actions_app(world: World) -> Json:
    return {
        "id": ACTIONS_APP,
        "node_id": node("A", ACTIONS_APP),
        "slug": "github-actions",
        "owner": account(world, "github"),
        "name": "GitHub Actions",
        "description": None,
        "external_url": "https://help.github.com/en/actions",
        "html_url": f"{world.web}/apps/github-actions",
        "created_at": "2018-07-30T09:30:17Z",
        "updated_at": "2018-07-30T09:30:17Z",
        "permissions": {"checks": "write", "contents": "read"},
        "events": [],
    }


def workflow(world: World, name: str, title: str) -> Json:
    """Render a workflow file of the default branch. title: the name that the file gives the workflow."""
    number = world.state.workflows.index(name) + 500
    url = address(world, "actions", "workflows", number)
    path = f".github/workflows/{name}"
    return {
        "id": number,
        "node_id": node("W", number),
        "name": title,
        "path": path,
        "state": "active",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "url": url,
        "html_url": page(world, "blob", world.branch, path),
        "badge_url": page(world, "workflows", title, "badge.svg"),
    }


def _failed_step(known: Job, name: str) -> Json:
    return {
        "name": name,
        "status": "completed",
        "conclusion": "failure",
        "number": 1,
        "started_at": known.started_at,
        "completed_at": known.completed_at,
    }


def artifact(world: World, known: Artifact) -> Json:
    source = world.state.runs[known.run]
    url = address(world, "actions", "artifacts", known.id)
    return {
        "id": known.id,
        "node_id": node("ART", known.id),
        "name": known.name,
        "size_in_bytes": len(known.data),
        "url": url,
        "archive_download_url": f"{url}/zip",
        "expired": known.expired,
        "created_at": known.created_at,
        "updated_at": known.created_at,
        "expires_at": "2099-01-01T00:00:00Z",
        "workflow_run": {
            "id": known.run,
            "repository_id": 1,
            "head_repository_id": 1 if source.head_repository == world.repository else 2,
            "head_branch": source.head_branch,
            "head_sha": source.head_sha,
        },
    }
