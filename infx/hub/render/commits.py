"""Render commits, their files, statuses and pushes."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from infx.hub.git import ZERO, FileChange, GitCommit
from infx.hub.render.base import Json, account, address, node, page
from infx.hub.state import Status
from infx.hub.world import World


def changed_file(world: World, change: FileChange, sha: str) -> Json:
    path = quote(change.path)
    shown = {
        "sha": change.blob,
        "filename": change.path,
        "status": change.status.value,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": page(world, "blob", sha, path),
        "raw_url": page(world, "raw", sha, path),
        "contents_url": f"{address(world, 'contents', path)}?ref={sha}",
    }
    if change.previous_path is not None:
        shown["previous_filename"] = change.previous_path
    if change.patch is not None:
        shown["patch"] = change.patch
    return shown


def _signature(commit: GitCommit) -> Json:
    return {"name": commit.name, "email": commit.email, "date": commit.date}


def _links_of_parents(world: World, commit: GitCommit, *where: str) -> list[Json]:
    return [
        {"sha": sha, "url": address(world, *where, sha), "html_url": page(world, "commit", sha)}
        for sha in commit.parents
    ]


_UNSIGNED = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def commit(world: World, known: GitCommit) -> Json:
    """Render a commit as lists do; its account follows from the mail address."""
    url = address(world, "commits", known.sha)
    login = known.name if known.email == f"{known.name}@users.noreply.github.com" else None
    known_login = login if login and login.lower() in world.state.accounts else None
    return {
        "sha": known.sha,
        "node_id": f"C_{known.sha}",
        "url": url,
        "html_url": page(world, "commit", known.sha),
        "comments_url": f"{url}/comments",
        "commit": {
            "url": address(world, "git", "commits", known.sha),
            "author": _signature(known),
            "committer": _signature(known),
            "message": known.message,
            "comment_count": 0,
            "tree": {"sha": known.tree, "url": address(world, "git", "trees", known.tree)},
            "verification": _UNSIGNED,
        },
        "author": account(world, known_login),
        "committer": account(world, known_login),
        "parents": _links_of_parents(world, known, "commits"),
    }


def git_commit(world: World, known: GitCommit) -> Json:
    return {
        "sha": known.sha,
        "node_id": f"C_{known.sha}",
        "url": address(world, "git", "commits", known.sha),
        "html_url": page(world, "commit", known.sha),
        "author": _signature(known),
        "committer": _signature(known),
        "message": known.message,
        "tree": {"sha": known.tree, "url": address(world, "git", "trees", known.tree)},
        "parents": _links_of_parents(world, known, "git", "commits"),
        "verification": _UNSIGNED,
    }


def status(world: World, known: Status) -> Json:
    creator = account(world, known.creator)
    return {
        "id": known.id,
        "node_id": node("SC", known.id),
        "url": address(world, "statuses", known.sha),
        "avatar_url": creator["avatar_url"] if creator else None,
        "state": known.state,
        "context": known.context,
        "description": known.description,
        "target_url": known.target_url,
        "created_at": known.created_at,
        "updated_at": known.created_at,
        "creator": creator,
    }


MOST_PUSHED = 2048  # commits in the event of a push


def push(
    world: World,
    ref: str,
    sides: tuple[str | None, str | None],
    new: Sequence[str],
    *,
    by: str,
    forced: bool,
) -> Json:
    """Render the event of a push.

    Args:
        sides: the branch's SHA before and after, None without a branch.
        new: the new commits, oldest first.
    """
    before, after = sides
    touched = world.git.touched(new[:MOST_PUSHED]) if new else {}
    commits = [_pushed_commit(world, sha, paths) for sha, paths in touched.items()]
    head = commits[-1] if commits else None
    if head is None and after is not None:
        head = _pushed_commit(world, after, world.git.touched([after])[after])
    return {
        "ref": ref,
        "before": before or ZERO,
        "after": after or ZERO,
        "created": before is None,
        "deleted": after is None,
        "forced": forced,
        "base_ref": None,
        "compare": page(world, "compare", f"{(before or ZERO)[:12]}...{(after or ZERO)[:12]}"),
        "commits": commits,
        "head_commit": head,
        "pusher": {"name": by, "email": f"{by}@users.noreply.github.com"},
    }


def _pushed_commit(world: World, sha: str, touched: dict[str, list[str]]) -> Json:
    known = world.git.commit(sha)
    person = {"name": known.name, "email": known.email}
    return {
        "id": sha,
        "tree_id": known.tree,
        "distinct": True,
        "message": known.message,
        "timestamp": known.date,
        "url": page(world, "commit", sha),
        "author": person,
        "committer": person,
        "added": touched["A"],
        "removed": touched["D"],
        "modified": touched["M"],
    }
