"""Which run of a pull request serves as a merge's sweep: the search over its runs, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from infx.bench.job_names import parse_job_name
from infx.comments.progress import read_sweep
from infx.evidence.rows import FULL, KindRows, SweepKind
from infx.gather.reuse_clone import ReuseRevisions
from infx.model import Artifact, Conclusion, Job, PullRequest, Run
from infx.policy.model import Policy
from infx.reuse.coverage import SourceSweep, compute_coverage
from infx.reuse.decide import find_request
from infx.reuse.facts import EarlierRun, ReuseFacts, SourceArtifact, SourceRun
from infx.reuse.source import find_pin_fault, find_plan_fault, find_result_fault, find_run_fault, list_sweeps

NEWEST_RUNS = 300  # of the head branch
NEWEST_DISPATCHES = 100  # of all pull requests
MAX_COMPLETED = 5  # follow-up sweeps that build on each other
MAX_LOOKED = 10  # runs whose artifacts are listed
MAX_SWEPT = 3  # runs whose rows are read


class RunReader(Protocol):
    """The requests that the search makes; all of them only read."""

    def target_changes(self, number: int) -> list[datetime]: ...
    def runs(
        self,
        *,
        workflow: str | None = None,
        event: str | None = None,
        branch: str | None = None,
        newest: int | None = None,
    ) -> list[Run]: ...
    def find_run(self, run_id: int) -> Run | None: ...
    def jobs(self, run_id: int, *, every_attempt: bool = False) -> list[Job]: ...
    def artifacts(self, run_id: int) -> list[Artifact]: ...


@dataclass
class RunSearch:
    """The search for the run that serves, newest first.

    Attributes:
        looked: runs whose artifacts were listed.
        swept: runs whose rows were read.
    """

    github: RunReader
    policy: Policy
    facts: ReuseFacts
    pull: PullRequest
    revisions: ReuseRevisions | None
    looked: int = 0
    swept: int = 0
    _moved: list[datetime] | None = None

    def run(self) -> ReuseFacts:
        """Return the facts with the candidates that were looked at."""
        if self.facts.plan.problem is None and not self.facts.plan.rows:
            return self.facts
        command = find_request(self.facts.pulls[0], self.facts, self.policy)
        assert command is not None, "decided before"
        if command.run_id is None:
            return self._find_newest(self._list_runs())
        run = self.github.find_run(command.run_id)
        if run is None:
            return self.facts
        return replace(self.facts, runs=(self._examine(self._make_source(run, {})),))

    def read_completed(self, run_id: int) -> ReuseFacts:
        """Return the facts with a run that a follow-up sweep completes, and with the artifacts of all its rows."""
        run = self.github.find_run(run_id)
        if run is None:
            return self.facts
        source = self._make_source(run, {})
        if not self._has_fault(source):
            source = self._read_sweeps(replace(source, artifacts=self._list_artifacts(run)))
            earlier = [replace(one, artifacts=self._list_artifacts(one.run)) for one in source.completes]
            source = replace(source, completes=tuple(earlier))
        return replace(self.facts, runs=(source,))

    def _list_runs(self) -> list[Run]:
        if self.pull.is_fork:
            ids = dict.fromkeys(one.run_id for one in self.facts.approvals if one.run_id is not None)
            runs = [self.github.find_run(run_id) for run_id in ids]
            return sorted((run for run in runs if run is not None), key=_order, reverse=True)
        return self.github.runs(
            workflow=self.policy.sweep.workflow_file,
            event="pull_request",
            branch=self.pull.head_ref,
            newest=NEWEST_RUNS,
        )

    def _list_follow_ups(self) -> list[Run]:
        runs = self.github.runs(
            workflow=self.policy.sweep.workflow_file,
            event="workflow_dispatch",
            branch=self.policy.base_branch,
            newest=NEWEST_DISPATCHES,
        )
        return [
            run
            for run in runs
            if run.completes and run.dispatched_for and run.dispatched_for[0] == self.pull.number
        ]

    def _make_source(self, run: Run, known: Mapping[int, Run]) -> SourceRun:
        """Return a run with the runs that it completes. known: runs that were listed, by id."""
        earlier: list[EarlierRun] = []
        newest = run
        while newest.completes and newest.completes < newest.id and len(earlier) < MAX_COMPLETED:
            completed = known.get(newest.completes) or self.github.find_run(newest.completes)
            if completed is None:
                break
            earlier.append(EarlierRun(run=completed))
            newest = completed
        return SourceRun(run=run, completes=tuple(earlier))

    def _find_newest(self, runs: Sequence[Run]) -> ReuseFacts:
        """Look at green runs until one serves, and if none does, at others that a command may name."""
        known = {run.id: run for run in runs}
        everything = sorted([*runs, *self._list_follow_ups()], key=_order, reverse=True)
        sources = [self._make_source(run, known) for run in everything]
        has_older = len(runs) == NEWEST_RUNS
        for place, source in enumerate(sources):
            if source.run.conclusion is not Conclusion.SUCCESS or self._has_fault(source):
                continue
            if self.looked == MAX_LOOKED or self.swept == MAX_SWEPT:
                sources, has_older = sources[:place], True
                break
            sources[place] = self._examine(source)
            if self._serves(sources[place]):
                return replace(self.facts, runs=tuple(sources[: place + 1]))
        self.swept = self.looked = 0
        for place, source in enumerate(sources):
            if (
                source.artifacts is None
                and not self._has_fault(source)
                and self.swept < MAX_SWEPT > self.looked
            ):
                sources[place] = self._examine(source)
        return replace(self.facts, runs=tuple(sources), has_older_runs=has_older)

    def _has_fault(self, source: SourceRun) -> bool:
        return find_run_fault(source, self.facts, self.policy) is not None

    def _serves(self, source: SourceRun) -> bool:
        if find_result_fault(source) or find_plan_fault(source) or find_pin_fault(source, self.policy):
            return False
        coverage = compute_coverage(self.facts.plan, *list_sweeps(source))
        return coverage is not None and coverage.is_complete

    def _examine(self, source: SourceRun) -> SourceRun:
        """Read what a run left and what it swept, as far as nothing rules the run out."""
        if self._has_fault(source):
            return source
        self.looked += 1
        source = replace(source, artifacts=self._list_artifacts(source.run))
        if find_result_fault(source) is not None:
            return source
        self.swept += 1
        return self._read_sweeps(source)

    def _list_artifacts(self, run: Run) -> tuple[SourceArtifact, ...]:
        listed = self.github.artifacts(run.id)
        return tuple(SourceArtifact(name=item.name, expired=item.expired) for item in listed)

    def _read_sweeps(self, source: SourceRun) -> SourceRun:
        """Read what a run has swept, and what the runs have that it completes."""
        if self.revisions is None:
            return source
        sweeps: list[SourceSweep] = []
        ids: frozenset[str] = frozenset()
        for run in (*(earlier.run for earlier in reversed(source.completes)), source.run):
            sweeps.insert(0, self._read_sweep(run, self.revisions, ids))
            ids |= {*sweeps[0].done, *sweeps[0].failed}
        earlier = [replace(one, sweep=sweep) for one, sweep in zip(source.completes, sweeps[1:], strict=True)]
        return replace(source, sweep=sweeps[0], completes=tuple(earlier))

    def _read_sweep(self, run: Run, revisions: ReuseRevisions, earlier: frozenset[str]) -> SourceSweep:
        """Read what a run has swept. earlier: ids of the rows that its results repeat."""
        jobs = self.github.jobs(run.id, every_attempt=True)
        progress = read_sweep(run, jobs, self.policy.sweep.job)
        kinds = revisions.find_kinds(run.commit)
        kind = None if kinds is None else _find_kind(progress.ids | earlier, kinds)
        known = frozenset[str]().union(*(rows.ids for rows in kinds or ()))
        sweep = SourceSweep(
            kind=kind,
            foreign=() if kinds is None else tuple(sorted(progress.ids - known)),
            done=tuple(sorted(progress.done)),
            failed=tuple(sorted(progress.ids - progress.done)),
            attempts={row_id: number for row_id, number in find_attempts(jobs).items() if number > 1},
            edits=self._find_edits(run, revisions),
        )
        if not sweep.is_known:
            return sweep
        return revisions.compare(run.commit).add(sweep, (row.key for row in self.facts.plan.rows))

    def _find_edits(self, run: Run, revisions: ReuseRevisions) -> tuple[str, ...] | None:
        """Find the rules that a run may have followed in the place of the base branch's."""
        if run.event != "pull_request" and run.head_branch == self.policy.base_branch:
            # GitHub shows a tag of the base branch's name in the same way
            return () if revisions.has_base_commit(run.head_sha) else (".github/ outside the base branch",)
        edits = revisions.find_edits(run.commit)
        if edits is None or run.event != "pull_request":
            return edits
        if self._moved is None:
            self._moved = self.github.target_changes(self.pull.number)
        if any(moment >= run.created_at for moment in self._moved):
            return (*edits, ".github/ of an earlier base branch")
        return edits


def find_attempts(jobs: Iterable[Job]) -> dict[str, int]:
    """Return row id → the newest attempt in which the row ran."""
    attempts: dict[str, int] = {}
    for job in jobs:
        if name := parse_job_name(job.name):
            attempts[name.id] = max(job.attempt, attempts.get(name.id, 1))
    return attempts


def _order(run: Run) -> tuple[datetime, int]:
    return run.created_at, run.id


def _find_kind(ids: frozenset[str], kinds: Sequence[KindRows]) -> SweepKind:
    """Return the kind whose rows a run has, else the fullest one that holds them all; a full sweep if none does."""
    for rows in kinds:
        if rows.ids == ids:
            return rows.kind
    return next((rows.kind for rows in kinds if ids <= rows.ids), FULL)
