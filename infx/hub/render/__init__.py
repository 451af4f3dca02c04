"""Render the hub's state as GitHub's JSON."""

from infx.hub.render.actions import artifact, check_run, job, run, workflow
from infx.hub.render.base import (
    Json,
    account,
    address,
    full_repository,
    known_account,
    label,
    node,
    page,
    repository,
)
from infx.hub.render.branches import branch, check_policy, merge_group, protection, rules, ruleset
from infx.hub.render.commits import changed_file, commit, git_commit, push, status
from infx.hub.render.pulls import issue, pull, pull_summary, timeline_entry
from infx.hub.render.settings import (
    actions_policy,
    branch_policy,
    environment,
    installation,
    runner,
    runner_group,
    secret,
    variable,
)
from infx.hub.render.talk import REACTIONS, issue_comment, reaction, review, review_comment, timeline_comment

__all__ = [
    "REACTIONS",
    "Json",
    "account",
    "actions_policy",
    "address",
    "artifact",
    "branch",
    "branch_policy",
    "changed_file",
    "check_policy",
    "check_run",
    "commit",
    "environment",
    "full_repository",
    "git_commit",
    "installation",
    "issue",
    "issue_comment",
    "job",
    "known_account",
    "label",
    "merge_group",
    "node",
    "page",
    "protection",
    "pull",
    "pull_summary",
    "push",
    "reaction",
    "repository",
    "review",
    "review_comment",
    "rules",
    "ruleset",
    "run",
    "runner",
    "runner_group",
    "secret",
    "status",
    "timeline_comment",
    "timeline_entry",
    "variable",
    "workflow",
]
