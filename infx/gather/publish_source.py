"""Read the run whose results are published: its plan from git, its rows from GitHub, its results from its artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from infx.bench.jobs import RowJob
from infx.comments.progress import read_sweep
from infx.errors import InfxError, Problem, UnavailableError
from infx.evidence.rows import FULL
from infx.gather.artifacts import ArtifactPort, download
from infx.gather.reuse_clone import ReuseRevisions
from infx.gather.reuse_runs import find_attempts
from infx.model import Job, Run
from infx.policy.model import Policy
from infx.publish.rows import MeasuredBy, RowSelection, ValidatedResults, make_jobs, validate_results
from infx.records import record
from infx.results.artifact import ReadArtifact
from infx.results.collect import EVALS, POINTS
from infx.reuse.coverage import MergePlan, SourceSweep, map_rows
from infx.reuse.facts import ReuseFacts
from infx.reuse.source import list_sweeps

MAX_PARENTS = 20  # commits of the push that started a sweep


class SourceReader(ArtifactPort, Protocol):
    """The requests that reading a source run makes."""

    def jobs(self, run_id: int, *, every_attempt: bool = False) -> list[Job]: ...


@record
class SourceRuns:
    """A source run and the runs that it completes, newest first, each with what it has swept.

    Attributes:
        base: the commit that the source run's own plan starts from.
    """

    runs: tuple[Run, ...]
    sweeps: tuple[SourceSweep, ...]
    base: str


@dataclass(frozen=True)
class SourceValidator:
    """Validates the results of a source run for a merge."""

    github: SourceReader
    policy: Policy
    revisions: ReuseRevisions

    def find_reused(self, run: Run, facts: ReuseFacts) -> SourceRuns | None:
        """Return the run that is reused, with what was read of it for the decision; None if its plan is unknown."""
        source = next(one for one in facts.runs if one.run.id == run.id)
        git = self.revisions.git
        sweeps = tuple(sweep for sweep in list_sweeps(source) if sweep is not None and sweep.is_known)
        runs = (source.run, *(earlier.run for earlier in source.completes))
        if len(sweeps) < len(runs) or not git.has_commit(source.run.commit):
            return None
        base = git.merge_base(self.revisions.target, source.run.commit)
        return SourceRuns(runs=runs, sweeps=sweeps, base=base)

    def read_own(self, run: Run) -> SourceRuns:
        """Return the merge's own sweep, whose plan starts before the first merge of its push."""
        progress = read_sweep(run, self.github.jobs(run.id, every_attempt=True), self.policy.sweep.job)
        failed = progress.ids - progress.done
        sweep = SourceSweep(kind=FULL, done=tuple(sorted(progress.done)), failed=tuple(sorted(failed)))
        base: str | None = self.revisions.base
        for _ in range(MAX_PARENTS):
            source = SourceRuns(runs=(run,), sweeps=(sweep,), base=base or "")
            if base is None or progress.ids <= {job.id for job in self._plan(source)}:
                break
            base = self.revisions.git.first_parent(base)
        return source

    def _plan(self, source: SourceRuns) -> tuple[RowJob, ...]:
        """Return the source run's own plan. Raises InfxError if it cannot be recomputed."""
        plan = self.revisions.planner.open(source.base, source.runs[0].commit)
        return make_jobs(plan.rows(source.sweeps[0].kind or FULL))

    def validate(self, source: SourceRuns | None, plan: MergePlan, *, is_whole: bool) -> ValidatedResults:
        """Compare the artifacts with the recomputed plan, and return the rows of the merge.

        Args:
            source: None: the source run's own plan is unknown.
            is_whole: every row that the merge plans must have been measured.
        """
        if source is None:
            return ValidatedResults(problems=(_describe_unknown(),))
        try:
            jobs = self._plan(source)
        except UnavailableError:
            raise
        except InfxError as error:
            return ValidatedResults(problems=tuple(error.problems))
        selection = self._select(source, plan, jobs)
        artifacts = self._read_artifacts(selection, source.runs[0])
        return validate_results(selection, artifacts, self.policy.results, is_whole=is_whole)

    def _select(self, source: SourceRuns, plan: MergePlan, jobs: tuple[RowJob, ...]) -> RowSelection:
        places = map_rows(source.sweeps)
        done = [frozenset(sweep.done) for sweep in source.sweeps]
        measured: dict[str, MeasuredBy] = {}
        wanted = [row.id for row in plan.rows]
        for place, run in enumerate(source.runs):
            ids = [row_id for row_id in wanted if places.get(row_id) == place and row_id in done[place]]
            measured |= self._read_measurements(run, ids) if ids else {}
        return RowSelection(
            jobs=jobs,
            holders={row_id: source.runs[place].id for row_id, place in places.items()},
            measured=measured,
            missing=tuple(row_id for row_id in wanted if row_id not in measured),
        )

    def _read_measurements(self, run: Run, ids: list[str]) -> dict[str, MeasuredBy]:
        """Return the attempt in which each row ran last, and when it ended."""
        jobs = self.github.jobs(run.id, every_attempt=True)
        attempts = find_attempts(jobs)
        ends = {
            (name, attempt): job.completed_at
            for job in jobs
            for name, attempt in find_attempts([job]).items()
            if job.completed_at is not None
        }
        return {
            row_id: MeasuredBy(
                run=run.id,
                attempt=attempt,
                commit=run.commit,
                at=ends.get((row_id, attempt)) or run.created_at,
            )
            for row_id in ids
            if (attempt := attempts.get(row_id)) is not None
        }

    def _read_artifacts(self, selection: RowSelection, newest: Run) -> Iterator[ReadArtifact]:
        """Return the results of the source run, then those of rows that only earlier runs hold."""
        for run in (newest.id, *(run for run in selection.runs if run != newest.id)):
            own = selection.find_names(run)
            others = frozenset[str]() if run != newest.id else selection.find_foreign(run)
            wanted = own | {POINTS, EVALS} if run == newest.id else own
            for item in self.github.artifacts(run):
                if item.name in wanted:
                    yield download(self.github, item)
                elif run == newest.id and item.name not in others:
                    yield ReadArtifact(name=item.name)  # only its name matters: it may be of no planned row


def _describe_unknown() -> Problem:
    return Problem(
        rule="publish-plan-unknown",
        message="The plan of the source run cannot be recomputed from its commit.",
        hint="Name a run of a commit that can be planned, or sweep the merge.",
    )
