"""Render pull requests, also as issues, and their timeline."""

from __future__ import annotations

from infx.hub.render.base import Json, account, address, label, node, page, repository
from infx.hub.state import Pull, TimelineEntry
from infx.hub.world import World
from infx.model import CommentKind


def pull_summary(world: World, pull: Pull) -> Json:
    """Render a pull request as lists do."""
    self_url = address(world, "pulls", pull.number)
    issue_url = address(world, "issues", pull.number)
    html = page(world, "pull", pull.number)
    links = {
        "comments": f"{issue_url}/comments",
        "commits": f"{self_url}/commits",
        "statuses": address(world, "statuses", pull.head_sha),
        "review_comments": f"{self_url}/comments",
        "review_comment": address(world, "pulls/comments{/number}"),
    }
    others = {"self": self_url, "html": html, "issue": issue_url}
    return {
        "id": pull.id,
        "node_id": node("PR", pull.id),
        "number": pull.number,
        "url": self_url,
        "html_url": html,
        "issue_url": issue_url,
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        **{f"{name}_url": url for name, url in links.items()},
        "_links": {name: {"href": url} for name, url in {**links, **others}.items()},
        "state": "open" if pull.is_open else "closed",
        "locked": pull.locked,
        "draft": pull.draft,
        "title": pull.title,
        "body": pull.body,
        "user": account(world, pull.author),
        "labels": [label(world, known) for known in pull.labels],
        **dict.fromkeys(("assignee", "milestone", "auto_merge", "active_lock_reason"), None),
        **{name: [] for name in ("assignees", "requested_reviewers", "requested_teams")},
        "created_at": pull.created_at,
        "updated_at": pull.updated_at,
        "closed_at": pull.closed_at,
        "merged_at": pull.merged_at,
        "merge_commit_sha": pull.merge_sha,
        "author_association": world.association(pull.author),
        "head": _side(world, pull.head_owner, pull.head_ref, pull.head_sha, pull.head_repository),
        "base": _side(world, world.repository.split("/")[0], pull.base_ref, pull.base_sha, world.repository),
    }


def _side(world: World, owner: str, ref: str, sha: str, full_name: str | None) -> Json:
    return {
        "label": f"{owner}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": account(world, owner),
        "repo": repository(world, full_name) if full_name else None,
    }


def pull(world: World, known: Pull) -> Json:
    base = world.find_base(known)
    changes = world.git.changes(base, known.head_sha)
    comments = [c for c in world.state.comments.values() if c.pull == known.number]
    mergeable = known.mergeable if known.merge_of == (base, known.head_sha) else None
    return {
        **pull_summary(world, known),
        "merged": known.merged_at is not None,
        "merged_by": account(world, known.merged_by),
        "mergeable": mergeable if known.is_open else None,
        "rebaseable": mergeable if known.is_open else None,
        "mergeable_state": {None: "unknown", True: "clean", False: "dirty"}[mergeable],
        "comments": sum(c.kind is CommentKind.ISSUE for c in comments),
        "review_comments": sum(c.kind is CommentKind.REVIEW_COMMENT for c in comments),
        "maintainer_can_modify": False,
        "commits": len(world.git.commits_between(base, known.head_sha)),
        "additions": sum(change.additions for change in changes),
        "deletions": sum(change.deletions for change in changes),
        "changed_files": len(changes),
    }


def issue(world: World, known: Pull) -> Json:
    """Render a pull request as an issue."""
    self_url = address(world, "issues", known.number)
    html = page(world, "pull", known.number)
    pull_url = address(world, "pulls", known.number)
    comments = [
        c for c in world.state.comments.values() if c.pull == known.number and c.kind is CommentKind.ISSUE
    ]
    links = ["comments", "events", "labels", "timeline"]
    return {
        "id": known.id,
        "node_id": node("I", known.id),
        "number": known.number,
        "url": self_url,
        "repository_url": address(world),
        **{f"{name}_url": f"{self_url}/{name}" for name in links},
        "html_url": html,
        "state": "open" if known.is_open else "closed",
        "state_reason": None,
        "title": known.title,
        "body": known.body,
        "user": account(world, known.author),
        "labels": [label(world, item) for item in known.labels],
        **dict.fromkeys(("assignee", "milestone", "active_lock_reason"), None),
        "assignees": [],
        "locked": known.locked,
        "comments": len(comments),
        "draft": known.draft,
        "pull_request": {
            "url": pull_url,
            "html_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "merged_at": known.merged_at,
        },
        "created_at": known.created_at,
        "updated_at": known.updated_at,
        "closed_at": known.closed_at,
        "author_association": world.association(known.author),
    }


def timeline_entry(world: World, entry: TimelineEntry) -> Json:
    shown = {
        "id": entry.id,
        "node_id": node("EV", entry.id),
        "url": address(world, "issues", "events", entry.id),
        "actor": account(world, entry.actor),
        "event": entry.event,
        "commit_id": None,
        "commit_url": None,
        "created_at": entry.created_at,
        "performed_via_github_app": None,
    }
    return shown if entry.label is None else {**shown, "label": {"name": entry.label, "color": "ededed"}}
