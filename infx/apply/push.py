"""Push a commit that infx makes from git objects, without a working tree."""

from __future__ import annotations

from infx.gather.clone import GitClone
from infx.git import GitError
from infx.policy.model import Policy
from infx.reconcile.actions import PushCommit


def push_commit(clone: GitClone, action: PushCommit, policy: Policy) -> str:
    """Push a commit and return its SHA. Raise GitError if the branch is not at the commit's first parent any more."""
    git = clone.git
    sha = git.commit_file(
        action.tree,
        action.path,
        action.changelog,
        parents=action.parents,
        message=action.message,
        author=policy.identities[0],
    )
    token = clone.push_token if clone.token else None  # only HTTPS remotes take a token
    try:
        git.push("origin", sha, action.branch, expect=action.parents[0], token=token)
    except GitError:
        if read_tip(clone, action.branch) != sha:  # the reply of a push that happened may be lost
            raise
    return sha


def read_tip(clone: GitClone, branch: str) -> str | None:
    """Return the commit that a branch of the repository points to, or None without such a branch."""
    ref = f"refs/heads/{branch}"
    return clone.git.remote_refs("origin", ref, token=clone.token).get(ref)
