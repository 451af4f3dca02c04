"""Start the workflow that publishes for recent merges that it has not dealt with.

A merge by a workflow's own token starts no run, and a run may have been lost. Two dispatches do no harm: the workflow runs
one at a time for a merge, and its second run finds nothing to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from infx.gather.clone import BASE, GitClone
from infx.model import CommitStatus, DispatchedRun, Run
from infx.policy.model import OnMerge, Policy
from infx.publish.delivery import read_delivery
from infx.publish.unpublished import RecentMerge, is_unpublished, select_doubtful

NEWEST_RUNS = 100  # one page
MAX_MERGES = 100


class UnpublishedPort(Protocol):
    """The requests that finding and starting publications makes."""

    def runs(
        self,
        *,
        workflow: str | None = None,
        event: str | None = None,
        branch: str | None = None,
        newest: int | None = None,
    ) -> list[Run]: ...
    def status_log(self, sha: str) -> list[CommitStatus]: ...
    def dispatch_workflow(self, workflow: str, *, ref: str, inputs: Mapping[str, str]) -> DispatchedRun: ...
    def now(self) -> datetime: ...


@dataclass(frozen=True)
class UnpublishedMerges:
    """Recent merges that may not have been published. Nothing is asked if the policy publishes nothing."""

    github: UnpublishedPort
    policy: Policy
    clone: GitClone

    def start(self, *, dry_run: bool) -> list[str]:
        """Start the workflow for each unpublished merge, and return the SHAs."""
        merges = self._find()
        if not dry_run:
            for sha in merges:
                workflow = self.policy.publish.workflow_file
                self.github.dispatch_workflow(workflow, ref=self.policy.base_branch, inputs={"sha": sha})
        return merges

    def _find(self) -> list[str]:
        if self.policy.on_merge is OnMerge.NOTHING:
            return []
        now = self.github.now()
        self.clone.fetch(self.policy.base_branch, [])
        since = now - timedelta(days=self.policy.publish.days)
        changes = self.clone.git.recent_changes(BASE, self.policy.changelog, since)
        merges = [RecentMerge(sha=sha, at=at) for sha, at in changes[:MAX_MERGES]]
        if not merges:
            return []
        runs = self.github.runs(
            workflow=self.policy.publish.workflow_file, branch=self.policy.base_branch, newest=NEWEST_RUNS
        )
        sweeps = self._list_sweeps()
        unpublished = []
        for merge in select_doubtful(merges, runs, sweeps, now):
            delivery = read_delivery(self.github.status_log(merge.sha), self.policy)
            sweep = next((run for run in sweeps if run.head_sha == merge.sha), None)
            if is_unpublished(delivery, sweep):
                unpublished.append(merge.sha)
        return unpublished

    def _list_sweeps(self) -> Sequence[Run]:
        if self.policy.on_merge is not OnMerge.REUSE_OR_SWEEP:
            return ()
        return self.github.runs(
            workflow=self.policy.sweep.workflow_file,
            event="push",
            branch=self.policy.base_branch,
            newest=NEWEST_RUNS,
        )
