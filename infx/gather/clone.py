"""Fetch the base branch, the merge queue and pull requests into `infx` refs of a clone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from infx.gather.changes import BranchReader, find_groups
from infx.gather.plan import Planner
from infx.git import Git, GitError
from infx.policy.model import Policy
from infx.reconcile.facts import RepositoryContext

BASE = "refs/infx/base"
QUEUE = "refs/infx/queue"


@dataclass
class GitClone:
    """A clone of the repository; its `infx` refs mirror the base branch and the pull requests.

    Attributes:
        token: used to fetch.
        push_token: the token of an App, whose pushes start workflows; None: infx pushes nothing.
    """

    git: Git
    token: str | None = None
    push_token: str | None = None

    def fetch(self, base_branch: str, numbers: Sequence[int]) -> str:
        """Fetch the base branch and the heads that exist, and return the base branch's tip."""
        base = f"refs/heads/{base_branch}"
        queue = f"refs/heads/gh-readonly-queue/{base_branch}/*:{QUEUE}/*"
        heads = {f"refs/pull/{number}/head": f"refs/infx/pull/{number}" for number in numbers}
        while True:
            refspecs = [f"{head}:{mirror}" for head, mirror in heads.items()]
            try:
                self.git.fetch("origin", f"{base}:{BASE}", queue, *refspecs, token=self.token)
                return self.git.commit(BASE)
            except GitError as error:
                match = re.search(r"couldn't find remote ref (\S+)", error.message)
                missing = match[1].rstrip(".") if match else ""
                if missing == base:
                    error.message = f"The repository has no {missing}."
                    error.hint = "Check the base branch in the policy."
                if heads.pop(missing, None) is None:  # git names one missing ref at a time
                    raise

    def deepen(self, base_branch: str) -> None:
        """Fetch the history of the base branch that a shallow clone lacks."""
        if self.git.is_shallow():
            refspec = f"refs/heads/{base_branch}:{BASE}"
            self.git.fetch("origin", refspec, token=self.token, deepens=True)

    def read_heads(self) -> dict[int, str]:
        """Return number → head of every pull request, including closed ones, without an API request."""
        refs = self.git.remote_refs("origin", "refs/pull/*/head", token=self.token)
        return {int(name.split("/")[2]): sha for name, sha in refs.items()}

    def open_branches(
        self, policy: Policy, place: RepositoryContext, numbers: Sequence[int], policy_path: str
    ) -> BranchReader:
        """Fetch the heads of some pull requests, and return a reader of their branches."""
        return BranchReader(
            clone=self.git,
            policy=policy,
            place=place,
            base_sha=self.fetch(policy.base_branch, numbers),
            planner=Planner(self.git, policy),
            policy_path=policy_path,
            groups=find_groups(self.git.refs(QUEUE)),
        )


def open_clone(
    git: Git, place: RepositoryContext, token: str | None, push_token: str | None = None
) -> GitClone | None:
    """Return the clone in the current folder, or None if its `origin` is not this repository."""
    url = (git.origin_url() or "").rstrip("/").removesuffix(".git")
    if not re.search(rf"(^|[/:]){re.escape(place.repository)}$", url, re.IGNORECASE):
        return None
    return GitClone(git, token if url.startswith("https://") else None, push_token)
