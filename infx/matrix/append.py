"""Append-only entries: find the points that the head adds to the base, and refuse any other change.

New points may only extend an existing curve: the base's points must still be measured in the same way, and
the new points must lie on a curve that the base measured with one image.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from infx.bench.config import ScenarioType, drop_remarks
from infx.bench.identity import series_of
from infx.bench.row import Recipe, Row
from infx.bench.words import describe_recipe
from infx.errors import Problem, ProblemsError
from infx.matrix.concurrency import show_points
from infx.matrix.points import collect_points, drop_points

_HINT = "Remove append-only to measure the whole configuration again."


def check_unchanged(
    base: Mapping[str, Any],
    head: Mapping[str, Any],
    selected: Mapping[str, frozenset[ScenarioType]],
    path: str,
) -> list[Problem]:
    """Return a problem for each change other than points of the selected scenarios.

    `base` and `head` map a key to its configuration, as YAML gives it.
    """
    base, head = ({key: drop_remarks(entry) for key, entry in configs.items()} for configs in (base, head))
    return [
        Problem(rule="append-only", message=message, path=path, hint=_HINT)
        for message in _find_changes(base, head, selected)
    ]


def _find_changes(
    base: Mapping[str, Any], head: Mapping[str, Any], selected: Mapping[str, frozenset[ScenarioType]]
) -> Iterator[str]:
    for key in {**base, **head}:
        if key in selected:
            if key not in base:
                yield f"The base has no configuration {key}; append-only can only extend an existing configuration."
            elif key in head:
                yield from _find_changes_within(key, base[key], head[key], selected[key])
        elif base.get(key) != head.get(key):
            yield f"The configuration {key} changed, but no append-only entry names it."


def _find_changes_within(key: str, old: Any, new: Any, types: frozenset[ScenarioType]) -> Iterator[str]:
    """Yield what changed in a selected configuration, apart from the selected scenarios."""
    old_scenarios, new_scenarios = old["scenarios"], new["scenarios"]
    unselected = [name for name in {**old_scenarios, **new_scenarios} if name not in types]
    for name in sorted({*old_scenarios} ^ {*new_scenarios}):
        change = "lost" if name in old_scenarios else "gained"
        yield f"{key} {change} the scenario {name}; append-only can only extend existing scenarios."
    for name in unselected:
        if name in old_scenarios and name in new_scenarios and old_scenarios[name] != new_scenarios[name]:
            yield f"{key}: the scenario {name} changed, but the entry does not select it."
    if unselected and {**old, "scenarios": None} != {**new, "scenarios": None}:
        yield f"{key}: its fields changed, and with them the scenario {unselected[0]}, which the entry does not select."


def select_added(base: Sequence[Row], head: Sequence[Row], path: str) -> list[Row]:
    """Return the points of `head` that `base` lacks.

    Raises ProblemsError if points of the base are missing or a new point belongs to no curve.
    """
    known = collect_points(base)
    messages = list(_find_missing(known, collect_points(head)))
    added, _ = drop_points(head, known)
    if not base:
        messages.append(
            "The base has no points of these configurations, so append-only has nothing to extend."
        )
    elif not added and not messages:
        messages.append("The entries add no new point; append-only needs at least one.")
    elif not messages:
        messages += _describe_strangers(base, added)
    if messages:
        raise ProblemsError(
            Problem(rule="append-only", message=message, path=path, hint=_HINT) for message in messages
        )
    return added


def _find_missing(
    base: Mapping[Recipe, Iterable[int]], head: Mapping[Recipe, Mapping[int, None]]
) -> Iterator[str]:
    for recipe, concurrencies in base.items():
        missing = show_points([conc for conc in concurrencies if conc not in head.get(recipe, {})])
        if missing:
            what = "is no longer measured in the same way" if recipe not in head else "lost points"
            yield f"A curve of the base {what}: {describe_recipe(recipe)} at concurrency {', '.join(missing)}."


def find_strangers(base: Iterable[Row], recipes: Iterable[Recipe]) -> dict[Recipe, tuple[str, ...]]:
    """Return the recipes that extend no curve of the base, each with its curve's images (empty: no curve)."""
    images: dict[Hashable, set[str]] = {}
    for row in base:
        images.setdefault(series_of(row.recipe), set()).add(row.recipe.image)
    curves = {recipe: images.get(series_of(recipe), set()) for recipe in recipes}
    return {recipe: tuple(sorted(curve)) for recipe, curve in curves.items() if curve != {recipe.image}}


def _describe_strangers(base: Sequence[Row], added: Sequence[Row]) -> Iterator[str]:
    for recipe, images in find_strangers(base, collect_points(added)).items():
        if images:
            listed = ", ".join(images)
            yield f"New points of {describe_recipe(recipe)} use {recipe.image}; their curve was measured with {listed}."
        else:
            yield f"New points do not belong to any curve of the base: {describe_recipe(recipe)}."
