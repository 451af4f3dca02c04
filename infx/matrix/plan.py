"""Plan the rows that a sweep runs for a changelog delta, each with its configuration and its entry."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
from infx.records import record, replace


@record
class Options:
    """Options of a run, from the command line or from labels, which apply to all entries."""

    profile: EvalProfile
    trim: bool = False  # only the lowest concurrency of every recipe
    all_evals: bool = False  # every accuracy run
    evals_only: bool = False  # no throughput
    fast: bool = False  # short AgentX replays


@record
class Plan:
    """The rows that a delta asks for, in the order in which they are printed."""

    entries: tuple[Entry, ...]
    throughput: tuple[Planned, ...] = ()
    evals: tuple[Planned, ...] = ()
    warnings: tuple[Problem, ...] = ()

    @property
    def rows(self) -> tuple[Planned, ...]:
        return self.throughput + self.evals


def plan_delta(delta: Delta, head: PlanInputs, base: PlanInputs | None, options: Options, path: str) -> Plan:
    """Plan the entries of a delta on the configurations of its head; a correction of links plans nothing.

    base: the inputs of the base revision, needed for append-only entries. path: the changelog's path, for messages.
    Raises ProblemsError for entries that contradict each other or the options, and for unknown keys.
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
    expand = _make_expander(head, warnings)
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
    """Plan rows that were selected without a changelog, with throughput and accuracy in separate jobs.

    A changelog entry for the same points would plan equal rows, with equal fingerprints and ids.
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
    """Return the keys of each entry. Raises ProblemsError for keys that name no configuration."""
    resolved, problems = [], []
    for entry in entries:
        keys, unknown = resolve_keys(entry.config_keys, head.raw, path=path, line=entry.line)
        resolved.append(keys)
        problems += unknown
    if problems:
        raise ProblemsError(problems)
    return resolved


def _check_options(entries: Sequence[Entry], options: Options, path: str) -> list[Problem]:
    """Return the problems of entries that contradict the options or each other."""
    problems = []
    flags = _list_enabled({"all-evals": options.all_evals, "evals-only": options.evals_only})
    for entry in entries:
        entry_flags = _list_enabled({"no-evals": entry.no_evals, "append-only": entry.append_only})
        for own, flag in itertools.product(entry_flags, flags):
            message = f"The entry says {own}, and the run asks for {flag}; they contradict each other."
            hint = f"Remove the label or option {flag}, or remove {own} from the entry."
            problems.append(
                Problem(rule="plan-conflict", message=message, path=path, line=entry.line, hint=hint)
            )
    if len({entry.append_only for entry in entries}) > 1:
        other = next(entry for entry in entries if not entry.append_only)
        message = (
            "Other new entries are append-only, this one is not; all entries of a pull request must agree."
        )
        hint = "Split the pull request, or make all entries append-only or none."
        problems.append(
            Problem(rule="append-only-mixed", message=message, path=path, line=other.line, hint=hint)
        )
    return problems


def _list_enabled(switches: Mapping[str, bool]) -> list[str]:
    return [name for name, on in switches.items() if on]


_Expand = Callable[[Claim], list[Planned]]


def _make_expander(inputs: PlanInputs, warnings: list[Problem]) -> _Expand:
    """Return a function from a claim to its rows, each point once; it adds repeated points to `warnings`."""

    @functools.cache  # throughput and accuracy runs claim the same rows
    def expand_key(key: str, types: frozenset[ScenarioType]) -> list[Row]:
        config = inputs.configs[key]
        kept, repeated = drop_points(
            expand_config(config, inputs.runners, ExpansionLimits(scenario_types=types)), {}
        )
        warnings.extend(plan_warnings.warn_repeated(config, row) for row in repeated)
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
    """Select accuracy runs among the rows of each claim, then drop equal runs of several claims."""
    evals: list[Planned] = []
    for claim in claim_evals(entries, keys, list(head.raw)):
        entry = entries[claim.entry]
        planned = expand(claim)
        mode = EvalMode.ALL if options.all_evals or entry.all_evals else EvalMode.SUBSET
        chosen = select_evals([item.row for item in planned], mode, options.profile)
        marked = [row for row in chosen if row.run_eval and _has_prefill_ep(row, entry.eval_min_prefill_ep)]
        owned = _attribute(planned, marked)
        evals += [
            replace(item, row=row)
            for item, row in zip(owned, keep_evals(item.row for item in owned), strict=True)
        ]
    return _drop_repeated(evals, list(head.raw), options.profile)


def _drop_repeated(planned: Sequence[Planned], order: Sequence[str], profile: EvalProfile) -> list[Planned]:
    """Drop equal accuracy runs except the first."""
    # The configurations' order decides, so that the order of entries does not matter.
    place = {key: index for index, key in enumerate(order)}
    ranked = sorted(range(len(planned)), key=lambda index: place[planned[index].key])
    kept = drop_repeated([planned[index].row for index in ranked], profile)
    rows = dict(zip(ranked, kept, strict=True))
    return [replace(item, row=row) for index, item in enumerate(planned) if (row := rows[index]) is not None]


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
    """Expand the claims on both revisions, and return the rows that only the head has."""
    assert base is not None, "append-only entries need the base's inputs"
    claims = list(claim_throughput(entries, keys))
    selected = {key: frozenset[ScenarioType]() for claim in claims for key in claim.keys}
    for claim in claims:
        for key in claim.keys:
            selected[key] |= claim.types
    if problems := check_unchanged(base.raw, head.raw, selected, path):
        raise ProblemsError(problems)
    before = [item.row for claim in claims for item in _make_expander(base, [])(claim)]
    after = [item for claim in claims for item in _make_expander(head, [])(claim)]
    return _attribute(after, select_added(before, [item.row for item in after], path))


def _trim(planned: Sequence[Planned]) -> list[Planned]:
    return _attribute(planned, trim_rows(item.row for item in planned))


def _attribute(planned: Sequence[Planned], rows: Sequence[Row]) -> list[Planned]:
    """Return derived rows with the key and the entry of the first planned row that has the same recipe."""
    owner: dict[Recipe, Planned] = {}
    for item in planned:
        owner.setdefault(item.row.recipe, item)
    return [replace(owner[row.recipe], row=row) for row in rows]
