"""Check 1: every row of the plan, accuracy runs included, succeeded on a commit of the pull request."""

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
    """Compare the plan, recomputed from git, with the run's jobs, by row id."""
    plan = facts.plan
    if plan is None or plan.problem:
        why = code(plan.problem, 500) if plan and plan.problem else "It was not read."
        return failed(f"The plan could not be recomputed from git. {why}")
    if not plan.rows:
        return _judge_empty_plan(facts)
    coverage = choose_coverage(facts, policy)
    if coverage is None:
        where = "named by its approval" if facts.pull.is_fork else "on a commit of this pull request"
        rows = _count_rows(plan.rows)
        text = f"There is no run of {code(policy.sweep.workflow)} {where} yet; {rows} are planned."
        return failed(text, evidence=_list_runs(facts), is_waiting=True)
    return _judge(coverage, facts, policy)


def _judge_empty_plan(facts: SignoffFacts) -> CheckOutcome:
    if unmeasured := _find_unmeasured(facts):
        return warned(
            f"Configurations or the files that serve them change ({name_all(unmeasured)}), but no changelog entry names them, so nothing is measured."
        )
    return not_applicable("The pull request plans no rows.")


def _find_unmeasured(facts: SignoffFacts) -> list[str]:
    """Return the configurations that change, or whose files change, without a changelog entry.

    A removed configuration needs no measurement.
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
        *_list_runs(facts),
    ]
    if coverage.failed:
        rows = name_all(f"{row.id} {row.text}" for row, _ in coverage.failed)
        text = f"{len(coverage.failed)} of {count(total, 'row')} did not succeed: {rows}.{_render_missing(coverage)}"
        return failed(text, link, evidence=evidence)
    if coverage.running or (coverage.missing and not run.is_completed):
        text = f"The sweep is not finished: {len(coverage.done)} of {count(total, 'row')} done."
        return failed(text, link, evidence=evidence, is_waiting=True)
    if coverage.missing:
        text = _render_missing(coverage).strip()
        return failed(text, link, evidence=evidence, is_waiting=coverage.is_idle)
    return _judge_green(coverage, facts, policy, link, evidence)


def _judge_green(
    coverage: SweepCoverage, facts: SignoffFacts, policy: Policy, link: Link, evidence: list[str]
) -> CheckOutcome:
    done = f"{_count_rows(coverage.variant.rows)} succeeded on {code(coverage.run.run.head_sha[:12])}."
    ended = coverage.run.run.conclusion
    if coverage.run.run.is_completed and ended is not Conclusion.SUCCESS:
        text = f"{done} The run itself ended with {code(ended or 'nothing')}: a result may be missing or rejected."
        return warned(text, link, evidence=evidence)
    if not coverage.variant.is_complete:
        text = f"This was a {coverage.variant.name} sweep, not a full one: its {done}"
        return warned(text, link, evidence=evidence)
    if coverage.unplanned:
        rows = count(len(coverage.unplanned), "unplanned row")
        text = f"{done} The run also has {rows}: {name_all(coverage.unplanned)}."
        return warned(text, link, evidence=evidence)
    later = _find_later_changes(coverage.run, facts, policy)
    if later is None:
        return warned(f"{done} The changes after that commit cannot be read.", link, evidence=evidence)
    if later:
        text = f"{done} These files, which a row may run, changed after that commit: {name_all(later)}."
        return warned(text, link, evidence=evidence)
    if unmeasured := _find_unmeasured(facts):
        text = f"{done} Other configurations or the files that serve them change ({name_all(unmeasured)}), but no changelog entry names them."
        return warned(text, link, evidence=evidence)
    return passed(f"All {done}", link, evidence=evidence)


def _find_later_changes(run: EvidenceRun, facts: SignoffFacts, policy: Policy) -> list[str] | None:
    if run.later_paths is None:
        return None
    return [path for path in run.later_paths if path in facts.paths and is_serving(path, policy)]


def _count_rows(rows: tuple[IdentifiedRow, ...]) -> str:
    evals = sum(bool(row.row.eval_only) for row in rows)
    return f"{count(len(rows), 'row')} ({len(rows) - evals} throughput, {evals} accuracy)"


def _render_missing(coverage: SweepCoverage) -> str:
    if not coverage.missing:
        return ""
    rows = name_all(f"{row.id} {row.text}" for row in coverage.missing)
    total = count(len(coverage.variant.rows), "row")
    return f" {len(coverage.missing)} of {total} did not run: {rows}."


def _list_runs(facts: SignoffFacts) -> list[str]:
    runs = [evidence.run for evidence in facts.runs]
    return [f"read run {run.id}: {run.path} on {run.head_sha}, {run.conclusion}" for run in runs]
