"""Points of curves: a recipe at one concurrency. Each is planned once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from infx.bench.row import Recipe, Row


def collect_points(rows: Iterable[Row]) -> dict[Recipe, dict[int, None]]:
    """Every recipe with its concurrencies, both in the order of the rows."""
    points: dict[Recipe, dict[int, None]] = {}
    for row in rows:
        points.setdefault(row.recipe, {}).update(dict.fromkeys(row.conc))
    return points


def drop_points(rows: Iterable[Row], known: Mapping[Recipe, Iterable[int]]) -> tuple[list[Row], list[Row]]:
    """(what is left, what was dropped): without known points, and without those that an earlier row has.

    Of a row with several concurrencies only the repeated ones are dropped.
    """
    seen = {recipe: set(concurrencies) for recipe, concurrencies in known.items()}
    kept, dropped = [], []
    for row in rows:
        own = seen.setdefault(row.recipe, set())
        new, old = _divide(row.conc, own)
        if old:
            dropped.append(replace(row, conc=old))
        if new:
            kept.append(replace(row, conc=new) if old else row)
    return kept, dropped


def _divide(values: Sequence[int], seen: set[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(new, old) values; the new ones are added to `seen`."""
    new: list[int] = []
    old: list[int] = []
    for value in values:
        (old if value in seen else new).append(value)
        seen.add(value)
    return tuple(new), tuple(old)
