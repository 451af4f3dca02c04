"""Choose the sweep run that covers most of the plan: the evidence of checks 1, 2 and 14.

`infx.evidence.runs` decides which runs may count. Check names prove nothing: any workflow can set them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from infx.bench.identity import IdentifiedRow
from infx.bench.job_names import parse_job_name
from infx.evidence.runs import find_refusal
from infx.model import Conclusion, Job
from infx.policy.model import Policy
from infx.records import record
from infx.signoff.facts import EvidenceRun, PlanVariant, SignoffFacts


@record
class SweepCoverage:
    """One run compared with one variant of the plan, by the newest attempt of each row."""

    run: EvidenceRun
    variant: PlanVariant
    done: tuple[IdentifiedRow, ...]
    failed: tuple[tuple[IdentifiedRow, Job], ...]
    running: tuple[IdentifiedRow, ...]
    missing: tuple[IdentifiedRow, ...]  # rows without a job
    unplanned: tuple[str, ...] = ()  # ids of rows in no variant of the plan

    @property
    def is_green(self) -> bool:
        return bool(self.done) and not (self.failed or self.running or self.missing)

    @property
    def is_idle(self) -> bool:
        """Return whether the run has no rows: its gate is still deciding, or decided against a sweep."""
        return not has_rows(self.run)


def find_candidates(facts: SignoffFacts, policy: Policy) -> tuple[EvidenceRun, ...]:
    """Return the runs that may serve as evidence, newest first."""
    usable = [evidence for evidence in facts.runs if _is_usable(evidence, facts, policy)]
    return tuple(
        sorted(usable, key=lambda evidence: (evidence.run.created_at, evidence.run.id), reverse=True)
    )


def _is_usable(evidence: EvidenceRun, facts: SignoffFacts, policy: Policy) -> bool:
    if find_refusal(evidence.run, facts.pull, policy, approved_run=facts.approved_run) is not None:
        return False
    return facts.pull.is_fork or evidence.run.commit in facts.commits


def choose_coverage(facts: SignoffFacts, policy: Policy) -> SweepCoverage | None:
    """Return the coverage that shows most of the plan; None without a plan or a usable run.

    This is a green full sweep, else a green trimmed one, else the newest run with rows.
    """
    if facts.plan is None:
        return None
    candidates = find_candidates(facts, policy)
    planned = {row.id for variant in facts.plan.variants for row in variant.rows}
    coverages = [
        _cover(run, variant, planned)
        for run in candidates
        for variant in facts.plan.variants
        if variant.rows and (variant.is_complete or _is_within(run, variant))
    ]
    for is_complete in (True, False):
        for coverage in coverages:
            if coverage.is_green and coverage.variant.is_complete is is_complete:
                return coverage
    # Every label starts a run, and most of their gates decide against a sweep: skip runs without rows.
    newest_run = next((run for run in candidates if has_rows(run)), candidates[0] if candidates else None)
    newest = [coverage for coverage in coverages if coverage.run is newest_run]
    return max(newest, key=lambda coverage: (len(coverage.done), coverage.variant.is_complete), default=None)


def has_rows(run: EvidenceRun) -> bool:
    return bool(find_newest_jobs(run.jobs))


def _is_within(run: EvidenceRun, variant: PlanVariant) -> bool:
    """Return whether all rows of a run belong to the variant: a failed full sweep is not a trimmed sweep."""
    return find_newest_jobs(run.jobs).keys() <= {row.id for row in variant.rows}


def _cover(run: EvidenceRun, variant: PlanVariant, planned: Set[str]) -> SweepCoverage:
    jobs = find_newest_jobs(run.jobs)
    done, failed, running, missing = [], [], [], []
    for row in variant.rows:
        job = jobs.get(row.id)
        if job is None or job.conclusion is Conclusion.SKIPPED:
            missing.append(row)
        elif job.conclusion is Conclusion.SUCCESS and job.status == "completed":
            done.append(row)
        elif job.status != "completed":
            running.append(row)
        else:
            failed.append((row, job))
    return SweepCoverage(
        run=run,
        variant=variant,
        done=tuple(done),
        failed=tuple(failed),
        running=tuple(running),
        missing=tuple(missing),
        unplanned=tuple(sorted(jobs.keys() - planned)),
    )


def find_newest_jobs(jobs: Iterable[Job]) -> Mapping[str, Job]:
    """Return the newest attempt's job by row id, the canary included."""
    newest: dict[str, Job] = {}
    for job in sorted(jobs, key=lambda job: (job.attempt, job.id)):
        if name := parse_job_name(job.name):
            newest[name.id] = job
    return newest
