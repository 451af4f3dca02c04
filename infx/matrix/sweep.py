"""Select rows by options instead of a changelog, for a sweep of all configurations or a test of some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field

from infx.bench.config import Config, Runners
from infx.bench.keys import resolve_keys
from infx.bench.row import Row
from infx.errors import Problem, ProblemsError, UnknownNamesError, suggest
from infx.matrix.evals import EvalMode, apply_evals, keep_evals, select_evals
from infx.matrix.expand import ExpansionLimits, expand_config
from infx.matrix.filters import Filter, select_configs, select_label_or_nodes, select_nodes
from infx.matrix.trim import trim_rows
from infx.phrases import count
from infx.policy.evals import EvalProfile
from infx.records import record, replace


@record
class SweepRequest:
    """The options that both commands share."""

    profile: EvalProfile
    wanted: Filter = field(default_factory=Filter)
    limits: ExpansionLimits = field(default_factory=ExpansionLimits)
    mode: EvalMode = EvalMode.MARKED
    trim: bool = False
    smoke: bool = False
    exp_names: tuple[str, ...] = ()  # names of the wanted rows; empty for all


def sweep_all(configs: Mapping[str, Config], inventory: Runners, request: SweepRequest) -> list[Row]:
    """Return the rows of every configuration that the filters select, in the files' order."""
    chosen = select_configs(configs.values(), request.wanted, inventory)
    return _finish(_expand(chosen, inventory, request, select_nodes), request)


def sweep_keys(
    configs: Mapping[str, Config], inventory: Runners, patterns: Sequence[str], request: SweepRequest
) -> list[Row]:
    """Return the rows of the named configurations, in the order of the names.

    Raises UnknownNamesError for a name that matches nothing.
    """
    keys, problems = resolve_keys(patterns, configs)
    if problems:
        raise UnknownNamesError(problems)
    chosen = select_configs([configs[key] for key in keys], request.wanted, inventory)
    rows = _expand(chosen, inventory, request, select_label_or_nodes)
    return _finish(pick_names(rows, request.exp_names), request)


def _expand(
    configs: Iterable[Config],
    inventory: Runners,
    request: SweepRequest,
    select: Callable[[str, Runners, str | None], list[str] | None],
) -> list[Row]:
    rows: list[Row] = []
    problems: list[Problem] = []
    for config in configs:
        nodes = select(config.runner, inventory, request.wanted.node_part)
        try:
            rows += expand_config(config, inventory, request.limits, nodes)
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return rows


def _finish(rows: Sequence[Row], request: SweepRequest) -> list[Row]:
    if request.smoke:
        return smoke_rows(rows, request.profile)
    return apply_evals(rows, request.mode, request.profile, trim=request.trim)


def smoke_rows(rows: Sequence[Row], profile: EvalProfile) -> list[Row]:
    """Return the lowest concurrency and the usual accuracy run of every recipe, to test whether it works."""
    evals = [
        replace(row, conc=row.conc if row.eval_conc is None else (row.eval_conc,), eval_all_concs=None)
        for row in keep_evals(select_evals(rows, EvalMode.MARKED, profile))
    ]
    return trim_rows(replace(row, run_eval=False) for row in rows) + trim_rows(evals)


def pick_names(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Return the rows with these experiment names, in the order of the rows.

    Raises UnknownNamesError for a name that does not match exactly one row.
    """
    if not names:
        return list(rows)
    rows_by_name = Counter(row.exp_name for row in rows)
    problems = [
        _report_name(name, "is named twice.", "Name it once.")
        for name, times in Counter(names).items()
        if times > 1
    ]
    for name in dict.fromkeys(names):
        if rows_by_name[name] == 0:
            hint = suggest(name, rows_by_name)
            problems.append(
                _report_name(
                    name,
                    "is not a row of this selection.",
                    hint or "Omit --exp-name to see all rows of the selection.",
                )
            )
        elif rows_by_name[name] > 1:
            text = f"matches {count(rows_by_name[name], 'row')}; expected one."
            problems.append(_report_name(name, text, "Narrow the selection with --config-key or --conc."))
    if problems:
        raise UnknownNamesError(problems)
    return [row for row in rows if row.exp_name in names]


def _report_name(name: str, text: str, hint: str | None) -> Problem:
    return Problem(rule="exp-name", message=f"The experiment name {name!r} {text}", hint=hint)
