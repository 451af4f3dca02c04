"""Render URLs, accounts, repositories and labels, which the other modules need."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from infx.hub.state import Account, Label
from infx.hub.world import World

Json = dict[str, Any]

_ACCOUNT_LINKS = [
    "events",
    "followers",
    "following",
    "gists",
    "organizations",
    "received_events",
    "repos",
    "starred",
    "subscriptions",
]
_REPOSITORY_LINKS = [
    "archive",
    "assignees",
    "blobs",
    "branches",
    "collaborators",
    "comments",
    "commits",
    "compare",
    "contents",
    "contributors",
    "deployments",
    "downloads",
    "events",
    "forks",
    "git_commits",
    "git_refs",
    "git_tags",
    "hooks",
    "issue_comment",
    "issue_events",
    "issues",
    "keys",
    "labels",
    "languages",
    "merges",
    "milestones",
    "notifications",
    "pulls",
    "releases",
    "stargazers",
    "statuses",
    "subscribers",
    "subscription",
    "tags",
    "teams",
    "trees",
]
_COUNTS = dict.fromkeys(
    [
        "forks",
        "forks_count",
        "open_issues",
        "open_issues_count",
        "stargazers_count",
        "watchers",
        "watchers_count",
        "size",
        "network_count",
        "subscribers_count",
    ],
    0,
)
_FLAGS = {
    f"has_{what}": what in {"issues", "downloads"}
    for what in ["issues", "projects", "wiki", "pages", "downloads", "discussions"]
}


def node(kind: str, number: int) -> str:
    return f"{kind}_{number}"


def address(world: World, *parts: object) -> str:
    """Return an API URL in this repository."""
    return "/".join([f"{world.api}/repos/{world.repository}", *(str(part) for part in parts)])


def page(world: World, *parts: object) -> str:
    """Return the URL of a web page in this repository."""
    return "/".join([f"{world.web}/{world.repository}", *(str(part) for part in parts)])


def account(world: World, login: str | None) -> Json | None:
    if login is None:
        return None
    return known_account(world, world.account(login))


def known_account(world: World, known: Account) -> Json:
    base = f"{world.api}/users/{quote(known.login)}"
    return {
        "login": known.login,
        "id": known.id,
        "node_id": node("U", known.id),
        "avatar_url": f"{world.web}/{quote(known.login)}.png",
        "gravatar_id": "",
        "url": base,
        "html_url": f"{world.web}/{quote(known.login)}",
        **{f"{name}_url": f"{base}/{name}" for name in _ACCOUNT_LINKS},
        "type": known.type.value,
        "site_admin": False,
        "user_view_type": "public",
    }


def repository(world: World, full_name: str) -> Json:
    """Render a repository, with the fields of all GitHub schemas that contain a repository."""
    owner, name = full_name.split("/")
    base = f"{world.api}/repos/{full_name}"
    number = 1 if full_name == world.repository else 2
    clone = f"{world.web}/{full_name}.git"
    toolkit = world.state.settings.toolkits.get(full_name)
    is_private = toolkit.is_private if toolkit else world.state.settings.is_private
    return {
        "id": number,
        "node_id": node("R", number),
        "name": name,
        "full_name": full_name,
        "private": is_private,
        "visibility": "private" if is_private else "public",
        "owner": account(world, owner),
        "html_url": f"{world.web}/{full_name}",
        "description": None,
        "fork": full_name != world.repository,
        "url": base,
        **{f"{link}_url": f"{base}/{link}" for link in _REPOSITORY_LINKS},
        "clone_url": clone,
        "git_url": clone,
        "ssh_url": clone,
        "svn_url": clone,
        "mirror_url": None,
        **_COUNTS,
        **_FLAGS,
        **dict.fromkeys(("homepage", "language", "license"), None),
        **dict.fromkeys(("archived", "disabled", "is_template"), False),
        **dict.fromkeys(("pushed_at", "created_at", "updated_at"), "2026-01-01T00:00:00Z"),
        "default_branch": world.branch,
        "topics": [],
        "allow_forking": True,
        "web_commit_signoff_required": False,
    }


def full_repository(world: World, *, with_settings: bool) -> Json:
    """Render the repository as `GET /repos` does. with_settings: also what only people who may push see."""
    methods = world.state.methods
    settings = {
        "allow_merge_commit": "merge" in methods,
        "allow_squash_merge": "squash" in methods,
        "allow_rebase_merge": "rebase" in methods,
        "allow_auto_merge": False,
        "allow_update_branch": False,
        "delete_branch_on_merge": False,
    }
    return {**repository(world, world.repository), **(settings if with_settings else {})}


def label(world: World, known: Label) -> Json:
    return {
        "id": known.id,
        "node_id": node("L", known.id),
        "url": address(world, "labels", quote(known.name, safe="")),
        "name": known.name,
        "description": "",
        "color": "ededed",
        "default": False,
    }
