"""Facts as they are saved and read again: a row in them has the form that it has in every plan."""

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


def test_saved_rows_of_every_shape_are_the_same_rows_again() -> None:
    rows = identify_rows(
        made(recipe, 8, eval_only=eval_only) for recipe in SHAPES for eval_only in (False, True)
    )
    given = facts(plan=plan(rows, base_rows=tuple(one.row for one in rows)))
    saved = dump_json(given)
    assert parse_json(SignoffFacts, saved.encode(), "facts.json") == given
    [variant] = json.loads(saved)["plan"]["variants"]
    assert variant["rows"] == [{"id": one.id, "row": render_row(one.row)} for one in rows]


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
def test_saved_facts_of_another_form_are_refused(row: Any, message: str) -> None:
    """Those of before rows stood in them whole, among others: the place is named, and what to do."""
    saved = json.dumps({**to_json(facts()), "plan": {"variants": [{"name": "full", "rows": [row]}]}})
    with pytest.raises(UsageError, match=rf"plan\.variants\.0\..*{message}") as error:
        parse_json(SignoffFacts, saved.encode(), "facts.json")
    assert error.value.hint == "Save it again with this version of infx, or fix it."
