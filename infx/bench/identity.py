"""What makes a row the row that it is: the hardware, the curves and the digests that it is known by.

Planner, sign-off and results ask here, so that they cannot take different rows for the same, or the same for two.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from infx.bench.names import scenario_of
from infx.bench.row import Recipe, Roles, Row, render_recipe, render_row
from infx.bench.words import describe_row

ID_DIGITS = 12


def hardware_of(runner: str) -> str:
    """Return the family of GPUs behind a runner label: `b200` of `cluster:b200-nv`, whatever its case."""
    return runner.removeprefix("cluster:").partition("-")[0].lower()


@dataclass(frozen=True, kw_only=True, order=True)
class Curve:
    """What is compared as one: the same model in the same scenario, by one engine on one hardware."""

    model_prefix: str
    scenario: str
    hardware: str
    framework: str
    precision: str

    def __str__(self) -> str:
        return f"{self.model_prefix} {self.scenario} {self.hardware} {self.framework} {self.precision}"


def curve_of(recipe: Recipe) -> Curve:
    return Curve(
        model_prefix=recipe.model_prefix,
        scenario=scenario_of(recipe),
        hardware=hardware_of(recipe.runner),
        framework=recipe.framework,
        precision=recipe.precision,
    )


def series_of(recipe: Recipe) -> Hashable:
    """Return what a chart draws as one line, a part of a curve: points of a series differ in concurrency and layout."""
    layout = recipe.layout
    drafts = None if recipe.is_agentic else recipe.spec_decoding
    roles = (layout.prefill.hardware, layout.decode.hardware) if isinstance(layout, Roles) else None
    return curve_of(recipe), recipe.model, recipe.runner, recipe.disagg, recipe.offloads, drafts, roles


def digest(values: Any) -> str:
    """Return the SHA-256, 64 hex digits, of the values' compact, key-sorted, ASCII JSON; what JSON does not know is text."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint_recipe(recipe: Recipe) -> str:
    """Return the name for what is measured, the same for all concurrencies.

    Fixed workloads hash with `run-eval: false`, as their rows have it when no accuracy run is asked for.
    """
    values = render_recipe(recipe)
    if not recipe.is_agentic:
        values["run-eval"] = False
    return digest(values)


def row_ids(rows: Iterable[Row]) -> list[str]:
    """Return an id for each row, in order: the start of its digest; the second of two identical rows ends in `-2`,
    and so on.
    """
    seen: Counter[str] = Counter()
    ids = []
    for row in rows:
        start = digest(render_row(row))[:ID_DIGITS]
        seen[start] += 1
        ids.append(start if seen[start] == 1 else f"{start}-{seen[start]}")
    return ids


@dataclass(frozen=True, kw_only=True)
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
