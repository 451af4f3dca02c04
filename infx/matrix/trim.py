"""Reduce a sweep to the lowest concurrency of every recipe."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from infx.bench.row import Row
from infx.records import replace


def trim_rows(rows: Iterable[Row]) -> list[Row]:
    """Return one row with the lowest concurrency for each recipe, and one for each of its eval-only tasks.

    The first of equal rows is kept. If any row of the recipe has an accuracy run, the kept row has it.
    """
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        task = (row.eval_framework, row.eval_suite) if row.eval_only else None
        groups.setdefault((row.recipe, task), []).append(row)
    return [_pick_lowest(group) for group in groups.values()]


def _pick_lowest(group: list[Row]) -> Row:
    row = min(group, key=lambda row: min(row.conc))
    lowest = min(row.conc)
    if marked := next((row for row in group if row.run_eval), None):
        row = replace(
            row,
            run_eval=True,
            eval_conc=None if marked.eval_conc is None else lowest,
            eval_all_concs=True if any(other.eval_all_concs for other in group) else row.eval_all_concs,
            eval_framework=marked.eval_framework,
            eval_suite=marked.eval_suite,
        )
    return replace(row, conc=(lowest,))
