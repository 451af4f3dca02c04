"""Identify rows: by hardware, curve, fingerprint and id.

Planner, sign-off and results share these functions, so that they agree on which rows are the same.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Iterable
from operator import attrgetter
from typing import Any

from infx.bench.config import hardware_of as hardware_of  # noqa: PLC0414 - it belongs to this vocabulary too
from infx.bench.names import scenario_of
from infx.bench.row import Recipe, Roles, Row, render_recipe, render_row
from infx.bench.words import describe_row
from infx.records import record

ID_DIGITS = 12


@record
class Curve:
    """Points that are compared with each other: one model, scenario, engine and kind of hardware."""

    model_prefix: str
    scenario: str
    hardware: str
    framework: str
    precision: str

    def __lt__(self, other: Curve) -> bool:
        return _read_curve(self) < _read_curve(other)

    def __str__(self) -> str:
        return f"{self.model_prefix} {self.scenario} {self.hardware} {self.framework} {self.precision}"


_read_curve = attrgetter("model_prefix", "scenario", "hardware", "framework", "precision")


def curve_of(recipe: Recipe) -> Curve:
    return Curve(
        model_prefix=recipe.model_prefix,
        scenario=scenario_of(recipe),
        hardware=hardware_of(recipe.runner),
        framework=recipe.framework,
        precision=recipe.precision,
    )


def series_of(recipe: Recipe) -> Hashable:
    """Return the key of a line in a chart, a part of a curve; its points differ in concurrency and layout."""
    layout = recipe.layout
    drafts = None if recipe.is_agentic else recipe.spec_decoding
    roles = (layout.prefill.hardware, layout.decode.hardware) if isinstance(layout, Roles) else None
    return curve_of(recipe), recipe.model, recipe.runner, recipe.disagg, recipe.offloads, drafts, roles


def digest(values: Any) -> str:
    """Return the SHA-256 of the values' compact, key-sorted ASCII JSON, as 64 hex digits.

    A value that JSON does not support is converted to text.
    """
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint_recipe(recipe: Recipe) -> str:
    """Return a digest of the recipe, which all concurrencies share."""
    values = render_recipe(recipe)
    if not recipe.is_agentic:  # fixed rows without an accuracy run have this field
        values["run-eval"] = False
    return digest(values)


def row_ids(rows: Iterable[Row]) -> list[str]:
    """Return an id for each row, in order: the start of its digest, with `-2`, `-3`, … for repeated rows."""
    seen: Counter[str] = Counter()
    ids = []
    for row in rows:
        start = digest(render_row(row))[:ID_DIGITS]
        seen[start] += 1
        ids.append(start if seen[start] == 1 else f"{start}-{seen[start]}")
    return ids


@record
class IdentifiedRow:
    """A row with the id that it has in its plan."""

    id: str
    row: Row

    @property
    def recipe(self) -> Recipe:
        return self.row.recipe

    @property
    def text(self) -> str:
        return describe_row(self.row)


def identify_rows(rows: Iterable[Row]) -> tuple[IdentifiedRow, ...]:
    rows = tuple(rows)
    return tuple(IdentifiedRow(id=row_id, row=row) for row_id, row in zip(row_ids(rows), rows, strict=True))
