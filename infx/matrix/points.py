"""Collect the points of rows (a recipe at one concurrency) and drop repeated points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from infx.bench.row import Recipe, Row
from infx.records import replace


def collect_points(rows: Iterable[Row]) -> dict[Recipe, dict[int, None]]:
    """Return every recipe with its concurrencies, both in the order of the rows."""
    points: dict[Recipe, dict[int, None]] = {}
    for row in rows:
        points.setdefault(row.recipe, {}).update(dict.fromkeys(row.conc))
    return points


def drop_points(rows: Iterable[Row], known: Mapping[Recipe, Iterable[int]]) -> tuple[list[Row], list[Row]]:
    """Drop points that are known or that an earlier row has; return the kept and the dropped rows.

    A row with several concurrencies loses only the repeated ones.
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
    """Divide the values into new ones, which are added to `seen`, and old ones."""
    new: list[int] = []
    old: list[int] = []
    for value in values:
        (old if value in seen else new).append(value)
        seen.add(value)
    return tuple(new), tuple(old)
