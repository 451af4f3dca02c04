"""Saved facts can be loaded again; their rows have the same form as in a plan."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from infx.bench.identity import identify_rows
from infx.bench.row import render_row
from infx.errors import UsageError
from infx.saved import dump_json, parse_json, to_json
from infx.signoff.facts import SignoffFacts
from tests.matrix.rows import AGENTIC, DISAGG, FIXED
from tests.matrix.rows import row as made
from tests.signoff.facts import ROWS, facts, plan

SHAPES = (FIXED, AGENTIC, DISAGG, replace(DISAGG, workload=AGENTIC.workload))


def test_rows_of_every_shape_survive_saving() -> None:
    rows = identify_rows(
        made(recipe, 8, eval_only=eval_only) for recipe in SHAPES for eval_only in (False, True)
    )
    original = facts(plan=plan(rows, base_rows=tuple(identified.row for identified in rows)))
    saved = dump_json(original)
    assert parse_json(SignoffFacts, saved.encode(), "facts.json") == original
    [variant] = json.loads(saved)["plan"]["variants"]
    assert variant["rows"] == [{"id": row.id, "row": render_row(row.row)} for row in rows]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "00000000000a", "family": "eval", "text": "m1 c8"}, 'rows.0: found "family"; expected one of id, row'),
        ({"id": "00000000000a"}, "expected the key row"),
        ({"id": "00000000000a", "row": {"image": "a:1"}}, 'rows.0.row: found {"image": "a:1"}; expected a row of a plan'),
        ({"id": "00000000000a", "row": {**render_row(ROWS[0].row), "model": "\ud800"}}, "rows.0.row: .*lone surrogates"),
        ({"id": "00000000000a", "row": {**render_row(ROWS[0].row), "tp": float("nan")}}, "rows.0.row: "),
    ],
)  # fmt: skip
def test_saved_facts_in_another_form_are_refused(row: Any, message: str) -> None:
    # An older version saved rows in another form. The error names the place and the remedy.
    saved = json.dumps({**to_json(facts()), "plan": {"variants": [{"name": "full", "rows": [row]}]}})
    with pytest.raises(UsageError, match=rf"plan\.variants\.0\..*{message}") as error:
        parse_json(SignoffFacts, saved.encode(), "facts.json")
    assert error.value.hint == "Save it again with this version of infx, or fix it."
