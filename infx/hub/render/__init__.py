"""Render the hub's state as GitHub's JSON."""

from infx.hub.render.actions import artifact, job, run
from infx.hub.render.base import Json, account, address, known_account, label, node, page, repository
from infx.hub.render.commits import changed_file, commit, git_commit, push, status
from infx.hub.render.pulls import issue, pull, pull_summary, timeline_entry
from infx.hub.render.talk import REACTIONS, issue_comment, reaction, review, review_comment, timeline_comment

__all__ = [
    "REACTIONS",
    "Json",
    "account",
    "address",
    "artifact",
    "changed_file",
    "commit",
    "git_commit",
    "issue",
    "issue_comment",
    "job",
    "known_account",
    "label",
    "node",
    "page",
    "pull",
    "pull_summary",
    "push",
    "reaction",
    "repository",
    "review",
    "review_comment",
    "run",
    "status",
    "timeline_comment",
    "timeline_entry",
]
