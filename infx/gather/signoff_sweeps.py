"""Read the sweeps of a pull request: its runs, their jobs, and the results of the run that counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, TypeVar

from infx.artifacts import read_zip
from infx.errors import UnavailableError
from infx.evidence.proof import find_other_targets
from infx.evidence.runs import find_refusal
from infx.gate.approval import pick_approval
from infx.gather.signoff_clone import Revisions
from infx.model import Artifact, CommitStatus, Job, PullRequest, PullSummary, Run
from infx.policy.model import Policy
from infx.results.artifact import ReadArtifact
from infx.results.collect import EVALS, PLAN, POINTS
from infx.signoff.coverage import choose_coverage, find_candidates, has_rows
from infx.signoff.facts import EvidenceRun, SignoffFacts, SweepResults
from infx.signoff.results import ResultsFaultError, parse_points, parse_scores

_T = TypeVar("_T")

NEWEST_RUNS = 100  # one page
MAX_SWEEPS = 3  # sweeps whose jobs are read, newest first
MAX_RUNS = 6  # runs whose jobs are read, including runs that swept nothing
MAX_ARTIFACT = 20_000_000  # bytes of a zip file


class SweepReader(Protocol):
    def pulls(self, *, state: str = "open", head: str | None = None) -> list[PullSummary]: ...
    def statuses(self, sha: str) -> list[CommitStatus]: ...
    def runs(
        self,
        *,
        workflow: str | None = None,
        event: str | None = None,
        branch: str | None = None,
        newest: int | None = None,
    ) -> list[Run]: ...
    def run(self, run_id: int) -> Run: ...
    def jobs(self, run_id: int, *, every_attempt: bool = False) -> list[Job]: ...
    def artifacts(self, run_id: int, *, name: str | None = None) -> list[Artifact]: ...
    def named_artifacts(self, name: str, *, since: datetime) -> list[Artifact]: ...
    def download_artifact(self, artifact_id: int, *, limit: int) -> bytes: ...


@dataclass(frozen=True)
class Sweeps:
    github: SweepReader
    revisions: Revisions
    policy: Policy
    policy_path: str

    def add(self, facts: SignoffFacts) -> SignoffFacts:
        """Return facts that have a plan with runs and results added."""
        facts = replace(facts, approved_run=self._find_approved_run(facts.pull))
        facts = self._add_jobs(replace(facts, runs=tuple(self._list_runs(facts))))
        if not facts.pull.is_fork and not self._is_green(facts):
            facts = self._add_dispatched(facts)
        return replace(facts, results=self._read_results(facts))

    def _is_green(self, facts: SignoffFacts) -> bool:
        coverage = choose_coverage(facts, self.policy)
        return coverage is not None and coverage.is_green and coverage.variant.is_complete

    def _add_dispatched(self, facts: SignoffFacts) -> SignoffFacts:
        """Add the runs that were dispatched on the target branch for this head."""
        workflow, base = self.policy.sweep.workflow_file, self.policy.base_branch
        listed = self.github.runs(
            workflow=workflow, event="workflow_dispatch", branch=base, newest=NEWEST_RUNS
        )
        known = {evidence.run.id for evidence in facts.runs}
        dispatched = tuple(
            EvidenceRun(run=run, later_paths=None, edited_rules=None)
            for run in listed
            if run.id not in known and find_refusal(run, facts.pull, self.policy) is None
        )
        return self._add_jobs(replace(facts, runs=(*facts.runs, *dispatched)), known) if dispatched else facts

    def _find_approved_run(self, pull: PullRequest) -> int | None:
        """Return the run that the approval of a fork's head links, which is the fork's only sweep."""
        if not pull.is_fork:
            return None
        approval = pick_approval(pull.head_sha, self.github.statuses(pull.head_sha), self.policy)
        return approval.run_id if approval else None

    def _list_runs(self, facts: SignoffFacts) -> list[EvidenceRun]:
        """Return the runs of a pull request, before their jobs and changes are read."""
        if facts.approved_run is not None:
            runs = [self.github.run(facts.approved_run)]
        elif facts.pull.is_fork:
            runs = []
        else:
            workflow = self.policy.sweep.workflow_file
            runs = self.github.runs(workflow=workflow, branch=facts.pull.head_ref, newest=NEWEST_RUNS)
        # None: unknown, so nothing counts as unchanged.
        return [EvidenceRun(run=run, later_paths=None, edited_rules=None) for run in runs]

    def _add_jobs(self, facts: SignoffFacts, known: Collection[int] = ()) -> SignoffFacts:
        """Read the jobs of the newest runs that may count, until one run covers the whole plan.

        Args:
            known: runs that were read before.
        """
        sweeps = 0
        unread = [run for run in find_candidates(facts, self.policy) if run.run.id not in known]
        candidates = self._sort_by_promise(unread)[:MAX_RUNS]
        others = self._list_pulls_of_branch(facts.pull) if candidates else []
        for candidate in candidates:
            evidence = self._read_run(candidate.run, facts, others)
            facts = replace(facts, runs=tuple(evidence if run is candidate else run for run in facts.runs))
            coverage = choose_coverage(facts, self.policy)
            sweeps += has_rows(evidence)
            if sweeps == MAX_SWEEPS or (coverage and coverage.is_green):
                break
        return facts

    def _sort_by_promise(self, candidates: Sequence[EvidenceRun]) -> list[EvidenceRun]:
        """Return the candidates, newest first; if there are many, those with a plan come first."""
        if len(candidates) <= MAX_SWEEPS:
            return list(candidates)
        # Every label starts a run, and most of these runs sweep nothing.
        since = min(candidate.run.created_at for candidate in candidates)
        planned = {artifact.run_id for artifact in self.github.named_artifacts(PLAN, since=since)}
        return sorted(candidates, key=lambda candidate: candidate.run.id not in planned)

    def _list_pulls_of_branch(self, pull: PullRequest) -> list[PullSummary]:
        """Return the pull requests of the same branch, including closed ones."""
        if pull.is_fork:
            return []
        owner = pull.base_repository.partition("/")[0]
        return self.github.pulls(state="all", head=f"{owner}:{pull.head_ref}")

    def _read_run(self, run: Run, facts: SignoffFacts, others: Sequence[PullSummary]) -> EvidenceRun:
        """Read the jobs of a run, and what its commit and its workflow differ in."""
        jobs = tuple(self.github.jobs(run.id, every_attempt=True))
        if facts.pull.is_fork:  # dispatched: the target branch's workflow ran on the approved head
            return EvidenceRun(run=run, jobs=jobs)
        # Other runs use the workflow of their own commit or, for a pull request, of a merge with its target.
        # If the branch has several pull requests, the target of a run is unknown.
        edited = self.revisions.find_edited_rules(run.head_sha, self.policy_path)
        other_targets = find_other_targets(others, facts.pull, run) if run.event == "pull_request" else ()
        return EvidenceRun(
            run=run,
            jobs=jobs,
            later_paths=self.revisions.find_later_paths(run.commit),
            edited_rules=None if edited is None else edited + other_targets,
        )

    def _read_results(self, facts: SignoffFacts) -> SweepResults | None:
        """Return the results of the run that is the evidence, once it has ended."""
        coverage = choose_coverage(facts, self.policy)
        if coverage is None or not coverage.run.run.is_completed:
            return None
        run_id = coverage.run.run.id
        artifacts = {  # requested by name, because a run also has an artifact for each row
            artifact.name: artifact
            for name in (EVALS, POINTS)
            for artifact in self.github.artifacts(run_id, name=name)
            if artifact.run_id == run_id and not artifact.expired
        }
        problems: list[str] = []
        latency = self.policy.signoff.agentic_latency
        scores = self._read(artifacts.get(EVALS), parse_scores, problems)
        points = self._read(artifacts.get(POINTS), lambda found: parse_points(found, latency), problems)
        return SweepResults(
            run_id=run_id,
            has_scores=scores is not None,
            has_points=points is not None,
            scores=scores or (),
            points=points or (),
            problems=tuple(problems),
        )

    def _read(
        self, artifact: Artifact | None, read: Callable[[ReadArtifact], tuple[_T, ...]], problems: list[str]
    ) -> tuple[_T, ...] | None:
        """Return the rows of a collected artifact, if there is one; append its faults to `problems`."""
        if artifact is None:
            return None
        if artifact.size > MAX_ARTIFACT:
            problems.append(
                f"The artifact {artifact.name} has {artifact.size:,} bytes; the limit is {MAX_ARTIFACT:,}."
            )
            return ()
        try:
            data = self.github.download_artifact(artifact.id, limit=MAX_ARTIFACT)
            contents = read_zip(artifact.name, data)
            if contents.fault is not None and len(data) != artifact.size:
                raise UnavailableError(
                    f"The download of the artifact {artifact.name} is broken: {contents.fault}."
                )
            return read(contents)
        except ResultsFaultError as error:
            problems.append(str(error))
            return ()
