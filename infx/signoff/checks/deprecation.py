"""Check 7: the plan measures nothing that `configs/models.yaml` has retired as of today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from infx import schema, yaml12
from infx.bench.names import scenario_of, spell_scenario
from infx.errors import InfxError, ProblemsError
from infx.phrases import join_some
from infx.policy.model import Policy
from infx.records import record
from infx.signoff.facts import JudgedFile, SignoffFacts
from infx.signoff.outcome import CheckOutcome, code, failed, name_all, not_applicable, passed, warned


@record
class Model:
    """A model that may be measured."""

    title: str
    scenarios: Mapping[str, date | None]  # name → first day without it; None while active
    precisions: tuple[str, ...] = ()  # empty for any
    deprecated: date | None = None


@record
class Models:
    """The parsed models file."""

    scenarios: Mapping[str, date | None]
    models: Mapping[str, Model]


@dataclass(frozen=True, kw_only=True, order=True)
class Combination:
    """The parts of a row that can be retired."""

    model_prefix: str
    scenario: str
    precision: str

    def __str__(self) -> str:
        return f"{self.model_prefix} {self.scenario} {self.precision}"


def parse_models(text: str, path: str) -> Models:
    """Parse a models file. Raises ProblemsError for a schema mismatch, InfxError for an invalid date."""
    document = yaml12.load_mapping(text.encode(), path)
    if problems := schema.check("models", document):
        raise ProblemsError(problems)
    value: Any = document.value
    return Models(
        scenarios={name: _parse_day(about, path) for name, about in value["scenarios"].items()},
        models={prefix: _parse_model(about, path) for prefix, about in value["models"].items()},
    )


def _parse_model(about: Mapping[str, Any], path: str) -> Model:
    return Model(
        title=about["title"],
        scenarios={name: _parse_day(scenario, path) for name, scenario in about["scenarios"].items()},
        precisions=tuple(about.get("precisions", ())),
        deprecated=_parse_day(about, path),
    )


def _parse_day(about: Mapping[str, Any], path: str) -> date | None:
    text = about.get("deprecated")
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InfxError(f"{text} is not a valid date.", where=path) from None


def check_deprecation(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Judge by the base branch's file. If the pull request's own file differs, both answers are shown."""
    if facts.plan is None or facts.plan.problem:
        return failed("Without a plan, the measured models are unknown.")
    rows = facts.plan.rows
    combinations = sorted(
        {
            Combination(
                model_prefix=row.recipe.model_prefix,
                scenario=spell_scenario(scenario_of(row.recipe)),
                precision=row.recipe.precision,
            )
            for row in rows
        }
    )
    if not combinations:
        return not_applicable("Nothing is measured.")
    if facts.models is None:
        return failed(f"{code(policy.models)} was not read.")
    if facts.models.base is None:
        return _judge_without_base(facts.models, combinations, facts.now)
    try:
        base = parse_models(facts.models.base, facts.models.path)
        head = parse_models(facts.models.head or "", facts.models.path) if facts.models.is_changed else base
    except InfxError as error:
        return failed(f"{code(facts.models.path)} cannot be read: {code(error.message, 300)}.")
    return _judge(combinations, base, head, facts)


def _judge_without_base(models: JudgedFile, combinations: list[Combination], now: datetime) -> CheckOutcome:
    """Judge without a models file on the base branch. A file that the pull request adds is shown."""
    if models.head is None:
        return not_applicable(f"The base branch has no {code(models.path)}, so nothing is retired.")
    try:
        head = parse_models(models.head, models.path)
    except InfxError as error:
        return failed(f"{code(models.path)} cannot be read: {code(error.message, 300)}.")
    today = now.astimezone(UTC).date()
    faults = [(combination, find_fault(combination, head, today)) for combination in combinations]
    shown = [f"{code(combination)}: {fault}" for combination, fault in faults if fault]
    result = join_some(shown, 4, separator="; ") if shown else f"{name_all(combinations)} active"
    return warned(
        f"The base branch has no {code(models.path)}; this pull request adds one. By that file: {result}."
    )


def _judge(combinations: list[Combination], base: Models, head: Models, facts: SignoffFacts) -> CheckOutcome:
    today = facts.now.astimezone(UTC).date()
    faults: list[str] = []
    doubts: list[str] = []
    evidence = [f"judged on {today} by {facts.models.path if facts.models else ''} of the base branch"]
    for combination in combinations:
        before, after = find_fault(combination, base, today), find_fault(combination, head, today)
        evidence.append(
            f"{combination}: {before or 'active'}"
            + (f"; at the head: {after or 'active'}" if head is not base else "")
        )
        if before and combination.model_prefix not in base.models and not after and head is not base:
            doubts.append(f"{code(combination)} is new: this pull request adds it to the file")
        elif before:
            faults.append(f"{code(combination)}: {before}")
        elif after:
            doubts.append(f"{code(combination)} is active, but this pull request says {code(after)}")
    if faults:
        return failed(f"{join_some(faults, 4, separator='; ')}.", evidence=evidence)
    if doubts:
        return warned(f"{join_some(doubts, 4, separator='; ')}.", evidence=evidence)
    notices = list(_find_notices(combinations, base, today))
    note = f" Announced: {name_all(notices)}." if notices else ""
    verb = "is" if len(combinations) == 1 else "are"
    return passed(f"{name_all(combinations)} {verb} active on {today}.{note}", evidence=evidence)


def find_fault(combination: Combination, models: Models, today: date) -> str | None:
    """Return why a combination may not be measured today, as a clause; None if it may."""
    model = models.models.get(combination.model_prefix)
    if model is None:
        return "the model is not in the file"
    if model.deprecated and model.deprecated <= today:
        return f"{model.title} was retired on {model.deprecated}"
    general = models.scenarios.get(combination.scenario)
    if general and general <= today:
        return f"the scenario was retired on {general}"
    if combination.scenario not in model.scenarios:
        return f"{model.title} is not supported in this scenario"
    own = model.scenarios[combination.scenario]
    if own and own <= today:
        return f"the scenario was retired for {model.title} on {own}"
    if model.precisions and combination.precision not in model.precisions:
        return f"{model.title} is measured in {', '.join(model.precisions)} only"
    return None


def _find_notices(combinations: list[Combination], models: Models, today: date) -> Iterator[str]:
    """Return announced retirements, which do not apply yet."""
    for combination in combinations:
        model = models.models[combination.model_prefix]
        days = (
            model.deprecated,
            models.scenarios.get(combination.scenario),
            model.scenarios.get(combination.scenario),
        )
        for day in sorted({day for day in days if day and day > today}):
            yield f"{combination} until {day}"
