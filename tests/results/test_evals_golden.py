"""Every folder of accuracy results that the existing collector read, against ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infx.results.artifact import ArtifactFile
from infx.results.eval_row import EvalRow, render_eval
from infx.results.eval_tables import make_tables
from infx.results.evals import EvalReader
from tests.golden import read_cases, require_data
from tests.results.made import RULES

pytestmark = pytest.mark.golden

CASES = read_cases("collect_eval")
# Fields that keep the value which is compared with the plan: the existing collector changes the case of names, and
# replaces the model by its name on the server, which ours has as served_model.
KEPT = {"hw": str.upper, "framework": str.lower, "precision": str.lower}


def read(case: dict[str, Any]) -> tuple[list[EvalRow], list[tuple[str, str]]]:
    files = [
        ArtifactFile(
            path=name,
            data=(value if isinstance(value, str) else json.dumps(value)).encode(),
            modified=float(case["mtime_offsets"].get(name, 0)),
        )
        for name, value in case["files"].items()
    ]
    return EvalReader(check_meta=lambda meta: [], rules=RULES).read(files, "in")


def render(row: EvalRow) -> dict[str, Any]:
    values = render_eval(row)
    values |= {name: change(values[name]) for name, change in KEPT.items() if name in values}
    return {**values, "model": values["served_model"]}


def list_tables(rows: list[EvalRow], case: dict[str, Any]) -> list[dict[str, Any]]:
    tables = make_tables([("x", row) for row in rows], by_hardware=case["args"][2:] == ["hw"])
    return [
        {"title": table.title, "headers": [*table.headers], "rows": [[*cells] for _, cells in table.lines]}
        for table in tables
    ]


def sort_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["source"], row["task"]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_accuracy_results_are_read_like_by_the_existing_collector(case: dict[str, Any]) -> None:
    rows, faults = read(case)
    if case["right_outcome"] != "as upstream":
        check_words(case["right_outcome"], rows, faults, case)
        return
    expected = sort_rows(case["rows"])
    ours = sort_rows([render(row) for row in rows])
    assert len(ours) == len(expected), faults
    for own, row in zip(ours, expected, strict=True):
        assert {name: own.get(name) for name in row} == row
    assert list_tables(rows, case) == case["tables"]
    assert bool(rows) is not case["empty_note"]


def check_words(words: str, rows: list[EvalRow], faults: list[tuple[str, str]], case: dict[str, Any]) -> None:
    """Check that an outcome in words holds. Rows that are published without a fault are as good as the words allow."""
    scores = [row.score for row in rows]
    if words.startswith("the time in the name"):
        assert scores == [float(words.rpartition(" ")[2])]
    elif words.startswith("score "):  # a score, and the metric that it is from
        number, name = words.removeprefix("score ").split(", ")
        assert [(row.score, name in str(row.score_name)) for row in rows] == [(float(number), True)]
    elif "infrastructure failure" in words:
        assert [(row.score, row.fault is None) for row in rows] == [(None, False)]
        assert [render_eval(row)["infrastructure_success"] for row in rows] == [False]
    elif words == "unknown":  # a value that the metadata does not have
        assert [table["rows"][0][1] for table in list_tables(rows, case)] == ["UNKNOWN"]
    elif "fault" in words or "fail" in words or "reject" in words:
        assert faults or any(row.fault for row in rows)
        assert all(path for path, _ in faults)
    else:
        pytest.fail(f"no rule for: {words}")


def test_there_are_cases() -> None:
    require_data()
    assert CASES
