"""Compare two plans: rows added, rows removed, and rows with changed fields."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from infx.bench.family import family_of
from infx.bench.row import Row, render_row
from infx.bench.words import describe_deployment, describe_layout
from infx.errors import visible
from infx.phrases import count
from infx.records import record


@record
class FieldChange:
    """A change of one field of a row's JSON."""

    key: str  # nested fields with a dot: `prefill.tp`
    before: str | None  # None if the row did not have the field
    after: str | None  # None if the row no longer has the field


@record
class PlanDiff:
    """The difference between two plans."""

    added: tuple[Row, ...]
    removed: tuple[Row, ...]
    changed: tuple[tuple[Row, Row], ...]  # the same point before and after

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.changed)


def diff_plans(before: Sequence[Row], after: Sequence[Row]) -> PlanDiff:
    """Return the rows that differ between two plans; a point on both sides counts as changed."""
    removed, added = _drop_common(before, after), _drop_common(after, before)
    changed: list[tuple[Row, Row]] = []
    # Pairs are matched ever more loosely: by engine layout, then by concurrency, then by neither.
    for point in (_identify_with_layout, _identify_with_conc, _identify_point):
        pairs, removed, added = _pair(removed, added, point)
        changed += pairs
    return PlanDiff(added=tuple(added), removed=tuple(removed), changed=tuple(changed))


def _drop_common(rows: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    left = Counter(others)
    kept = []
    for row in rows:
        if left[row]:
            left[row] -= 1
        else:
            kept.append(row)
    return kept


def _identify_point(row: Row) -> Hashable:
    recipe = row.recipe
    conc = () if recipe.is_multinode and not recipe.is_agentic else row.conc
    group = (recipe.model_prefix, recipe.precision, recipe.framework, recipe.runner, recipe.spec_decoding)
    return (family_of(row), row.eval_suite, group, conc)


def _identify_with_layout(row: Row) -> Hashable:
    return (_identify_point(row), describe_layout(row.recipe))


def _identify_with_conc(row: Row) -> Hashable:
    return (_identify_point(row), row.conc)


def _pair(
    removed: list[Row], added: list[Row], point: Callable[[Row], Hashable]
) -> tuple[list[tuple[Row, Row]], list[Row], list[Row]]:
    """Pair the points for which both sides have one kind of row, equally often; return pairs and others."""
    before, after = _group(removed, point), _group(added, point)
    plain = {
        key
        for key in before
        if len(before[key]) == len(after[key]) and len({*before[key]}) == len({*after[key]}) == 1
    }
    pairs = [(row, after[point(row)][0]) for row in removed if point(row) in plain]
    return (
        pairs,
        [row for row in removed if point(row) not in plain],
        [row for row in added if point(row) not in plain],
    )


def _group(rows: Iterable[Row], point: Callable[[Row], Hashable]) -> defaultdict[Hashable, list[Row]]:
    groups: defaultdict[Hashable, list[Row]] = defaultdict(list)
    for row in rows:
        groups[point(row)].append(row)
    return groups


def find_changes(before: Row, after: Row) -> tuple[FieldChange, ...]:
    """Return the fields that differ between two rows."""
    # The fingerprint is left out because it changes with every other field.
    old, new = (_flatten(render_row(replace(row, recipe_fingerprint=None))) for row in (before, after))
    keys = [*old, *(key for key in new if key not in old)]
    return tuple(
        FieldChange(key=key, before=_show(old.get(key)), after=_show(new.get(key)))
        for key in keys
        if old.get(key) != new.get(key)
    )


def _flatten(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{above}{key}.")
        else:
            flat[above + key] = value
    return flat


def describe_diff(diff: PlanDiff) -> list[str]:
    """Return one line for each group of rows that were added, removed or changed alike."""
    if diff.is_empty:
        return ["The plans have the same rows."]
    lines = [f"+ {text}" for text in _describe_groups(diff.added)]
    lines += [f"- {text}" for text in _describe_groups(diff.removed)]
    alike: dict[tuple[str, tuple[FieldChange, ...]], list[Row]] = defaultdict(list)
    for before, after in diff.changed:
        alike[_describe_group(after), find_changes(before, after)].append(after)
    for (title, changes), rows in alike.items():
        words = "; ".join(_describe_change(change) for change in changes) or "only the fingerprint"
        lines.append(f"~ {count(len(rows), 'row')} of {title} ({_list_concurrencies(rows)}): {words}")
    return [visible(line) for line in lines]  # a plan may come from anywhere


def _describe_groups(rows: Iterable[Row]) -> list[str]:
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[_describe_group(row), describe_layout(row.recipe)].append(row)
    return [
        f"{count(len(group), 'row')} of {title}, {layout} ({_list_concurrencies(group)})"
        for (title, layout), group in groups.items()
    ]


def _describe_group(row: Row) -> str:
    return f"{describe_deployment(row.recipe)}, {family_of(row)}"


def _list_concurrencies(rows: Iterable[Row]) -> str:
    return "c" + ",".join(map(str, sorted({conc for row in rows for conc in row.conc})))


def _describe_change(change: FieldChange) -> str:
    if change.before is None:
        return f"{change.key} is now {change.after}"
    if change.after is None:
        return f"{change.key} {change.before} was removed"
    return f"{change.key} {change.before} → {change.after}"


def _show(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
