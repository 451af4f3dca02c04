"""Every folder of rows that the existing collector read, against ours.

The existing collector checks nothing, so the cases' rows have hardly a field. Each gets the fields of a result, and a plan
that asks for it: then the same rows must be published.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infx.artifacts import read_folder
from infx.bench.uploads import artifact_name
from infx.errors import UsageError
from infx.results.collect import Collection, RowState, collect, list_problems
from tests.golden import read_cases, require_data
from tests.matrix.rows import FIXED, row
from tests.results.made import RULES, make_jobs, result

pytestmark = pytest.mark.golden

CASES = read_cases("collect_results")
SPARSE = {"conc"}  # the fields by which the cases tell rows apart


def complete(value: Any) -> Any:
    """Return a row with every field of a result; values that are not rows stay."""
    if isinstance(value, list):
        return [complete(item) for item in value]
    return (
        {**result(benchmark_outcome=None), **value} if isinstance(value, dict) and "conc" in value else value
    )


def write(case: dict[str, Any], folder: Path) -> list[int]:
    """Write the files of a case, and return the concurrencies of its rows, also of rows that cannot be read."""
    concs = []
    for name, value in case["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, str):
            path.write_text(value)
            concs += [
                int(word)
                for word in value.replace('{"conc":', " ").replace(",", " ").split()
                if word.isdigit()
            ]
            continue
        path.write_text(json.dumps(complete(value)))
        if name.endswith(".json"):
            rows = [value] if isinstance(value, dict) else [row for row in value if isinstance(row, dict)]
            concs += [row["conc"] for row in rows if "conc" in row]
    return concs


def gather(case: dict[str, Any], folder: Path) -> Collection:
    """Collect a case: each of its folders is the artifact of a row with all concurrencies of the case."""
    concs = write(case, folder)
    places = sorted({name.split("/")[0] for name in case["files"]})
    jobs = make_jobs([row(FIXED, *sorted({*concs, 9000 + number})) for number, _ in enumerate(places)])
    for place, job in zip(places, jobs, strict=True):
        (folder / place).rename(folder / artifact_name(job))
    return collect(jobs, read_folder(folder), RULES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_rows_are_collected_like_by_the_existing_collector(case: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "artifacts"
    if not case["files"] and "fail" in case["right_outcome"]:  # there is no folder
        with pytest.raises(UsageError):
            list(read_folder(folder))
        return
    folder.mkdir()
    collection = gather(case, folder)
    published = sorted(point.row.conc for point in collection.points)
    words = case["right_outcome"]
    if words == "as upstream":
        flat = [item for row in case["rows_any_order"] for item in (row if isinstance(row, list) else [row])]
        assert published == sorted(row["conc"] for row in flat)
        assert not collection.rejected
        return
    assert collection.rejected  # every other outcome rejects a file, and keeps the good rows
    assert all(item.path and item.faults for item in collection.rejected)
    rejected = {f"{item.artifact}/{item.path}" for item in collection.rejected}
    assert len(published) == sum(name.endswith(".json") for name in case["files"]) - len(rejected)
    if "exit 1" in words:
        assert {item.rule for item in list_problems(collection)} >= {"result-rejected"}
        assert collection.find_rows(RowState.FAILED)


def test_there_are_cases() -> None:
    require_data()
    assert CASES
