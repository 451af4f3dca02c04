"""Complete the rows of a plan: add fingerprints, shorten replays, add fields that only planned rows have."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from infx.bench.config import Worker
from infx.bench.identity import fingerprint_recipe
from infx.bench.row import FAST_DURATION, AgenticWorkload, Recipe, Roles, Row
from infx.matrix.planned import Planned
from infx.records import replace


def complete_throughput(planned: Iterable[Planned], *, fast: bool = False) -> Iterator[Planned]:
    """Yield throughput rows with their fingerprints; a fast row keeps the fingerprint of the full row."""
    fingerprint = functools.cache(fingerprint_recipe)
    complete = functools.cache(
        lambda recipe: _shorten(_complete_recipe(recipe)) if fast else _complete_recipe(recipe)
    )
    for item in planned:
        recipe = item.row.recipe
        yield replace(item, row=_complete_row(item.row, complete(recipe), fingerprint(recipe)))


def complete_evals(planned: Iterable[Planned]) -> Iterator[Planned]:
    complete = functools.cache(_complete_recipe)
    for item in planned:
        yield replace(item, row=_complete_row(item.row, complete(item.row.recipe)))


def _complete_row(row: Row, recipe: Recipe, fingerprint: str | None = None) -> Row:
    """Return the row with its recipe and fingerprint; fixed rows state every eval switch explicitly."""
    if recipe.is_agentic:
        return replace(row, recipe=recipe, recipe_fingerprint=fingerprint)
    return replace(
        row,
        recipe=recipe,
        recipe_fingerprint=fingerprint,
        run_eval=bool(row.run_eval),
        eval_only=bool(row.eval_only),
        eval_all_concs=bool(row.eval_all_concs) if recipe.is_multinode else None,
    )


def _complete_recipe(recipe: Recipe) -> Recipe:
    layout = recipe.layout
    if not isinstance(layout, Roles):
        return recipe
    roles = Roles(prefill=_complete_worker(layout.prefill), decode=_complete_worker(layout.decode))
    return replace(recipe, layout=roles)


def _complete_worker(worker: Worker) -> Worker:
    return replace(worker, additional_settings=worker.additional_settings or ())


def _shorten(recipe: Recipe) -> Recipe:
    workload = recipe.workload
    if isinstance(workload, AgenticWorkload):
        return replace(recipe, workload=replace(workload, duration=FAST_DURATION))
    return recipe
