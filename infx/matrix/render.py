"""Render rows and plans as JSON text with one row per line, so that a diff of two outputs shows rows."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from infx.bench.row import Row, render_point, render_recipe

if TYPE_CHECKING:
    from infx.bench.entry import Entry
    from infx.matrix.plan import Plan

_dump = json.JSONEncoder(ensure_ascii=False).encode
_EMPTY_BUCKETS = ("evals", "agentic_evals", "multinode_evals", "multinode_agentic_evals")


def render_rows(rows: Iterable[Row]) -> str:
    """Render rows as a JSON array."""
    return "".join(_render_list(rows, ""))


def render_plan(plan: Plan, *, base_ref: str, head_ref: str) -> Iterator[str]:
    """Yield a plan's JSON object in pieces, so that a large plan is never one string."""
    from infx.bench.family import bucket_of

    nested: dict[str, dict[str, list[Row]]] = {"single_node": {}, "multi_node": {}}
    flat: dict[str, list[Row]] = {name: [] for name in _EMPTY_BUCKETS}
    for planned in plan.rows:
        bucket, *kind = bucket_of(planned.row)
        rows = nested[bucket].setdefault(kind[0], []) if kind else flat[bucket]
        rows.append(planned.row)
    metadata = {
        "base_ref": base_ref,
        "head_ref": head_ref,
        "entries": [render_entry(entry) for entry in plan.entries],
    }
    yield "{\n"
    for bucket, kinds in nested.items():
        yield f'"{bucket}": {{'
        for index, (name, rows) in enumerate(kinds.items()):
            yield f'{"," if index else ""}\n "{name}": '
            yield from _render_list(rows, " ")
        yield "},\n"
    for bucket, rows in flat.items():
        yield f'"{bucket}": '
        yield from _render_list(rows, "")
        yield ",\n"
    yield f'"changelog_metadata": {_dump(metadata)}\n}}'


def _render_list(rows: Iterable[Row], indent: str) -> Iterator[str]:
    start_of = functools.cache(lambda recipe: _dump(render_recipe(recipe)).removesuffix("}"))
    lead = "["
    for row in rows:
        point = _dump(render_point(row)).removeprefix("{")
        yield f"{lead}\n{indent} {start_of(row.recipe)}, {point}"
        lead = ","
    yield "[]" if lead == "[" else f"\n{indent}]"


def render_entry(entry: Entry) -> dict[str, Any]:
    """Render an entry with the changelog's keys; the first three switches are always present."""
    values: dict[str, Any] = {
        "config-keys": list(entry.config_keys),
        "description": list(entry.description),
        "pr-link": entry.pr_link,
        "evals-only": entry.evals_only,
        "all-evals": entry.all_evals,
        "append-only": entry.append_only,
    }
    if entry.no_evals:
        values["no-evals"] = True
    if entry.scenario_types:
        values["scenario-type"] = [name.value for name in entry.scenario_types]
    if entry.eval_min_prefill_ep is not None:
        values["eval-min-prefill-ep"] = entry.eval_min_prefill_ep
    return {key: value for key, value in values.items() if value is not None}
