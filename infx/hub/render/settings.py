"""Render the settings of the repository and its organization."""

from __future__ import annotations

from infx.hub.render.base import Json, address, known_account, node, page
from infx.hub.settings import ActionsPolicy, Environment, Installation, Runner, RunnerGroup
from infx.hub.world import World

_TIME = "2026-01-01T00:00:00Z"


def environment(world: World, known: Environment) -> Json:
    """Render an environment; its secrets are another list."""
    rules: list[Json] = []
    policy = None
    if known.branches or known.protected_only:
        policy = {
            "protected_branches": known.protected_only,
            "custom_branch_policies": not known.protected_only,
        }
        rules.append({"id": known.id, "node_id": node("GA", known.id), "type": "branch_policy"})
    return {
        "id": known.id,
        "node_id": node("EN", known.id),
        "name": known.name,
        "url": address(world, "environments", known.name),
        "html_url": page(world, "deployments", known.name),
        "created_at": _TIME,
        "updated_at": _TIME,
        "protection_rules": rules,
        "deployment_branch_policy": policy,
    }


def branch_policy(_: World, name: str) -> Json:
    return {"id": 1, "node_id": node("DBP", 1), "name": name, "type": "branch"}


def secret(_: World, name: str) -> Json:
    return {"name": name, "created_at": _TIME, "updated_at": _TIME}


def variable(_: World, item: tuple[str, str]) -> Json:
    return {"name": item[0], "value": item[1], "created_at": _TIME, "updated_at": _TIME}


def runner(_: World, known: Runner) -> Json:
    kinds = [(name, "read-only" if name == "self-hosted" else "custom") for name in known.labels]
    return {
        "id": known.id,
        "name": known.name,
        "os": "linux",
        "status": "online" if known.is_online else "offline",
        "busy": False,
        "labels": [
            {"id": number, "name": name, "type": kind} for number, (name, kind) in enumerate(kinds, start=1)
        ],
        **({} if known.group is None else {"runner_group_id": known.group}),
    }


def runner_group(world: World, known: RunnerGroup) -> Json:
    owner = world.repository.split("/")[0]
    return {
        "id": known.id,
        "name": known.name,
        "visibility": "all",
        "default": False,
        "runners_url": f"{world.api}/orgs/{owner}/actions/runner-groups/{known.id}/runners",
        "inherited": False,
        "allows_public_repositories": True,
        "restricted_to_workflows": bool(known.workflows),
        "selected_workflows": list(known.workflows),
        "workflow_restrictions_read_only": False,
    }


def actions_policy(world: World, known: ActionsPolicy) -> Json:
    """Render the settings of Actions; disabled Actions have no list of what is allowed."""
    if not known.is_enabled:
        return {"enabled": False, "sha_pinning_required": known.sha_pinning}
    url = address(world, "actions/permissions/selected-actions")
    return {
        "enabled": True,
        "allowed_actions": known.allowed,
        **({"selected_actions_url": url} if known.allowed == "selected" else {}),
        "sha_pinning_required": known.sha_pinning,
    }


def installation(world: World, known: Installation) -> Json:
    owner = world.account(world.repository.split("/")[0])
    links = f"{world.api}/app/installations/{known.id}"
    return {
        "id": known.id,
        "app_id": known.app_id,
        "app_slug": known.slug,
        "account": known_account(world, owner),
        "target_id": owner.id,
        "target_type": owner.type.value,
        "repository_selection": known.selection,
        "permissions": known.permissions,
        "events": [],
        "access_tokens_url": f"{links}/access_tokens",
        "repositories_url": f"{world.api}/installation/repositories",
        "html_url": f"{world.web}/organizations/{owner.login}/settings/installations/{known.id}",
        "created_at": _TIME,
        "updated_at": _TIME,
        "single_file_name": None,
        "suspended_by": known_account(world, owner) if known.is_suspended else None,
        "suspended_at": _TIME if known.is_suspended else None,
    }
