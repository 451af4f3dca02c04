"""What git tells about reuse: the commits of a pull request, the merge's plan, and what has changed since a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from infx.bench.config import drop_remarks
from infx.bench.identity import row_ids
from infx.errors import InfxError, UnavailableError
from infx.evidence.rows import FULL, KindRows, SweepKind, list_kinds
from infx.evidence.trees import find_measured_paths, find_rules
from infx.gather.clone import BASE
from infx.gather.plan import Planner, RevisionPlan
from infx.gather.signoff_clone import find_serving, may_serve
from infx.git import Git
from infx.matrix.parse import parse_master
from infx.policy.model import Policy
from infx.policy.paths import is_serving, matches_any
from infx.records import record
from infx.reuse.coverage import MergePlan, MergeRow, SourceSweep
from infx.signoff.planned import describe_config


@record
class ReuseRevisions:
    """The commits that a merge is made of; full SHAs.

    Attributes:
        target: the base branch, before the merge if there was one.
        base: what the plan of the merge is compared with.
        head: what the plan of the merge is read from: the merge, or the head of an unmerged pull request.
        pull_head: the head of the pull request.
        policy_path: where the policy is in the repository.
    """

    git: Git
    policy: Policy
    target: str
    base: str
    head: str
    pull_head: str
    policy_path: str

    @cached_property
    def planner(self) -> Planner:
        return Planner(self.git, self.policy)

    @cached_property
    def is_current(self) -> bool:
        """Return whether the head holds all of the base branch, so that the merge brings nothing else."""
        return self.git.is_ancestor(self.target, self.head)

    def has_base_commit(self, sha: str) -> bool:
        """Return whether a commit is in the history of the base branch, as it was fetched last."""
        return self.git.has_commit(sha) and self.git.is_ancestor(sha, BASE)

    def find_commits(self) -> tuple[str, ...]:
        """Return every commit that the pull request brings, oldest first."""
        text = self.git.line("rev-list", "--reverse", self.pull_head, f"^{self.target}")
        return tuple(text.split())

    def plan_merge(self, kind: SweepKind = FULL) -> MergePlan:
        """Plan a sweep of the merge; what is wrong with its files is in `problem`."""
        try:
            plan = self.planner.open(self.base, self.head)
            planned = plan.planned(kind)
        except UnavailableError:
            raise
        except InfxError as error:
            return MergePlan(problem=_describe(error))
        files = self._find_recipes(plan)
        ids = row_ids(one.row for one in planned)
        rows = [
            MergeRow(id=row_id, key=one.key, files=files.get(one.key, ()))
            for row_id, one in zip(ids, planned, strict=True)
        ]
        return MergePlan(rows=tuple(rows))

    def _find_recipes(self, plan: RevisionPlan) -> dict[str, tuple[str, ...]]:
        """Return key → the files that serve the configuration."""
        paths = self.git.list_files(self.head)
        signoff = self.policy.signoff
        return {
            key: tuple(find_serving(paths, describe_config(config), signoff))
            for key, config in plan.inputs.configs.items()
        }

    def find_kinds(self, commit: str) -> tuple[KindRows, ...] | None:
        """Return the rows of every kind of sweep at a commit; None if the commit is missing or cannot be planned."""
        if not self.git.has_commit(commit):
            return None
        try:
            fork = self.git.merge_base(self.target, commit)
            return self.planner.kinds(fork, commit, list_kinds(self.policy.labels))
        except UnavailableError:
            raise
        except InfxError:
            return None

    def find_edits(self, commit: str) -> tuple[str, ...] | None:
        """Return workflows and policy files that a commit changed since it left the base branch; None: unknown."""
        if not self.git.has_commit(commit):
            return None
        fork = self.git.merge_base(self.target, commit)
        return find_rules(self.git.changed_paths(fork, commit), self.policy_path)

    def compare(self, commit: str) -> MeasuredChanges:
        """Return what differs between a commit that git has and the merge."""
        return MeasuredChanges(revisions=self, commit=commit)


@dataclass(frozen=True)
class MeasuredChanges:
    """What differs between a measured commit and the merge, which may not have happened yet."""

    revisions: ReuseRevisions
    commit: str
    _configs: dict[str, Mapping[str, Any]] = field(default_factory=dict, init=False, repr=False)
    _parsed: dict[tuple[bytes | None, ...], Mapping[str, Any]] = field(
        default_factory=dict, init=False, repr=False
    )

    def add(self, sweep: SourceSweep, keys: Iterable[str]) -> SourceSweep:
        """Return the sweep with the changes. keys: the configurations that the merge plans."""
        policy = self.revisions.policy
        changed = find_measured_paths(sorted(self.paths), policy)
        served = self._find_served(changed)
        shared = (path for path in changed if path not in served and is_serving(path, policy))
        return replace(
            sweep,
            changed_keys=tuple(key for key in dict.fromkeys(keys) if self._has_changed(key)),
            changed_files=tuple(path for path in changed if path in served),
            shared_files=tuple(path for path in shared if matches_any(path, policy.comments.paths)),
        )

    @cached_property
    def paths(self) -> frozenset[str]:
        """Return the files that differ, with what the base branch has changed in the meantime."""
        git, by = self.revisions.git, self.revisions
        own = frozenset(git.changed_paths(self.commit, by.head))
        if by.is_current:
            return own
        others = set(git.changed_paths(self.commit, by.target))
        return own | others.intersection(git.changed_paths(self._fork, by.target))

    @cached_property
    def _fork(self) -> str:
        return self.revisions.git.merge_base(self.revisions.target, self.commit)

    def _has_changed(self, key: str) -> bool:
        if self._read_configs(self.commit).get(key) != self._read_configs(self.revisions.head).get(key):
            return True
        if self.revisions.is_current:
            return False
        measured, fork, target = (
            self._read_configs(sha).get(key) for sha in (self.commit, self._fork, self.revisions.target)
        )
        return measured != target != fork

    def _read_configs(self, sha: str) -> Mapping[str, Any]:
        """Return key → the configuration as its file has it. Revisions with equal files are parsed once."""
        if sha not in self._configs:
            paths = self.revisions.policy.master_configs
            contents = tuple(self.revisions.git.read_many([(sha, path) for path in paths]))
            if contents not in self._parsed:
                self._parsed[contents] = _parse_configs(paths, contents)
            self._configs[sha] = self._parsed[contents]
        return self._configs[sha]

    def _find_served(self, paths: Sequence[str]) -> frozenset[str]:
        """Return those of the files that serve some configuration, before the merge or after it."""
        by = self.revisions
        masters = by.policy.master_configs
        served: set[str] = set()
        for sha in dict.fromkeys((self.commit, by.head, by.target)):
            contents = by.git.read_many([(sha, path) for path in masters])
            text = b"\n".join(data for data in contents if data is not None)
            wanted = [
                path for path in paths if path not in served and may_serve(path, text, by.policy.signoff)
            ]
            if not wanted:
                continue
            for path, data in zip(masters, contents, strict=True):
                configs = {} if data is None else parse_master(data, path, only=None).configs
                for config in configs.values():
                    served |= set(find_serving(wanted, describe_config(config), by.policy.signoff))
        return frozenset(served)


def _parse_configs(paths: Sequence[str], contents: Sequence[bytes | None]) -> Mapping[str, Any]:
    files = [
        parse_master(data, path, only=())
        for path, data in zip(paths, contents, strict=True)
        if data is not None
    ]
    return {
        str(key): drop_remarks(value)
        for file in files
        if file.document
        for key, value in file.document.value.items()
    }


def _describe(error: InfxError) -> str:
    return f"the merge cannot be planned: {error.problems[0].message}".rstrip(".")
