"""Classify rows: the family in a job's name, and the position in a plan's JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from infx import schema
from infx.bench.names import scenario_of
from infx.bench.row import Row, RowReader
from infx.errors import InfxError
from infx.phrases import count

CANARY = "canary"
_EVAL_BUCKETS = {
    (False, False): "evals",
    (False, True): "agentic_evals",
    (True, False): "multinode_evals",
    (True, True): "multinode_agentic_evals",
}


def bucket_of(row: Row) -> tuple[str, ...]:
    """Return the keys that lead to the row's list in a plan."""
    recipe = row.recipe
    if row.eval_only:
        return (_EVAL_BUCKETS[recipe.is_multinode, recipe.is_agentic],)
    return ("multi_node" if recipe.is_multinode else "single_node", scenario_of(recipe))


def places_of(rows: Iterable[Row]) -> list[str]:
    """Return the position of each row in the plan's JSON, such as `single_node/8k1k/0`."""
    counts: Counter[tuple[str, ...]] = Counter()
    places = []
    for row in rows:
        bucket = bucket_of(row)
        places.append("/".join((*bucket, str(counts[bucket]))))
        counts[bucket] += 1
    return places


def family_of(row: Row) -> str:
    """Return the kind of job in a job's name, such as `single-node 8k1k` or `multi-node agentic eval`."""
    recipe = row.recipe
    nodes = "multi-node" if recipe.is_multinode else "single-node"
    if row.eval_only:
        parts = ("multi-node" if recipe.is_multinode else "", "agentic" if recipe.is_agentic else "", "eval")
        return " ".join(part for part in parts if part)
    if recipe.is_agentic:
        return "multi-node agentic" if recipe.is_multinode else "agentic"
    return f"{nodes} {scenario_of(recipe)}"


def read_rows(plan: Any, path: str) -> list[Row]:
    """Return the rows of a plan's JSON, bucket after bucket.

    Raises InfxError for a value that is not a row, or for a row in the wrong bucket.
    """
    reader = RowReader()
    rows, invalid, misplaced = [], [], []
    for place, values in _list_values(plan):
        if not schema.is_valid("matrix-row", values):
            invalid.append(place)
            continue
        row = reader.read(values)
        bucket = "/".join(bucket_of(row))
        if place.rpartition("/")[0] != bucket:
            misplaced.append((place, bucket))
        rows.append(row)
    if misplaced and not invalid:
        (place, bucket), others = misplaced[0], len(misplaced) - 1
        more = f", and {count(others, 'other row')} elsewhere" if others else ""
        raise InfxError(
            f"The row at {place} belongs to {bucket}{more}.",
            hint="Create the plan again with infx plan.",
            where=path,
        )
    if invalid:
        more = f" and {len(invalid) - 1:,} more are not rows" if len(invalid) > 1 else " is not a row"
        raise InfxError(
            f"{invalid[0]}{more} of a plan.", hint="Create the plan again with infx plan.", where=path
        )
    return rows


def _list_values(plan: Any) -> list[tuple[str, Any]]:
    if not isinstance(plan, Mapping):
        return [("The file", plan)]
    values = []
    for bucket in ("single_node", "multi_node", *_EVAL_BUCKETS.values()):
        below = plan.get(bucket) or []
        lists = (
            {f"{bucket}/{kind}": items for kind, items in below.items()}
            if isinstance(below, Mapping)
            else {bucket: below}
        )
        for name, items in lists.items():
            rows = items if isinstance(items, list) else [items]
            values += [(f"{name}/{index}", row) for index, row in enumerate(rows)]
    return values
