"""Rows as JSON: infx can read every row that fits the schema."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from infx import schema
from infx.bench.row import Row, RowReader, render_row
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

FULL = replace(
    row(replace(FIXED, srt_recipe="a.yaml", eval_srt_recipe="b.yaml", power=True), eval_only=True),
    eval_framework="lm-eval",
    eval_suite="",
    recipe_fingerprint="0" * 64,
)
ROWS = (FULL, row(AGENTIC), row(DISAGG, 4, 8), row(replace(DISAGG, workload=AGENTIC.workload), 8))


def drop_keys(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield copies with one key removed, from the row or from a mapping within it."""
    for key, value in values.items():
        yield {name: other for name, other in values.items() if name != key}
        if isinstance(value, dict):
            for smaller in drop_keys(value):
                yield {**values, key: smaller}


@pytest.mark.parametrize("whole", ROWS, ids=["single fixed", "single AgentX", "multi fixed", "multi AgentX"])
def test_a_row_without_optional_fields_is_read(whole: Row) -> None:
    values = render_row(whole)
    assert RowReader().read(values) == whole
    valid_copies = [copy.deepcopy(item) for item in drop_keys(values) if schema.is_valid("matrix-row", item)]
    assert valid_copies
    for valid_copy in valid_copies:
        RowReader().read(valid_copy)


def test_omitted_degrees_of_a_worker_are_1() -> None:
    values = render_row(row(DISAGG, 4))
    for name in ("pp", "dcp-size", "pcp-size"):
        del values["prefill"][name], values["decode"][name]
    assert RowReader().read(values) == row(DISAGG, 4)
