"""The sweeps of a pull request: which of its runs is the evidence, what their jobs say, and what they left behind."""

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
from infx.results.collect import EVALS, POINTS
from infx.signoff.coverage import choose_coverage, find_candidates, has_rows
from infx.signoff.facts import EvidenceRun, SignoffFacts, SweepResults
from infx.signoff.results import ResultsFaultError, parse_points, parse_scores

_T = TypeVar("_T")

NEWEST_RUNS = 100  # one page
MAX_SWEEPS = 3  # whose jobs are read, newest first
MAX_RUNS = 6  # the same, with those that turn out to have swept nothing
PLAN = "sweep-plan"  # artifact that a sweep starts with
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
        """The facts, which have a plan already, with runs and results."""
        facts = replace(facts, approved_run=self._approved_run(facts.pull))
        facts = self._with_jobs(replace(facts, runs=tuple(self._runs(facts))))
        if not facts.pull.is_fork and not self._is_green(facts):
            facts = self._with_dispatched(facts)
        return replace(facts, results=self._results(facts))

    def _is_green(self, facts: SignoffFacts) -> bool:
        coverage = choose_coverage(facts, self.policy)
        return coverage is not None and coverage.is_green and coverage.variant.is_complete

    def _with_dispatched(self, facts: SignoffFacts) -> SignoffFacts:
        """With the runs that somebody dispatched on the target branch for this head."""
        workflow, base = self.policy.sweep.workflow_file, self.policy.base_branch
        listed = self.github.runs(
            workflow=workflow, event="workflow_dispatch", branch=base, newest=NEWEST_RUNS
        )
        known = {found.run.id for found in facts.runs}
        found = tuple(
            EvidenceRun(run=run, later_paths=None, edited_rules=None)
            for run in listed
            if run.id not in known and find_refusal(run, facts.pull, self.policy) is None
        )
        return self._with_jobs(replace(facts, runs=(*facts.runs, *found)), known) if found else facts

    def _approved_run(self, pull: PullRequest) -> int | None:
        """A fork's sweep is the run that the approval of this very head names."""
        if not pull.is_fork:
            return None
        approval = pick_approval(pull.head_sha, self.github.statuses(pull.head_sha), self.policy)
        return approval.run_id if approval else None

    def _runs(self, facts: SignoffFacts) -> list[EvidenceRun]:
        """Nothing is known of them yet, and so nothing is taken for unchanged."""
        if facts.approved_run is not None:
            runs = [self.github.run(facts.approved_run)]
        elif facts.pull.is_fork:
            runs = []
        else:
            runs = self._branch_runs(facts.pull)
        return [EvidenceRun(run=run, later_paths=None, edited_rules=None) for run in runs]

    def _branch_runs(self, pull: PullRequest) -> list[Run]:
        workflow = self.policy.sweep.workflow_file
        return self.github.runs(workflow=workflow, branch=pull.head_ref, newest=NEWEST_RUNS)

    def _with_jobs(self, facts: SignoffFacts, known: Collection[int] = ()) -> SignoffFacts:
        """Jobs are read of the newest runs that may count, until one of them shows the whole plan. known: runs that
        were read before.
        """
        sweeps = 0
        unread = [found for found in find_candidates(facts, self.policy) if found.run.id not in known]
        candidates = self._by_promise(unread)[:MAX_RUNS]
        others = self._pulls_of_branch(facts.pull) if candidates else []
        for candidate in candidates:
            read = self._read_run(candidate.run, facts, others)
            facts = replace(facts, runs=tuple(read if run is candidate else run for run in facts.runs))
            coverage = choose_coverage(facts, self.policy)
            sweeps += has_rows(read)
            if sweeps == MAX_SWEEPS or (coverage and coverage.is_green):
                break
        return facts

    def _by_promise(self, candidates: Sequence[EvidenceRun]) -> list[EvidenceRun]:
        """Newest first; of many, before the others those that have a plan. Every label makes a run, and most sweep
        nothing.
        """
        if len(candidates) <= MAX_SWEEPS:
            return list(candidates)
        since = min(candidate.run.created_at for candidate in candidates)
        planned = {artifact.run_id for artifact in self.github.named_artifacts(PLAN, since=since)}
        return sorted(candidates, key=lambda candidate: candidate.run.id not in planned)

    def _pulls_of_branch(self, pull: PullRequest) -> list[PullSummary]:
        """Pull requests of the same branch, closed ones too."""
        if pull.is_fork:
            return []
        owner = pull.base_repository.partition("/")[0]
        return self.github.pulls(state="all", head=f"{owner}:{pull.head_ref}")

    def _read_run(self, run: Run, facts: SignoffFacts, others: Sequence[PullSummary]) -> EvidenceRun:
        """A fork's run was dispatched: it runs the target branch's workflow on the approved head. Any other one runs
        the workflow as its own commit has it, dispatched or not; or, for a pull request, as a merge with its target
        has it, and of what is open at the same time nothing tells which one.
        """
        jobs = tuple(self.github.jobs(run.id, every_attempt=True))
        if facts.pull.is_fork:
            return EvidenceRun(run=run, jobs=jobs)
        edited = self.revisions.edited_rules(run.head_sha, self.policy_path)
        foreign = find_other_targets(others, facts.pull, run) if run.event == "pull_request" else ()
        return EvidenceRun(
            run=run,
            jobs=jobs,
            later_paths=self.revisions.later_paths(run.commit),
            edited_rules=None if edited is None else edited + foreign,
        )

    def _results(self, facts: SignoffFacts) -> SweepResults | None:
        coverage = choose_coverage(facts, self.policy)
        if coverage is None or not coverage.run.run.is_completed:
            return None
        run_id = coverage.run.run.id
        artifacts = {  # by name: a run has an artifact for each row as well
            a.name: a
            for name in (EVALS, POINTS)
            for a in self.github.artifacts(run_id, name=name)
            if a.run_id == run_id and not a.expired
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
        """The rows of one collected artifact; None if there is none. What is wrong with it goes to `problems`."""
        if artifact is None:
            return None
        if artifact.size > MAX_ARTIFACT:
            problems.append(
                f"The artifact {artifact.name} has {artifact.size:,} bytes; {MAX_ARTIFACT:,} are read."
            )
            return ()
        try:
            data = self.github.download_artifact(artifact.id, limit=MAX_ARTIFACT)
            found = read_zip(artifact.name, data)
            if found.fault is not None and len(data) != artifact.size:
                raise UnavailableError(f"What came is not the artifact {artifact.name}: {found.fault}.")
            return read(found)
        except ResultsFaultError as error:
            problems.append(str(error))
            return ()
