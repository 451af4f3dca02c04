"""Find the merges of the base branch: those of one push, and recent ones, in a clone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from infx.errors import UnavailableError, UsageError
from infx.gather.clone import BASE
from infx.git import Git
from infx.model import PullSummary
from infx.policy.model import Policy
from infx.publish.facts import PushedMerge

MAX_PUSHED = 20  # commits of one push that are looked at


@dataclass(frozen=True)
class MergeFinder:
    """Finds merges in the history of the base branch, which must have been fetched.

    Attributes:
        list_pulls: returns the pull requests of a commit.
    """

    git: Git
    policy: Policy
    list_pulls: Callable[[str], Sequence[PullSummary]]

    def find_pushed(self, after: str, before: str | None) -> list[PushedMerge]:
        """Return the merges of a push that change the changelog, oldest first.

        Without `before`, only the merge that ends with `after` is returned; it may consist of several commits.
        """
        self._check_branch(after)
        is_known = (
            bool(before) and self.git.has_commit(before or "") and self.git.is_ancestor(before or "", after)
        )
        end = before if is_known else None
        merges: list[PushedMerge] = []
        commit: str | None = after
        for _ in range(MAX_PUSHED):
            if commit is None or commit == end:
                return self._select(merges)
            parent = self.git.first_parent(commit)
            number = None if parent == end and not merges else self._find_pull(commit)
            if merges and number is not None and number == merges[-1].pull:
                merges[-1] = PushedMerge(sha=merges[-1].sha, base=parent or "", pull=number)
            elif merges and end is None:
                return self._select(merges)
            else:
                merges.append(PushedMerge(sha=commit, base=parent or "", pull=number))
            commit = parent
        raise UnavailableError(
            f"The push has more than {MAX_PUSHED} commits.", hint="Publish each merge with --sha."
        )

    def _check_branch(self, sha: str) -> None:
        """Raise UsageError unless a commit is one that the base branch has had as its tip or between two tips."""
        parent = self.git.first_parent(sha) if self.git.has_commit(sha) else None
        bounds = [BASE, *([f"^{parent}"] if parent else [])]
        if parent is None or sha not in self.git.line("rev-list", "--first-parent", *bounds).split():
            raise UsageError(
                f"{sha} is not a merge into {self.policy.base_branch}.",
                hint="Give the SHA of the merge commit, or of the squashed commit.",
            )

    def _find_pull(self, sha: str) -> int | None:
        pulls = [pull for pull in self.list_pulls(sha) if pull.base_ref == self.policy.base_branch]
        return pulls[0].number if len(pulls) == 1 else None

    def _select(self, merges: Sequence[PushedMerge]) -> list[PushedMerge]:
        """Return the merges that change the changelog, oldest first."""
        path = self.policy.changelog
        changed = []
        for merge in reversed(merges):
            before, after = self.git.read_many([(merge.base, path), (merge.sha, path)])
            if before != after:
                changed.append(merge)
        return changed
