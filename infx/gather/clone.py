"""A clone of the repository whose `infx` refs mirror the base branch and the pull requests."""

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
    """A clone of the repository; `infx` refs in it mirror the base branch and the pull requests.

    token: to fetch. push_token: for what is pushed, of an App, whose pushes start workflows; None: nothing is pushed.
    """

    git: Git
    token: str | None = None
    push_token: str | None = None

    def fetch(self, base_branch: str, numbers: Sequence[int]) -> str:
        """Bring the base branch and the heads, as far as they are there; returns the base branch's tip."""
        base = f"refs/heads/{base_branch}"
        queue = f"refs/heads/gh-readonly-queue/{base_branch}/*:{QUEUE}/*"
        heads = {f"refs/pull/{number}/head": f"refs/infx/pull/{number}" for number in numbers}
        while True:
            wanted = [f"{head}:{here}" for head, here in heads.items()]
            try:
                self.git.fetch("origin", f"{base}:{BASE}", queue, *wanted, token=self.token)
                return self.git.commit(BASE)
            except GitError as error:
                found = re.search(r"couldn't find remote ref (\S+)", error.message)
                missing = found[1].rstrip(".") if found else ""
                if missing == base:
                    error.message = f"The repository has no {missing}."
                    error.hint = "Is that the policy's base branch?"
                if heads.pop(missing, None) is None:  # git names one at a time
                    raise

    def heads(self) -> dict[int, str]:
        """Return number → head of every pull request, closed ones too, without a request to the API."""
        refs = self.git.remote_refs("origin", "refs/pull/*/head", token=self.token)
        return {int(name.split("/")[2]): sha for name, sha in refs.items()}

    def open_branches(
        self, policy: Policy, place: RepositoryContext, numbers: Sequence[int], policy_path: str
    ) -> BranchReader:
        """Fetch the heads of some pull requests, and return what reads them."""
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
    """The clone that we stand in, if its `origin` is this repository."""
    url = (git.origin_url() or "").rstrip("/").removesuffix(".git")
    if not re.search(rf"(^|[/:]){re.escape(place.repository)}$", url, re.IGNORECASE):
        return None
    return GitClone(git, token if url.startswith("https://") else None, push_token)
