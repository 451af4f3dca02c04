"""Merge pull requests as GitHub's button and its API do."""

from __future__ import annotations

from infx.hub.refusal import Refused
from infx.hub.required import RuleActions
from infx.hub.rules import METHODS
from infx.hub.runs import WORKFLOWS
from infx.hub.state import Pull
from infx.hub.world import locked

RULES = "Repository rule violations found"
_NAMES = {"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}


class MergeActions(RuleActions):
    @locked
    def merge_pull(
        self,
        number: int,
        *,
        by: str = "mia",
        method: str = "squash",
        sha: str | None = None,
        title: str | None = None,
        message: str | None = None,
    ) -> str:
        """Merge a pull request as GitHub's button does. Raises Refused as GitHub does."""
        pull = self.state.pulls[number]
        self.compute_merge(pull)
        if not pull.is_open or pull.draft or not pull.mergeable:
            raise Refused(405, "Pull Request is not mergeable")
        if sha is not None and sha != pull.head_sha:
            raise Refused(409, "Head branch was modified. Review and try the merge again.")
        self._check_rules(pull, method)
        base = self.tip(pull.base_ref)
        merged = self.write_merge(pull, base, pull.head_sha, method, by=by, title=title, message=message)
        assert merged is not None, "the pull request is mergeable"
        self.git.update_ref(f"refs/heads/{pull.base_ref}", merged)
        self.close_merged(pull, base, merged, by)
        self.emit_push(self.branch_ref(pull.base_ref), base, merged, by)
        return merged

    def _check_rules(self, pull: Pull, method: str) -> None:
        """Raise Refused if the settings or the base branch's rules do not allow this merge."""
        allowed = set(self.state.methods)
        if method not in allowed:
            raise Refused(405, f"{_NAMES[method]} are not allowed on this repository.")
        for ruleset in self.rulesets_of(pull.base_ref):
            if method not in ruleset.methods:
                raise Refused(405, f"{RULES}\n\n{_NAMES[method]} are not allowed.")
        if self.queue_rule(pull.base_ref) is not None:
            raise Refused(405, f"{RULES}\n\nChanges must be made through the merge queue")
        if (words := self.explain_rules(pull)) is not None:
            has_ruleset = any(known.checks or known.is_strict for known in self.rulesets_of(pull.base_ref))
            raise Refused(405, f"{RULES}\n\n{words}" if has_ruleset else words)

    def write_merge(
        self,
        pull: Pull,
        base: str,
        head: str,
        method: str,
        *,
        by: str,
        title: str | None = None,
        message: str | None = None,
    ) -> str | None:
        """Write the commits that merge `head` into `base`, and return the last; None if they conflict."""
        assert method in METHODS, method
        if method == "rebase":
            return self._write_rebase(base, head, by)
        tree = self.git.test_merge(base, head).tree
        if tree is None:
            return None
        owner = f"{pull.head_owner}/{pull.head_ref}"
        usual = {
            "squash": (f"{pull.title} (#{pull.number})", ""),
            "merge": (f"Merge pull request #{pull.number} from {owner}", pull.title),
        }[method]
        words = (usual[0] if title is None else title, usual[1] if message is None else message)
        parents = (base, head) if method == "merge" else (base,)
        text = "\n\n".join(words).strip()
        return self.git.commit_tree(tree, parents, text, author=by, seconds=self.seconds())

    def _write_rebase(self, base: str, head: str, by: str) -> str | None:
        """Write a copy of each commit of the head that is not a merge."""
        last = base
        for sha in self.git.commits_between(base, head):
            commit = self.git.commit(sha)
            if len(commit.parents) > 1:
                continue
            tree = self.git.test_merge(last, sha).tree
            if tree is None:
                return None
            last = self.git.commit_tree(tree, (last,), commit.message, author=by, seconds=self.seconds())
        return last

    def close_merged(self, pull: Pull, base: str, merged: str, by: str) -> None:
        """Mark a pull request as merged. base: the base branch before the merge."""
        pull.closed_at = pull.merged_at = self.now()
        pull.merged_by, pull.merge_sha, pull.base_sha = by, merged, base
        self.note(pull, "merged", by)
        self.note(pull, "closed", by)
        self.touch(pull)
        self.emit_pull(pull, "closed", by)

    def check_workflow_files(self, base: str, head: str) -> None:
        """Raise the Refused of a token without the permission, if a head changes workflow files."""
        for change in self.git.changes(base, head):
            if change.path.startswith(WORKFLOWS):
                raise Refused(
                    403,
                    f"refusing to allow a GitHub App to create or update workflow `{change.path}` "
                    "without `workflows` permission",
                )
