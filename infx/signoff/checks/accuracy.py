"""Check 2: every accuracy run of the plan reached its threshold, with the planned image."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from infx import schema, yaml12
from infx.bench.identity import IdentifiedRow
from infx.errors import InfxError, ProblemsError
from infx.phrases import count, join_some
from infx.policy.model import Policy
from infx.policy.results import ResultRules
from infx.records import record
from infx.results.identity import plan_identity
from infx.rowfile.thresholds import MIN_SCORE
from infx.signoff.coverage import SweepCoverage, choose_coverage
from infx.signoff.facts import EvalScore, SignoffFacts
from infx.signoff.outcome import CheckOutcome, Link, code, failed, name_all, not_applicable, passed, warned


@record
class Thresholds:
    """The least scores that accuracy runs must reach, from 0 to 1."""

    tasks: Mapping[str, float]
    models: Mapping[str, Mapping[str, float]]  # model prefix → task → score; beats `tasks`

    def find_bar(self, model_prefix: str, task: str) -> float:
        own = self.models.get(model_prefix, {})
        return own.get(task, self.tasks.get(task, MIN_SCORE))


def parse_thresholds(text: str, path: str) -> Thresholds:
    """Parse a thresholds file. Raises ProblemsError if it does not match the schema."""
    document = yaml12.load_mapping(text.encode(), path)
    if problems := schema.check("eval-thresholds", document):
        raise ProblemsError(problems)
    value: Any = document.value
    return Thresholds(tasks=value.get("default", {}), models=value.get("models", {}))


def _parse_bars(text: str | None, path: str) -> Thresholds:
    # Without a file every task has the default threshold.
    return Thresholds(tasks={}, models={}) if text is None else parse_thresholds(text, path)


def check_accuracy(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Compare scores with the base branch's thresholds. A changed threshold in use is a WARN that shows both values."""
    plan = facts.plan
    if plan is None or plan.problem:
        return failed("Without a plan, the required accuracy runs are unknown.")
    coverage = choose_coverage(facts, policy)
    rows = [row for row in (coverage.variant.rows if coverage else plan.rows) if row.row.eval_only]
    if not rows:
        return not_applicable("The plan has no accuracy runs.")
    if coverage is None:
        return failed(f"{count(len(rows), 'accuracy run')} planned, none has run yet.", is_waiting=True)
    if facts.thresholds is None:
        return failed(f"{code(policy.eval_thresholds)} was not read, so there is no threshold.")
    try:
        bars = _parse_bars(facts.thresholds.base, facts.thresholds.path)
    except InfxError as error:
        return failed(f"The thresholds cannot be read: {code(error.message, 300)}.")
    return _judge(facts, coverage, rows, bars, policy)


def _judge(
    facts: SignoffFacts, coverage: SweepCoverage, rows: list[IdentifiedRow], bars: Thresholds, policy: Policy
) -> CheckOutcome:
    run = coverage.run.run
    link = Link(text=f"run {run.id}", url=run.url)
    results = facts.results
    if results is None or results.run_id != run.id or not results.has_scores:
        text = f"Run {run.id} has no collected accuracy results."
        return failed(text, link, is_waiting=not run.is_completed or coverage.is_idle)
    if results.problems:
        return failed(f"The accuracy results cannot be read: {code(results.problems[0], 300)}.", link)
    faults: list[str] = []
    evidence: list[str] = []
    used: list[EvalScore] = []
    for row in rows:
        scores = _find_scores(row, results.scores)
        faults += _find_missing(row, scores)
        for score in scores:
            used.append(score)
            fault = _find_fault(row, score, bars, policy.results)
            bar = bars.find_bar(row.recipe.model_prefix, score.task)
            evidence.append(
                f"{row.id} {score.task} c{score.conc}: {score.value} (threshold {bar}) {fault or 'ok'}"
            )
            faults += [f"{code(row.text)}: {fault}"] if fault else []
    if faults:
        return failed(f"{join_some(faults, 4, separator='; ')}.", link, evidence=evidence)
    verb = "is" if len(used) == 1 else "are"
    text = (
        f"{count(len(used), 'score')} of {count(len(rows), 'accuracy run')} {verb} at or above the threshold."
    )
    if notes := list(_list_notes(facts, rows, used, bars)):
        return warned(" ".join([*notes, text]), link, evidence=evidence)
    return passed(text, link, evidence=evidence)


def _list_notes(
    facts: SignoffFacts, rows: list[IdentifiedRow], scores: list[EvalScore], bars: Thresholds
) -> Iterator[str]:
    """Return what needs human review although every score reaches its threshold."""
    if changed := list(_find_changed_bars(facts, rows, scores, bars)):
        yield f"The pull request changes thresholds ({name_all(changed)}); those of the base branch apply."
    if unknown := [score for score in scores if score.samples is None or score.original is None]:
        tasks = name_all(sorted({score.task for score in unknown}))
        yield f"The task's number of samples is unknown for {count(len(unknown), 'score')} ({tasks})."


def _find_scores(row: IdentifiedRow, scores: tuple[EvalScore, ...]) -> list[EvalScore]:
    return [score for score in scores if score.row_id == row.id]


def _find_missing(row: IdentifiedRow, scores: list[EvalScore]) -> Iterator[str]:
    measured = [score.conc for score in scores if score.conc is not None]
    absent = [conc for conc in row.row.eval_concs if conc not in measured]
    if not scores:
        yield f"{code(row.text)} has no score"
    elif absent:
        yield f"{code(row.text)} has no score at concurrency {', '.join(map(str, absent))}"
    if extra := sorted({conc for conc in measured if conc not in row.row.eval_concs}):
        yield f"{code(row.text)} has unplanned scores at concurrency {', '.join(map(str, extra))}"
    if len({(score.task, score.conc) for score in scores}) < len(scores):
        yield f"{code(row.text)} has several scores for one task; which one counts is ambiguous"


def _find_fault(row: IdentifiedRow, score: EvalScore, bars: Thresholds, rules: ResultRules) -> str | None:
    task = code(score.task)
    if not score.is_sound or score.value is None or not math.isfinite(score.value):
        return f"{task} broke down and has no usable score"
    if not 0 <= score.value <= 1:
        return f"{task} has the score {score.value:g}, which is not between 0 and 1"
    if score.samples is not None and score.samples <= 0:
        return f"{task} counted no samples"
    if fault := rules.find_sample_fault(score.samples or 0, score.original):
        return f"{task}: {fault}"
    planned = plan_identity(row.row)
    for name, reported in score.identity.items():
        expected = planned.get(name, ())
        if reported not in expected:
            plan = name_all(expected) or "nothing"
            return f"{task} ran with the {name} {code(reported)}, the plan says {plan}"
    bar = bars.find_bar(row.recipe.model_prefix, score.task)
    return f"{task} reached {score.value:.4g}, below {bar:g}" if score.value < bar else None


def _find_changed_bars(
    facts: SignoffFacts, rows: list[IdentifiedRow], scores: list[EvalScore], bars: Thresholds
) -> Iterator[str]:
    """Return `task of model: 0.94 → 0.9` for each threshold that was used and differs at the head."""
    judged = facts.thresholds
    if judged is None or not judged.is_changed:
        return
    try:
        head = _parse_bars(judged.head, judged.path)
    except InfxError:
        yield f"{judged.path} cannot be read at the head"
        return
    for task, prefix in sorted(
        {(s.task, row.recipe.model_prefix) for s in scores for row in rows if s.row_id == row.id}
    ):
        before, after = bars.find_bar(prefix, task), head.find_bar(prefix, task)
        if before != after:
            yield f"{task} of {prefix}: {before:g} → {after:g}"
