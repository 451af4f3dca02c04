"""Check 1: every row of the plan, accuracy runs included, has run to a good end on a commit of the pull request."""

from __future__ import annotations

from infx.bench.identity import IdentifiedRow
from infx.model import Conclusion
from infx.phrases import count
from infx.policy.model import Policy
from infx.policy.paths import is_serving
from infx.signoff.coverage import SweepCoverage, choose_coverage
from infx.signoff.facts import EvidenceRun, SignoffFacts
from infx.signoff.outcome import CheckOutcome, Link, code, failed, name_all, not_applicable, passed, warned


def check_sweep(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """The plan is recomputed from git, and its rows are looked up in the run's jobs by their ids."""
    plan = facts.plan
    if plan is None or plan.problem:
        why = code(plan.problem, 500) if plan and plan.problem else "It was not gathered."
        return failed(f"The plan could not be recomputed from git. {why}")
    if not plan.rows:
        return _nothing_planned(facts)
    coverage = choose_coverage(facts, policy)
    if coverage is None:
        where = "that its approval names" if facts.pull.is_fork else "on a commit of this pull request"
        text = (
            f"There is no run of {code(policy.sweep.workflow)} {where} yet; {_rows(plan.rows)} are planned."
        )
        return failed(text, evidence=_others(facts), is_waiting=True)
    return _judge(coverage, facts, policy)


def _nothing_planned(facts: SignoffFacts) -> CheckOutcome:
    if unmeasured := _find_unmeasured(facts):
        return warned(
            f"Configurations or what serves them change ({name_all(unmeasured)}), but no changelog entry names them, so nothing is measured."
        )
    return not_applicable("The pull request plans no rows.")


def _find_unmeasured(facts: SignoffFacts) -> list[str]:
    """Places of configurations that change, or whose files do, beside those that entries name; one that goes needs
    no measurement.
    """
    entries = facts.plan.entries if facts.plan and facts.plan.rows else ()
    named = {key for entry in entries for key in entry.config_keys}
    return [
        f"{change.after.path}:{change.after.line}" if change.before != change.after else change.key
        for change in facts.configs
        if change.after and change.key not in named
    ]


def _judge(coverage: SweepCoverage, facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    run = coverage.run.run
    link = Link(text=f"run {run.id}", url=run.url)
    total = len(coverage.variant.rows)
    evidence = [
        f"run {run.id} attempt {run.attempt} of {run.path}, head {run.head_sha}, variant {coverage.variant.name}",
        *(f"{row.id} done: {row.text}" for row in coverage.done),
        *(f"{row.id} {job.conclusion}: {row.text} ({job.url})" for row, job in coverage.failed),
        *(f"{row.id} not finished: {row.text}" for row in coverage.running),
        *(f"{row.id} missing: {row.text}" for row in coverage.missing),
        *_others(facts),
    ]
    if coverage.failed:
        rows = name_all(f"{row.id} {row.text}" for row, _ in coverage.failed)
        text = f"{len(coverage.failed)} of {count(total, 'row')} ended badly: {rows}.{_missing(coverage)}"
        return failed(text, link, evidence=evidence)
    if coverage.running or (coverage.missing and not run.is_completed):
        text = f"The sweep is not finished: {len(coverage.done)} of {count(total, 'row')} done."
        return failed(text, link, evidence=evidence, is_waiting=True)
    if coverage.missing:
        text = f"Of {count(total, 'row')}:{_missing(coverage)}"
        return failed(text, link, evidence=evidence, is_waiting=coverage.is_idle)
    return _green(coverage, facts, policy, link, evidence)


def _green(
    coverage: SweepCoverage, facts: SignoffFacts, policy: Policy, link: Link, evidence: list[str]
) -> CheckOutcome:
    done = f"{_rows(coverage.variant.rows)} succeeded on {code(coverage.run.run.head_sha[:12])}."
    ended = coverage.run.run.conclusion
    if coverage.run.run.is_completed and ended is not Conclusion.SUCCESS:
        text = f"{done} The run itself ended with {code(ended or 'nothing')}: a result may be missing or rejected."
        return warned(text, link, evidence=evidence)
    if not coverage.variant.is_complete:
        text = f"This was a {coverage.variant.name} sweep, not a full one: its {done}"
        return warned(text, link, evidence=evidence)
    if coverage.foreign:
        text = f"{done} {count(len(coverage.foreign), 'more row')} of the run {'is' if len(coverage.foreign) == 1 else 'are'} in no plan of this head: {name_all(coverage.foreign)}."
        return warned(text, link, evidence=evidence)
    later = _later_changes(coverage.run, facts, policy)
    if later is None:
        return warned(f"{done} What changed after that commit cannot be seen.", link, evidence=evidence)
    if later:
        text = f"{done} After that commit these files changed, which a row may run: {name_all(later)}."
        return warned(text, link, evidence=evidence)
    if unmeasured := _find_unmeasured(facts):
        text = f"{done} Other configurations or what serves them change ({name_all(unmeasured)}), but no changelog entry names them."
        return warned(text, link, evidence=evidence)
    return passed(f"All {done}", link, evidence=evidence)


def _later_changes(run: EvidenceRun, facts: SignoffFacts, policy: Policy) -> list[str] | None:
    if run.later_paths is None:
        return None
    return [path for path in run.later_paths if path in facts.paths and is_serving(path, policy)]


def _rows(rows: tuple[IdentifiedRow, ...]) -> str:
    evals = sum(bool(row.row.eval_only) for row in rows)
    return f"{count(len(rows), 'row')} ({len(rows) - evals} throughput, {evals} accuracy)"


def _missing(coverage: SweepCoverage) -> str:
    if not coverage.missing:
        return ""
    rows = name_all(f"{row.id} {row.text}" for row in coverage.missing)
    return f" {len(coverage.missing)} have no job in this run: {rows}."


def _others(facts: SignoffFacts) -> list[str]:
    return [
        f"looked at run {found.run.id}: {found.run.path} on {found.run.head_sha}, {found.run.conclusion}"
        for found in facts.runs
    ]
