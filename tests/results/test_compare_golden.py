"""Compare with the cases that were made with the existing comparison over a stub of its database."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

import pytest

from infx.policy.results import ResultRules
from infx.records import replace
from infx.results.compare import ResultComparison, compare, flatten_results, read_results
from infx.results.compare_metrics import ABSENT, MetricChange, Trend
from infx.results.compare_tables import identify_cells, make_tables
from infx.results.series import Publication, StoredRow, make_row
from infx.store.memory import MemoryStore
from tests.golden import read_cases, require_data
from tests.results.made import RULES

pytestmark = pytest.mark.golden

DAY = datetime(2026, 8, 21, tzinfo=UTC)
Tables = list[dict[str, Any]]
CASES = read_cases("compare")
COLORS = {Trend.BETTER: "green", Trend.WORSE: "red", Trend.EQUAL: None}
# The baseline's table has one set of columns for both roles and for a single engine.
SHARED_COLUMNS = ("framework", "precision", "disagg", "is_multinode", "isl", "osl", "conc")
ROLE_COLUMNS = tuple(
    f"{role}_{name}" for role in ("prefill", "decode") for name in ("tp", "ep", "dp_attention")
)


def compare_case(case: Mapping[str, Any]) -> ResultComparison:
    results = read_results(flatten_results(list(case["current_files"].items())), read_rules(case))
    workers = find_workers(case)
    # A store has only official rows: those of the base branch, without an error.
    official = [row for row in case["baseline_rows"] if row["head_branch"] == "main" and row["error"] is None]
    stored = tuple(make_stored_row(row, number, workers) for number, row in enumerate(official, 1))
    store = MemoryStore()
    store.publish(
        Publication(run=1, attempt=1, commit="c" * 40, origin="merge", published_at=DAY, rows=stored)
    )
    return compare(results, store.read_newest(results.list_series()))


def read_rules(case: Mapping[str, Any]) -> ResultRules:
    """Return rules with the aliases that the right outcome names, such as `{gptoss: [gptoss120b]}`."""
    named = re.search(r"model-aliases \{(\S+): \[([^]]*)\]\}", case["right_outcome"])
    aliases = {named[1]: tuple(named[2].split(", "))} if named else {}
    return replace(RULES, model_aliases=aliases)


def find_workers(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of workers of the first multi-node result: the baseline's table has no columns for them."""
    results = [value for _, value in flatten_results(list(case["current_files"].items()))]
    names = [f"{role}_num_workers" for role in ("prefill", "decode")]
    return next(({name: row[name] for name in names} for row in results if names[0] in row), {})


def make_stored_row(row: Mapping[str, Any], number: int, workers: Mapping[str, Any]) -> StoredRow:
    """Return a row of the baseline's table as a store has it."""
    values = {name: row[name] for name in SHARED_COLUMNS} | row["metrics"]
    values |= {
        "hw": row["hardware"],
        "infmax_model_prefix": row["model"],
        "spec_decoding": row["spec_method"],
    }
    if row["is_multinode"]:
        values |= {**workers, **{name: row[name] for name in ROLE_COLUMNS}}
        values |= {
            name: row.get(name, workers.get(name, 1))
            for name in ("prefill_num_workers", "decode_num_workers")
        }
    else:
        values |= {name: row[f"prefill_{name}"] for name in ("tp", "ep", "dp_attention")}
    values |= {name: row[name] for name in ("pp", "dcp_size", "pcp_size") if name in row}
    day = datetime.fromisoformat(row["date"]).replace(tzinfo=UTC)
    return make_row(values, run=number, attempt=1, row_id="r1", commit="c" * 40, measured_at=day)


def expect_tables(case: Mapping[str, Any]) -> Tables:
    """Return the tables of the right outcome, which each rule derives from the tables of the existing comparison."""
    tables: Tables = case["tables"] or []
    for holds, change in RULES_OF_DIFFERENCE:
        if holds(case):
            tables = change(tables)
    return tables


def without_baseline(tables: Tables) -> Tables:
    """Return the tables with N/A for every change."""
    return [
        {
            **table,
            "rows": [[ABSENT if isinstance(cell, dict) else cell for cell in row] for row in table["rows"]],
        }
        for table in tables
    ]


def with_plain_hardware(tables: Tables) -> Tables:
    """Return the tables with the hardware H200 instead of H200-TRT, and without its changes, which are checked apart."""
    return [
        {**table, "rows": [["H200" if cell == "H200-TRT" else cell for cell in row] for row in table["rows"]]}
        for table in tables
    ]


# Where the right outcome is not that of the existing comparison: whether the words are in the case, and what changes.
RULES_OF_DIFFERENCE: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Tables], Tables]], ...] = (
    # Another prefix, or another number of stages or workers, is another series, so that there is no baseline.
    (lambda case: case["right_outcome"] == "no baseline", without_baseline),
    (lambda case: case["right_outcome"].endswith("is another configuration"), without_baseline),
    # A suffix in upper case is a suffix too.
    (lambda case: case["right_outcome"].startswith("lower first"), with_plain_hardware),
)


def is_same_cell(own: str | MetricChange, expected: str | dict[str, Any], *, finds_more: bool) -> bool:
    if isinstance(own, MetricChange):
        if isinstance(expected, str):
            return expected == ABSENT and (own.trend is None or finds_more)
        (color,) = (value for name, value in expected.items() if name not in {"delta", "percent"})
        shown = (own.difference_text, own.percent_text, own.trend and COLORS[own.trend])
        return shown == (expected["delta"], expected["percent"], color)
    assert isinstance(expected, str)
    return own == expected or is_same_number(own, expected)


def is_same_number(own: str, expected: str) -> bool:
    """Return whether two numbers are equal within the digits of the expected text."""
    try:
        digits = len(expected.partition(".")[2])
        # Six significant digits are shown, so that 123456.79 is 123457.
        return math.isclose(float(own), float(expected), rel_tol=0, abs_tol=0.5001 * 0.1**digits)
    except ValueError:
        return False


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_tables_equal_those_of_the_case(case: dict[str, Any]) -> None:
    if case["crash"]:
        pytest.skip("the existing comparison ended without a table; the test below checks the words")
    comparison = compare_case(case)
    tables = make_tables(comparison.rows)
    expected = expect_tables(case)
    assert [table.title for table in tables] == [table["title"] for table in expected]
    assert [table.columns for table in tables] == [table["headers"] for table in expected]
    finds_more = case["right_outcome"].startswith("lower first")
    for table, wanted in zip(tables, expected, strict=True):
        for row, wanted_row in zip_longest(table.rows, wanted["rows"]):
            cells: list[str | MetricChange] = list(identify_cells(row.row))
            for change in row.changes:
                cells += [change.value_text, change]
            wrong = [
                (column, own, cell)
                for column, own, cell in zip_longest(table.columns, cells, wanted_row)
                if not is_same_cell(own, cell, finds_more=finds_more)
            ]
            assert not wrong, case["name"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_words_of_a_right_outcome_hold(case: dict[str, Any]) -> None:
    comparison, words = compare_case(case), case["right_outcome"]
    compared = len(comparison.compared)
    if not case["crash"]:
        assert bool(comparison.rows) is not case["nothing_to_compare"]
    if words == "no baseline" or words.endswith("is another configuration"):
        assert comparison.rows
        assert not compared
    elif words.startswith("lower first"):
        assert compared == 1
    elif words == "that row named as not comparable, others shown":
        results = flatten_results(list(case["current_files"].items()))
        missing = [
            where for where, row in results if any(row.get(name) is None for name in list_required(row))
        ]
        assert [item.where for item in comparison.refused] == missing
        assert len(comparison.rows) == len(results) - len(missing)
    else:
        assert words.startswith("as upstream"), "a case of a new kind needs a rule"
        assert not comparison.refused


def list_required(row: Mapping[str, Any]) -> list[str]:
    """Return the fields without which the existing comparison ends with an error."""
    roles = [f"{role}_{name}" for role in ("prefill", "decode") for name in ("tp", "ep")]
    sizes = roles if str(row.get("is_multinode")).lower() == "true" else ["tp", "ep"]
    return ["infmax_model_prefix", "model", "framework", "isl", "osl", "conc", *sizes]


def test_there_are_cases() -> None:
    require_data()
    assert CASES
