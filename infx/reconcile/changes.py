"""What a pull request's commits say about it, read from a clone without asking GitHub anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from infx.changelog.canonicalize import canonicalize
from infx.changelog.keys import Configs
from infx.changelog.links import Links
from infx.changelog.merge import MergeRefusedError, Sides, merge
from infx.changelog.subject import Context
from infx.changelog.validate import validate
from infx.errors import Level, ProblemsError
from infx.policy.model import Policy
from infx.reconcile.facts import Changes, Place, Resolution
from infx.reconcile.ports import Clone


@dataclass(frozen=True, kw_only=True)
class Branch:
    """conflicts: files that a test merge with the base branch's tip cannot merge, as GitHub merges. message: of
    the head commit. resolution: what would put the changelog right without a human, where that can be.
    """

    changes: Changes
    conflicts: tuple[str, ...] = ()
    message: str = ""
    resolution: Resolution | None = None


def find_groups(refs: Mapping[str, str]) -> dict[int, tuple[str, ...]]:
    """refs: the queue's branches of one base branch, `pr-<number>-<sha>` → head; the SHA in a name is its base's."""
    found: dict[int, tuple[str, ...]] = {}
    for name, sha in sorted(refs.items()):
        if match := re.fullmatch(r"pr-([1-9][0-9]*)-[0-9a-f]{40}", name):
            found[int(match[1])] = (*found.get(int(match[1]), ()), sha)
    return found


@dataclass(frozen=True, kw_only=True)
class BranchReader:
    """base_sha: the base branch's tip. groups: number of a queued pull request → heads of its merge groups."""

    clone: Clone
    policy: Policy
    place: Place
    base_sha: str
    groups: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def read(self, number: int, head_sha: str) -> Branch:
        fork_point = self.clone.merge_base(self.base_sha, head_sha)
        merged = self.clone.test_merge(self.base_sha, head_sha)
        return Branch(
            changes=self._changes(number, fork_point, head_sha),
            conflicts=merged.conflicts,
            message=self.clone.message(head_sha),
            resolution=self._resolve(number, fork_point, head_sha, merged.conflicts, merged.tree),
        )

    def find_current(self, head_sha: str, candidates: Iterable[str]) -> tuple[str, ...]:
        """The head, and those of the candidates (heads that were swept) whose sweep still stands for it: whatever
        was pushed since only merged the base branch or made links canonical.
        """
        older = [sha for sha in dict.fromkeys(candidates) if sha != head_sha]
        now = self._fingerprint(head_sha) if older else None
        return (head_sha, *(sha for sha in older if now is not None and self._is_before(sha, head_sha, now)))

    def is_merged(self, sha: str) -> bool:
        """Whether the base branch holds a commit."""
        return self.clone.is_ancestor(sha, self.base_sha)

    def _is_before(self, sha: str, head_sha: str, now: object) -> bool:
        clone = self.clone
        return clone.has_commit(sha) and clone.is_ancestor(sha, head_sha) and self._fingerprint(sha) == now

    def _changes(self, number: int, fork_point: str, head_sha: str) -> Changes:
        path, masters = self.policy.changelog, self.policy.master_configs
        before, after, *files = self.clone.read_many(
            [(fork_point, path), *((head_sha, name) for name in (path, *masters))]
        )
        found = [(name, data) for name, data in zip(masters, files, strict=True) if data is not None]
        context = self._context(number, Configs(tuple(found)) if found else None)
        verdict = validate(before, after, context)
        return Changes(
            paths=tuple(self.clone.changed_paths(fork_point, head_sha)),
            problems=tuple(problem for problem in verdict.problems if problem.level is Level.ERROR),
            entries=len(verdict.blocks),
        )

    def _context(self, number: int | None, configs: Configs | None = None) -> Context:
        policy = self.policy
        links = Links(
            server=policy.pr_link.server,
            repository=self.place.repository,
            placeholders=policy.pr_link.placeholders,
            former_names=policy.former_names,
        )
        base = f"origin/{policy.base_branch}"
        return Context(path=policy.changelog, links=links, number=number, configs=configs, base_name=base)

    def _fingerprint(self, sha: str) -> object:
        """What a revision would bring into the base branch, but for line numbers and links; None: cannot be told."""
        fork_point = self.clone.merge_base(self.base_sha, sha)
        path = self.policy.changelog
        before, after = self.clone.read_many([(fork_point, path), (sha, path)])
        verdict = validate(before, after, self._context(None))
        if not verdict.ok:
            return None
        entries = [block.meaning for block in verdict.blocks]
        return self.clone.patch(fork_point, sha, without=path), entries, verdict.corrected

    def _resolve(
        self, number: int, fork_point: str, head_sha: str, conflicts: tuple[str, ...], tree: str
    ) -> Resolution | None:
        """Both sides of the changelog in order, with canonical links; or the links alone where nothing conflicts."""
        path = self.policy.changelog
        if conflicts not in {(), (path,)}:
            return None
        wanted = [(fork_point, path), (self.base_sha, path), (head_sha, path)]
        ancestor, main, own = self.clone.read_many(wanted)
        context = self._context(number)
        try:
            if conflicts:
                sides = Sides(ancestor=ancestor or b"", main=main or b"", other=own or b"")
                merged = merge(sides, context.links, number=number).data
                return Resolution(changelog=merged, tree=tree, parents=(head_sha, self.base_sha))
            made = canonicalize(ancestor, own, context).head if own is not None else None
        except (MergeRefusedError, ProblemsError):
            return None
        if made is None or made == own:
            return None
        return Resolution(changelog=made, tree=head_sha, parents=(head_sha,))
