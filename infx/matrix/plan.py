"""From a changelog delta to the rows that a sweep runs, and why each of them is there."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from infx.bench.config import ScenarioType
from infx.bench.delta import Delta
from infx.bench.entry import Entry
from infx.bench.keys import resolve_keys
from infx.bench.row import Recipe, Roles, Row
from infx.errors import Problem, ProblemsError
from infx.matrix import plan_warnings
from infx.matrix.append import check_unchanged, select_added
from infx.matrix.claims import Claim, claim_evals, claim_throughput
from infx.matrix.complete import complete_evals, complete_throughput
from infx.matrix.evals import EvalMode, drop_eval, drop_repeated, keep_evals, select_evals
from infx.matrix.expand import ExpansionLimits, expand_config
from infx.matrix.load import PlanInputs
from infx.matrix.planned import Planned
from infx.matrix.points import drop_points
from infx.matrix.trim import trim_rows
from infx.policy.evals import EvalProfile


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the run asks for, beside the changelog; the labels of a pull request mean the same.

    trim: the lightest point of every recipe. all_evals: every accuracy run. evals_only: no throughput. fast: short
    AgentX replays.
    """

    profile: EvalProfile
    trim: bool = False
    all_evals: bool = False
    evals_only: bool = False
    fast: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan:
    """throughput and evals in the order in which they are printed. warnings: what somebody should look at."""

    entries: tuple[Entry, ...]
    throughput: tuple[Planned, ...] = ()
    evals: tuple[Planned, ...] = ()
    warnings: tuple[Problem, ...] = ()

    @property
    def rows(self) -> tuple[Planned, ...]:
        return self.throughput + self.evals


def plan_delta(delta: Delta, head: PlanInputs, base: PlanInputs | None, options: Options, path: str) -> Plan:
    """Plan the entries of a delta on the configurations of its head; a correction of links plans nothing.

    base: the base revision's own inputs, needed for append-only entries. path: of the changelog, for messages.
    Raises ProblemsError for entries that contradict each other or the options, and for keys of nothing.
    """
    if not delta.entries and not delta.corrections:
        message = "Nothing was added to the changelog, so there is nothing to plan."
        raise ProblemsError(
            [Problem(rule="changelog-empty", message=message, path=path, hint="Append an entry.")]
        )
    keys = _resolve(delta.entries, head, path)
    if problems := _check_options(delta.entries, options, path):
        raise ProblemsError(problems)
    warnings: list[Problem] = []
    expand = _expander(head, warnings)
    if any(entry.append_only for entry in delta.entries):
        throughput = _plan_append(delta.entries, keys, head, base, path)
        evals: list[Planned] = []
    else:
        throughput = [] if options.evals_only else list(_plan_throughput(delta.entries, keys, expand))
        evals = _plan_evals(delta.entries, keys, head, expand, options)
    idle = list(plan_warnings.find_idle(delta.entries, keys, head, path))
    warnings += idle if throughput or evals or idle else plan_warnings.find_empty(delta.entries, path)
    if options.trim:
        throughput = _trim(throughput)
    warnings += plan_warnings.find_shared(throughput)
    return Plan(
        entries=delta.entries,
        throughput=tuple(complete_throughput(throughput, fast=options.fast)),
        evals=tuple(complete_evals(evals)),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def plan_rows(rows: Iterable[Row]) -> Plan:
    """Rows that were selected without a changelog, as a sweep runs them: throughput and accuracy in jobs of their own.

    What a changelog entry would plan for the same points is the same, fingerprints and ids included.
    """
    rows = list(rows)
    throughput = [drop_eval(row) for row in rows if not row.eval_only]
    return Plan(
        entries=(),
        throughput=tuple(complete_throughput(_without_entry(throughput))),
        evals=tuple(complete_evals(_without_entry(keep_evals(rows)))),
    )


def _without_entry(rows: Iterable[Row]) -> Iterator[Planned]:
    for row in rows:
        recipe = row.recipe
        words = (recipe.model_prefix, recipe.precision, recipe.framework, recipe.runner)
        yield Planned(row=row, key=" ".join(words), entry=None)


def _resolve(entries: Sequence[Entry], head: PlanInputs, path: str) -> list[list[str]]:
    """Each entry's keys."""
    resolved, problems = [], []
    for entry in entries:
        keys, unknown = resolve_keys(entry.config_keys, head.raw, path=path, line=entry.line)
        resolved.append(keys)
        problems += unknown
    if problems:
        raise ProblemsError(problems)
    return resolved


def _check_options(entries: Sequence[Entry], options: Options, path: str) -> list[Problem]:
    """An entry that must not be evaluated, in a run that asks for evaluation; append-only entries beside others."""
    problems = []
    asked = _names_of({"all-evals": options.all_evals, "evals-only": options.evals_only})
    for entry in entries:
        says = _names_of({"no-evals": entry.no_evals, "append-only": entry.append_only})
        for own, flag in itertools.product(says, asked):
            message = f"The entry says {own}, and the run asks for {flag}; they contradict each other."
            hint = f"Take the label or option {flag} away, or {own} out of the entry."
            problems.append(
                Problem(rule="plan-conflict", message=message, path=path, line=entry.line, hint=hint)
            )
    if len({entry.append_only for entry in entries}) > 1:
        other = next(entry for entry in entries if not entry.append_only)
        message = "Other entries say append-only; then all entries of a pull request must."
        hint = "Split the pull request, or make all entries append-only or none."
        problems.append(
            Problem(rule="append-only-mixed", message=message, path=path, line=other.line, hint=hint)
        )
    return problems


def _names_of(switches: Mapping[str, bool]) -> list[str]:
    return [name for name, on in switches.items() if on]


_Expand = Callable[[Claim], list[Planned]]


def _expander(inputs: PlanInputs, warnings: list[Problem]) -> _Expand:
    """A function from a claim to its rows, each point once. What is repeated goes to `warnings`."""

    @functools.cache  # throughput and accuracy runs claim the same rows
    def expand_key(key: str, types: frozenset[ScenarioType]) -> list[Row]:
        config = inputs.configs[key]
        kept, repeated = drop_points(
            expand_config(config, inputs.runners, ExpansionLimits(scenario_types=types)), {}
        )
        warnings.extend(plan_warnings.repeated(config, row) for row in repeated)
        return kept

    def expand(claim: Claim) -> list[Planned]:
        planned, problems = [], []
        for key in claim.keys:
            try:
                rows = expand_key(key, claim.types)
            except ProblemsError as error:
                problems += error.problems
            else:
                planned += [Planned(row=row, key=key, entry=claim.entry) for row in rows]
        if problems:
            raise ProblemsError(problems)
        return planned

    return expand


def _plan_throughput(
    entries: Sequence[Entry], keys: Sequence[Sequence[str]], expand: _Expand
) -> Iterator[Planned]:
    for claim in claim_throughput(entries, keys):
        yield from expand(claim)


def _plan_evals(
    entries: Sequence[Entry],
    keys: Sequence[Sequence[str]],
    head: PlanInputs,
    expand: _Expand,
    options: Options,
) -> list[Planned]:
    """Accuracy runs are chosen among the rows of one claim; alike ones of several claims are dropped at the end."""
    found: list[Planned] = []
    for claim in claim_evals(entries, keys, list(head.raw)):
        entry = entries[claim.entry]
        planned = expand(claim)
        mode = EvalMode.ALL if options.all_evals or entry.all_evals else EvalMode.SUBSET
        chosen = select_evals([one.row for one in planned], mode, options.profile)
        marked = [row for row in chosen if row.run_eval and _has_prefill_ep(row, entry.eval_min_prefill_ep)]
        owned = _give_back(planned, marked)
        found += [
            replace(one, row=row)
            for one, row in zip(owned, keep_evals(one.row for one in owned), strict=True)
        ]
    return _drop_repeated(found, list(head.raw), options.profile)


def _drop_repeated(planned: Sequence[Planned], order: Sequence[str], profile: EvalProfile) -> list[Planned]:
    """Which of two alike runs stays must not depend on the order of entries: the configurations' own order decides."""
    place = {key: index for index, key in enumerate(order)}
    ranked = sorted(range(len(planned)), key=lambda index: place[planned[index].key])
    left = drop_repeated([planned[index].row for index in ranked], profile)
    rows = dict(zip(ranked, left, strict=True))
    return [replace(one, row=row) for index, one in enumerate(planned) if (row := rows[index]) is not None]


def _has_prefill_ep(row: Row, least: int | None) -> bool:
    layout = row.recipe.layout
    return least is None or not isinstance(layout, Roles) or (layout.prefill.ep or 0) >= least


def _plan_append(
    entries: Sequence[Entry],
    keys: Sequence[Sequence[str]],
    head: PlanInputs,
    base: PlanInputs | None,
    path: str,
) -> list[Planned]:
    """Rows of both revisions for the same claims; what only the head has, with the entry that names it."""
    assert base is not None, "append-only entries need the base's inputs"
    claims = list(claim_throughput(entries, keys))
    selected = {key: frozenset[ScenarioType]() for claim in claims for key in claim.keys}
    for claim in claims:
        for key in claim.keys:
            selected[key] |= claim.types
    if problems := check_unchanged(base.raw, head.raw, selected, path):
        raise ProblemsError(problems)
    before = [one.row for claim in claims for one in _expander(base, [])(claim)]
    after = [one for claim in claims for one in _expander(head, [])(claim)]
    return _give_back(after, select_added(before, [one.row for one in after], path))


def _trim(planned: Sequence[Planned]) -> list[Planned]:
    return _give_back(planned, trim_rows(one.row for one in planned))


def _give_back(planned: Sequence[Planned], rows: Sequence[Row]) -> list[Planned]:
    """Rows that were made of others, each with the key and the entry of the first that has its recipe."""
    owner: dict[Recipe, Planned] = {}
    for one in planned:
        owner.setdefault(one.row.recipe, one)
    return [replace(owner[row.recipe], row=row) for row in rows]
