"""Render comments of the three kinds, and reactions."""

from __future__ import annotations

from infx.hub.render.base import Json, account, address, node, page
from infx.hub.state import Comment, Reaction
from infx.hub.world import World
from infx.model import CommentKind

REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def issue_comment(world: World, comment: Comment) -> Json:
    url = address(world, "issues", "comments", comment.id)
    counts = {name: sum(r.content == name for r in comment.reactions) for name in REACTIONS}
    return {
        "id": comment.id,
        "node_id": node("IC", comment.id),
        "url": url,
        "html_url": page(world, "pull", f"{comment.pull}#issuecomment-{comment.id}"),
        "issue_url": address(world, "issues", comment.pull),
        "user": account(world, comment.author),
        "body": comment.body,
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
        "author_association": world.association(comment.author),
        "performed_via_github_app": None,
        "reactions": {"url": f"{url}/reactions", "total_count": sum(counts.values()), **counts},
    }


def review(world: World, comment: Comment) -> Json:
    pull_url = address(world, "pulls", comment.pull)
    html = page(world, "pull", f"{comment.pull}#pullrequestreview-{comment.id}")
    return {
        "id": comment.id,
        "node_id": node("PRR", comment.id),
        "user": account(world, comment.author),
        "body": comment.body or "",
        "state": comment.state,
        "html_url": html,
        "pull_request_url": pull_url,
        "_links": {"html": {"href": html}, "pull_request": {"href": pull_url}},
        "submitted_at": comment.created_at,
        "commit_id": comment.commit_sha,
        "author_association": world.association(comment.author),
    }


def review_comment(world: World, comment: Comment) -> Json:
    url = address(world, "pulls", "comments", comment.id)
    pull_url = address(world, "pulls", comment.pull)
    html = page(world, "pull", f"{comment.pull}#discussion_r{comment.id}")
    return {
        "id": comment.id,
        "node_id": node("PRRC", comment.id),
        "url": url,
        "html_url": html,
        "pull_request_url": pull_url,
        "pull_request_review_id": None,
        "_links": {"self": {"href": url}, "html": {"href": html}, "pull_request": {"href": pull_url}},
        "user": account(world, comment.author),
        "body": comment.body or "",
        "diff_hunk": "@@ -1 +1 @@",
        "path": comment.path,
        "line": comment.line,
        "side": "RIGHT",
        "commit_id": comment.commit_sha,
        "original_commit_id": comment.commit_sha,
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
        "author_association": world.association(comment.author),
    }


def reaction(world: World, known: Reaction) -> Json:
    return {
        "id": known.id,
        "node_id": node("REA", known.id),
        "user": account(world, known.author),
        "content": known.content,
        "created_at": known.created_at,
    }


def timeline_comment(world: World, comment: Comment) -> Json:
    """Render a comment of any kind as the timeline does."""
    match comment.kind:
        case CommentKind.ISSUE:
            shown = issue_comment(world, comment)
            return {**shown, "event": "commented", "actor": shown["user"]}
        case CommentKind.REVIEW:
            return {**review(world, comment), "event": "reviewed"}
        case CommentKind.REVIEW_COMMENT:
            node_id = node("TLC", comment.id)
            return {
                "event": "line-commented",
                "node_id": node_id,
                "comments": [review_comment(world, comment)],
            }
