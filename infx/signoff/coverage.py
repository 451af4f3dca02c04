"""Which run of the sweep shows most of the plan: the evidence of checks 1, 2 and 14.

`infx.evidence.runs` says which runs may count at all. Names of checks prove nothing, because anybody can set them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from infx.bench.identity import IdentifiedRow
from infx.bench.jobs import parse_job_name
from infx.evidence.runs import find_refusal
from infx.model import Conclusion, Job
from infx.policy.model import Policy
from infx.signoff.facts import EvidenceRun, PlanVariant, SignoffFacts


@dataclass(frozen=True, kw_only=True)
class SweepCoverage:
    """One run against one variant of the plan. done, failed: the newest attempt of each row; running: not yet
    finished; missing: rows that no job speaks of; foreign: ids of rows that are in no variant of the plan.
    """

    run: EvidenceRun
    variant: PlanVariant
    done: tuple[IdentifiedRow, ...]
    failed: tuple[tuple[IdentifiedRow, Job], ...]
    running: tuple[IdentifiedRow, ...]
    missing: tuple[IdentifiedRow, ...]
    foreign: tuple[str, ...] = ()

    @property
    def is_green(self) -> bool:
        return bool(self.done) and not (self.failed or self.running or self.missing)

    @property
    def is_idle(self) -> bool:
        """Nothing was swept: the gate of such a run has not decided yet, or against it."""
        return not has_rows(self.run)


def find_candidates(facts: SignoffFacts, policy: Policy) -> tuple[EvidenceRun, ...]:
    """Runs that may serve as evidence, newest first."""
    counted = [run for run in facts.runs if _counts(run, facts, policy)]
    return tuple(sorted(counted, key=lambda found: (found.run.created_at, found.run.id), reverse=True))


def _counts(found: EvidenceRun, facts: SignoffFacts, policy: Policy) -> bool:
    if find_refusal(found.run, facts.pull, policy, approved_run=facts.approved_run) is not None:
        return False
    return facts.pull.is_fork or found.run.commit in facts.commits


def choose_coverage(facts: SignoffFacts, policy: Policy) -> SweepCoverage | None:
    """A green run of a complete variant if there is one, else a green trimmed one, else the one that shows most
    of the newest run that has swept anything: every label makes a run, and most of their gates decide against it.
    """
    if facts.plan is None:
        return None
    candidates = find_candidates(facts, policy)
    planned = {row.id for variant in facts.plan.variants for row in variant.rows}
    found = [
        _cover(run, variant, planned)
        for run in candidates
        for variant in facts.plan.variants
        if variant.rows and (variant.is_complete or _is_of(run, variant))
    ]
    for is_complete in (True, False):
        for coverage in found:
            if coverage.is_green and coverage.variant.is_complete is is_complete:
                return coverage
    shown = next((run for run in candidates if has_rows(run)), candidates[0] if candidates else None)
    newest = [coverage for coverage in found if coverage.run is shown]
    return max(newest, key=lambda coverage: (len(coverage.done), coverage.variant.is_complete), default=None)


def has_rows(run: EvidenceRun) -> bool:
    return bool(newest_jobs(run.jobs))


def _is_of(run: EvidenceRun, variant: PlanVariant) -> bool:
    """Whether a run was such a smaller sweep: it has no rows besides. A full one that failed is not a trimmed one."""
    return newest_jobs(run.jobs).keys() <= {row.id for row in variant.rows}


def _cover(run: EvidenceRun, variant: PlanVariant, planned: Set[str]) -> SweepCoverage:
    jobs = newest_jobs(run.jobs)
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
        foreign=tuple(sorted(jobs.keys() - planned)),
    )


def newest_jobs(jobs: Iterable[Job]) -> Mapping[str, Job]:
    """The job of the newest attempt for each row's id; the canary is one of them."""
    newest: dict[str, Job] = {}
    for job in sorted(jobs, key=lambda job: (job.attempt, job.id)):
        if name := parse_job_name(job.name):
            newest[name.id] = job
    return newest
