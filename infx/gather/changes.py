"""Read what a pull request changes from a clone, without a request to GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from infx.changelog.canonicalize import canonicalize
from infx.changelog.keys import ConfigKeys
from infx.changelog.links import PullLinks
from infx.changelog.merge import MergeRefusedError, Sides, merge
from infx.changelog.subject import Context
from infx.changelog.validate import validate
from infx.errors import InfxError, Level, ProblemsError, UnavailableError
from infx.evidence.rows import KindRows, list_kinds
from infx.evidence.trees import find_measured_paths, find_rules
from infx.gather.ports import Clone, PlanMaker
from infx.policy.model import Policy
from infx.reconcile.facts import Changes, RepositoryContext, Resolution
from infx.records import record


@record
class Branch:
    """The branch of a pull request, compared with the base branch."""

    changes: Changes
    conflicts: tuple[str, ...] = ()  # files that a test merge with the base branch's tip cannot merge
    message: str = ""  # of the head commit
    resolution: Resolution | None = None  # a commit that fixes the changelog automatically, if possible


def find_groups(refs: Mapping[str, str]) -> dict[int, tuple[str, ...]]:
    """Return the heads of merge groups by pull request number.

    Args:
        refs: the merge queue's branches for one base branch: `pr-<number>-<base sha>` → head.
    """
    groups: dict[int, tuple[str, ...]] = {}
    for name, sha in sorted(refs.items()):
        if match := re.fullmatch(r"pr-([1-9][0-9]*)-[0-9a-f]{40}", name):
            groups[int(match[1])] = (*groups.get(int(match[1]), ()), sha)
    return groups


@record
class BranchReader:
    """Reads the branches of pull requests from a clone."""

    clone: Clone
    policy: Policy
    place: RepositoryContext
    base_sha: str  # the base branch's tip
    planner: PlanMaker
    policy_path: str  # the policy's path in the repository
    groups: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # number → heads of merge groups

    def read(self, number: int, head_sha: str) -> Branch:
        fork_point = self.clone.merge_base(self.base_sha, head_sha)
        merged = self.clone.test_merge(self.base_sha, head_sha)
        return Branch(
            changes=self._changes(number, fork_point, head_sha),
            conflicts=merged.conflicts,
            message=self.clone.message(head_sha),
            resolution=self._resolve(number, fork_point, head_sha, merged.conflicts, merged.tree),
        )

    def join_base(self, number: int, head_sha: str) -> Resolution | None:
        """Return a merge of the base branch's tip into a head without conflicts, with canonical links.

        None: the head contains the tip, or the merge cannot be made automatically.
        """
        if self.clone.is_ancestor(self.base_sha, head_sha):
            return None
        merged = self.clone.test_merge(self.base_sha, head_sha)
        fork_point, path = self.clone.merge_base(self.base_sha, head_sha), self.policy.changelog
        ancestor, main, own = self.clone.read_many(
            [(sha, path) for sha in (fork_point, self.base_sha, head_sha)]
        )
        if merged.conflicts or own is None or main is None:
            return None
        context = self._context(number)
        sides = Sides(ancestor=ancestor or b"", main=main, other=own)
        try:
            both = main if own == ancestor else own
            if ancestor not in {main, own}:
                both = merge(sides, context.links, number=number).data
            canonical = canonicalize(main, both, context).head
        except (MergeRefusedError, ProblemsError):
            return None
        return self._make_merge(canonical, merged.tree, head_sha)

    def find_current(self, head_sha: str, candidates: Iterable[str]) -> tuple[str, ...]:
        """Return the head, and the candidates whose sweeps still count for the head.

        A sweep still counts if both plans have the same rows and no file that a row may use differs.

        Args:
            candidates: heads that were swept.
        """
        older = [sha for sha in dict.fromkeys(candidates) if sha != head_sha]
        return (head_sha, *(sha for sha in older if self._is_measured_alike(sha, head_sha)))

    def plan(self, head_sha: str) -> tuple[KindRows, ...]:
        """Return the rows of every kind of sweep at a head. Raise InfxError if the head cannot be planned."""
        fork_point = self.clone.merge_base(self.base_sha, head_sha)
        return self.planner.kinds(fork_point, head_sha, list_kinds(self.policy.labels))

    def find_edited_rules(self, sha: str) -> tuple[str, ...] | None:
        """Return workflows and policy files changed between the merge base and a commit; None if unknown."""
        if not self.clone.has_commit(sha):
            return None
        fork_point = self.clone.merge_base(self.base_sha, sha)
        return find_rules(self.clone.changed_paths(fork_point, sha), self.policy_path)

    def is_merged(self, sha: str) -> bool:
        """Return whether the base branch contains a commit."""
        return self.clone.is_ancestor(sha, self.base_sha)

    def _is_measured_alike(self, sha: str, head_sha: str) -> bool:
        clone = self.clone
        if not (clone.has_commit(sha) and clone.is_ancestor(sha, head_sha)):
            return False
        if find_measured_paths(clone.changed_paths(sha, head_sha), self.policy):
            return False
        entries = self._entries(sha)
        if entries is None or entries != self._entries(head_sha):
            return False
        try:
            return self.plan(sha) == self.plan(head_sha)
        except UnavailableError:
            raise
        except InfxError:
            return False  # one of the two cannot be planned

    def _changes(self, number: int, fork_point: str, head_sha: str) -> Changes:
        path, masters = self.policy.changelog, self.policy.master_configs
        before, after, *files = self.clone.read_many(
            [(fork_point, path), *((head_sha, name) for name in (path, *masters))]
        )
        present = [(name, data) for name, data in zip(masters, files, strict=True) if data is not None]
        context = self._context(number, ConfigKeys(files=tuple(present)) if present else None)
        verdict = validate(before, after, context)
        return Changes(
            paths=tuple(self.clone.changed_paths(fork_point, head_sha)),
            problems=tuple(problem for problem in verdict.problems if problem.level is Level.ERROR),
            entries=len(verdict.blocks),
        )

    def _context(self, number: int | None, configs: ConfigKeys | None = None) -> Context:
        policy = self.policy
        links = PullLinks(
            server=policy.pr_link.server,
            repository=self.place.repository,
            placeholders=policy.pr_link.placeholders,
            former_names=policy.former_names,
        )
        base = f"origin/{policy.base_branch}"
        return Context(path=policy.changelog, links=links, number=number, configs=configs, base_name=base)

    def _entries(self, sha: str) -> object:
        """Return what a revision adds to the changelog, without lines and links; None if it is invalid."""
        fork_point = self.clone.merge_base(self.base_sha, sha)
        path = self.policy.changelog
        before, after = self.clone.read_many([(fork_point, path), (sha, path)])
        verdict = validate(before, after, self._context(None))
        return ([block.meaning for block in verdict.blocks], verdict.corrected) if verdict.ok else None

    def _resolve(
        self, number: int, fork_point: str, head_sha: str, conflicts: tuple[str, ...], tree: str
    ) -> Resolution | None:
        """Return the commit that merges the changelog or makes its links canonical, if possible."""
        path = self.policy.changelog
        if conflicts not in {(), (path,)}:
            return None
        versions = [(fork_point, path), (self.base_sha, path), (head_sha, path)]
        ancestor, main, own = self.clone.read_many(versions)
        context = self._context(number)
        try:
            if conflicts:
                sides = Sides(ancestor=ancestor or b"", main=main or b"", other=own or b"")
                merged = merge(sides, context.links, number=number).data
                return self._make_merge(merged, tree, head_sha)
            canonical = canonicalize(ancestor, own, context).head if own is not None else None
        except (MergeRefusedError, ProblemsError):
            return None
        if canonical is None or canonical == own:
            return None
        return Resolution(changelog=canonical, tree=head_sha, parents=(head_sha,))

    def _make_merge(self, changelog: bytes, tree: str, head_sha: str) -> Resolution:
        """Return the merge of the base branch's tip into a head."""
        fork_point = self.clone.merge_base(self.base_sha, head_sha)
        base_changes = self.clone.changed_paths(fork_point, self.base_sha)
        keeps = not find_measured_paths(base_changes, self.policy)
        return Resolution(
            changelog=changelog, tree=tree, parents=(head_sha, self.base_sha), keeps_sweep=keeps
        )
