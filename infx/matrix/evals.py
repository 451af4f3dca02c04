"""Select the rows that also get an accuracy run, by an eval profile of the policy.

There are three steps: `mark_rows` picks rows, or `evaluate_all` takes every eligible row; `drop_repeated`
keeps one of several equal accuracy runs; `keep_evals` removes the throughput rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter

from infx.bench.names import scenario_of
from infx.bench.row import FixedWorkload, Recipe, Roles, Row
from infx.errors import UsageError, suggest
from infx.matrix.trim import trim_rows
from infx.policy.evals import EvalField, EvalPick, EvalProfile, EvalRows, EvalRule, EvalTask
from infx.records import replace


class EvalMode(StrEnum):
    """The kinds of rows that are requested."""

    NONE = "none"  # only throughput
    MARKED = "marked"  # throughput, with an accuracy run on selected rows
    SUBSET = "subset"  # only the selected accuracy runs
    ALL = "all"  # every accuracy run and nothing else


def find_profile(name: str, profiles: Mapping[str, EvalProfile]) -> EvalProfile:
    if name not in profiles:
        known = ", ".join(sorted(profiles))
        raise UsageError(
            f"The policy has no eval profile {name!r}; it has {known}.", hint=suggest(name, profiles)
        )
    return profiles[name]


def apply_evals(
    rows: Sequence[Row], mode: EvalMode, profile: EvalProfile, *, trim: bool = False
) -> list[Row]:
    """Add accuracy runs to throughput rows; for `subset` and `all`, return only the accuracy runs."""
    chosen = select_evals(rows, mode, profile)
    if trim:  # after the selection, which looks at all rows
        chosen = trim_rows(chosen)
    return keep_evals(chosen) if mode in {EvalMode.SUBSET, EvalMode.ALL} else chosen


def select_evals(rows: Sequence[Row], mode: EvalMode, profile: EvalProfile) -> list[Row]:
    """Return the rows with the accuracy runs of a mode; throughput rows are kept."""
    if mode is EvalMode.NONE:
        return list(rows)
    if mode is EvalMode.ALL:
        chosen = evaluate_all(rows, profile)
    else:
        chosen = mark_rows(rows, profile, on_request=mode is EvalMode.SUBSET)
    return [row for row in drop_repeated(chosen, profile) if row is not None]


def mark_rows(rows: Sequence[Row], profile: EvalProfile, *, on_request: bool) -> list[Row]:
    """Set run_eval on every row, and append an eval-only copy of each row that has two tasks.

    on_request: accuracy runs are requested, so kinds of rows that have none by default also get them.
    """
    picked: dict[int, int] = {}  # index of a row → evaluated concurrency
    for indices in _split_kinds(rows):
        rule = _find_rule(rows[indices[0]], profile)
        if rule.by_default or on_request:
            picked |= _pick(rows, indices, rule)
    marked, copies = [], []
    for index, row in enumerate(rows):
        conc = picked.get(index)
        suite = _find_suite(row, profile, on_request=on_request)
        if suite is not None:
            marked.append(_mark(row, max(row.conc), suite))
            if conc is not None:
                copies.append(replace(_mark(row, conc, _find_task(profile)), eval_only=True))
        elif conc is not None:
            marked.append(_mark(row, conc, _find_task(profile)))
        else:
            marked.append(row if row.run_eval is False else replace(row, run_eval=False))
    return marked + copies


def evaluate_all(rows: Sequence[Row], profile: EvalProfile) -> list[Row]:
    """Return an eval-only row for every eligible row; multi-node rows of one recipe are merged."""
    merged: dict[Hashable, list[Row]] = {}
    for index, row in enumerate(rows):
        if not row.eval_only and _is_eligible(row, _find_rule(row, profile)):
            merged.setdefault(row.recipe if row.recipe.is_multinode else index, []).append(row)
    servers = [
        replace(same[0], conc=tuple(sorted({conc for row in same for conc in row.conc})), eval_only=True)
        for same in merged.values()
    ]
    suites = [
        _mark(row, max(row.conc), suite)
        for row in servers
        if (suite := _find_suite(row, profile, on_request=True))
    ]
    return [_evaluate_batch(_mark(row, max(row.conc), _find_task(profile))) for row in servers] + suites


def _evaluate_batch(row: Row) -> Row:
    """Evaluate a fixed multi-node row at all of its concurrencies in one job; return other rows unchanged."""
    if row.recipe.is_multinode and not row.recipe.is_agentic:
        return replace(row, eval_conc=None, eval_all_concs=True)
    return row


def drop_eval(row: Row) -> Row:
    """Return the same point without its accuracy run."""
    return replace(
        row, run_eval=None, eval_conc=None, eval_all_concs=None, eval_framework=None, eval_suite=None
    )


def keep_evals(rows: Iterable[Row]) -> list[Row]:
    """Return only the accuracy runs, without power measurement."""
    without_power: dict[Recipe, Recipe] = {}
    kept = []
    for row in rows:
        if row.run_eval:
            recipe = without_power.setdefault(row.recipe, _drop_power(row.recipe))
            kept.append(replace(row, recipe=recipe, eval_only=True))
    return kept


def drop_repeated(rows: Sequence[Row], profile: EvalProfile) -> list[Row | None]:
    """Keep one accuracy run for each identity, task and concurrency; return one item for each row.

    Rows without KV offload come first, then the order decides. A row that loses its accuracy run keeps its
    throughput; an eval-only row becomes None. A row with several concurrencies keeps the unclaimed ones.
    """
    result: list[Row | None] = list(rows)
    if not profile.identity:
        return result
    claimed: set[Hashable] = set()
    identity_of = functools.cache(lambda recipe: key_of(recipe, profile.identity))
    for index in sorted(range(len(rows)), key=lambda i: rows[i].recipe.offloads):
        row = rows[index]
        if not row.run_eval:
            continue
        task = (identity_of(row.recipe), row.eval_framework, row.eval_suite)
        free = tuple(conc for conc in row.eval_concs if (task, conc) not in claimed)
        claimed.update((task, conc) for conc in free)
        if not free:
            result[index] = None if row.eval_only else _unmark(row)
        elif row.eval_all_concs:
            result[index] = replace(row, conc=free)
    return result


def key_of(recipe: Recipe, fields: Sequence[EvalField]) -> Hashable:
    """Return the recipe's values of these fields; recipes with equal values belong together."""
    return tuple(_FIELDS[field](recipe) for field in fields)


def _pick(rows: Sequence[Row], indices: Sequence[int], rule: EvalRule) -> dict[int, int]:
    """Return the evaluated concurrency of each picked row; for a multi-node row, the highest picked."""
    picked: dict[int, int] = {}
    groups: dict[Hashable, list[tuple[int, int]]] = {}
    key_once = functools.cache(lambda recipe: key_of(recipe, rule.group))
    for index in indices:
        if _is_eligible(rows[index], rule):
            points = groups.setdefault(key_once(rows[index].recipe), [])
            points += ((conc, index) for conc in rows[index].conc if conc >= rule.min_conc)
    for points in groups.values():
        picked |= _pick_in_group(points, rule)
    if rule.fallback is not None:
        picked |= _pick_fallback(rows, indices, picked, rule.fallback)
    return picked


def _pick_in_group(points: Sequence[tuple[int, int]], rule: EvalRule) -> dict[int, int]:
    picked: dict[int, int] = {}
    values = sorted({conc for conc, _ in points})
    if not values:
        return picked
    for wanted in sorted({_choose(values, pick) for pick in rule.pick}):
        at = [index for conc, index in points if conc == wanted]
        picked |= dict.fromkeys(at if rule.rows is EvalRows.EVERY else at[:1], wanted)
    return picked


def _choose(values: Sequence[int], pick: EvalPick) -> int:
    return values[-1] if pick is EvalPick.MAX else values[len(values) // 2]


def _pick_fallback(
    rows: Sequence[Row], indices: Sequence[int], picked: Mapping[int, int], fields: Sequence[EvalField]
) -> dict[int, int]:
    """Return the first row with the highest concurrency of each deployment without a picked row."""
    groups: dict[Hashable, list[int]] = {}
    for index in indices:
        groups.setdefault(key_of(rows[index].recipe, fields), []).append(index)
    highest = {}
    for members in groups.values():
        if not any(index in picked for index in members):
            best = max(members, key=lambda index: max(rows[index].conc))
            highest[best] = max(rows[best].conc)
    return highest


def _split_kinds(rows: Sequence[Row]) -> list[list[int]]:
    kinds: dict[tuple[bool, bool], list[int]] = {}
    for index, row in enumerate(rows):
        kinds.setdefault((row.recipe.is_multinode, row.recipe.is_agentic), []).append(index)
    return list(kinds.values())


def _find_rule(row: Row, profile: EvalProfile) -> EvalRule:
    if row.recipe.is_agentic:
        return profile.multi_agentic if row.recipe.is_multinode else profile.single_agentic
    return profile.multi_fixed if row.recipe.is_multinode else profile.single_fixed


def _is_eligible(row: Row, rule: EvalRule) -> bool:
    return row.recipe.is_agentic or scenario_of(row.recipe) in rule.sequences


def _find_suite(row: Row, profile: EvalProfile, *, on_request: bool) -> EvalTask | None:
    if row.recipe.is_agentic and (on_request or _find_rule(row, profile).by_default):
        return profile.suites.get(row.recipe.model_prefix)
    return None


def _find_task(profile: EvalProfile) -> EvalTask | None:
    return profile.task if profile.emit_task else None


def _mark(row: Row, conc: int, task: EvalTask | None) -> Row:
    return replace(
        row,
        run_eval=True,
        eval_conc=conc if row.recipe.is_multinode else None,
        eval_framework=task.framework if task else None,
        eval_suite=task.suite if task else None,
    )


def _unmark(row: Row) -> Row:
    return replace(row, run_eval=False, eval_conc=None, eval_framework=None, eval_suite=None)


def _drop_power(recipe: Recipe) -> Recipe:
    workload = recipe.workload
    if isinstance(workload, FixedWorkload) and workload.require_power is not None:
        return replace(recipe, workload=replace(workload, require_power=None))
    return recipe


def _make_engine_reader(name: str) -> Callable[[Recipe], Hashable]:
    """Return a function that reads a field of the engine, or of both roles' engines (None if missing)."""

    def read(recipe: Recipe) -> Hashable:
        layout = recipe.layout
        if isinstance(layout, Roles):
            return getattr(layout.prefill, name), getattr(layout.decode, name)
        return getattr(layout, name, None)

    return read


def _make_workload_reader(name: str) -> Callable[[Recipe], Hashable]:
    return lambda recipe: getattr(recipe.workload, name, None)


_FIELDS: Mapping[EvalField, Callable[[Recipe], Hashable]] = {
    EvalField.RECIPE: lambda recipe: recipe,
    EvalField.MODEL: attrgetter("model"),
    EvalField.MODEL_PREFIX: attrgetter("model_prefix"),
    EvalField.IMAGE: attrgetter("image"),
    EvalField.RUNNER: attrgetter("runner"),
    EvalField.FRAMEWORK: attrgetter("framework"),
    EvalField.PRECISION: attrgetter("precision"),
    EvalField.SPEC_DECODING: attrgetter("spec_decoding"),
    EvalField.DISAGG: attrgetter("disagg"),
    EvalField.ISL: _make_workload_reader("isl"),
    EvalField.OSL: _make_workload_reader("osl"),
    EvalField.TP: _make_engine_reader("tp"),
    EvalField.PP: _make_engine_reader("pp"),
    EvalField.DCP_SIZE: _make_engine_reader("dcp_size"),
    EvalField.PCP_SIZE: _make_engine_reader("pcp_size"),
    EvalField.EP: _make_engine_reader("ep"),
    EvalField.DP_ATTN: _make_engine_reader("dp_attn"),
    EvalField.NUM_WORKER: _make_engine_reader("num_worker"),
    EvalField.KV_OFFLOADING: _make_workload_reader("kv_offloading"),
}
