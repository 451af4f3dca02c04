"""Check which rows of a merge's plan a finished sweep covers."""

from __future__ import annotations

from typing import Any

import pytest

from infx.evidence.rows import FULL
from infx.reuse.coverage import Coverage, MergePlan, MergeRow, SourceSweep, compute_coverage

PLAN = MergePlan(
    rows=(
        MergeRow(id="a1", key="a", files=("benchmarks/a.sh",)),
        MergeRow(id="a2", key="a", files=("benchmarks/a.sh",)),
        MergeRow(id="b1", key="b", files=("benchmarks/b.sh",)),
    )
)
ALL = ("a1", "a2", "b1")


def sweep(**fields: Any) -> SourceSweep:
    return SourceSweep(**{"kind": FULL, "done": ALL, **fields})


@pytest.mark.parametrize(
    ("fields", "covered", "stale", "missing"),
    [
        pytest.param({}, ALL, (), (), id="nothing changed"),
        pytest.param({"done": ("a1", "b1")}, ("a1", "b1"), (), ("a2",), id="a row failed"),
        pytest.param({"done": (*ALL, "c1")}, ALL, (), (), id="a row more than the merge plans"),
        pytest.param({"done": ()}, (), (), ALL, id="no row succeeded"),
        pytest.param({"changed_keys": ("a",)}, ("b1",), ("a1", "a2"), (), id="a configuration changed"),
        pytest.param({"changed_keys": ("c",)}, ALL, (), (), id="another configuration changed"),
        pytest.param(
            {"changed_files": ("benchmarks/b.sh",)}, ("a1", "a2"), ("b1",), (), id="a recipe changed"
        ),
        pytest.param({"changed_files": ("benchmarks/c.sh",)}, ALL, (), (), id="another recipe changed"),
        pytest.param({"shared_files": ("benchmarks/lib.sh",)}, (), ALL, (), id="a shared file changed"),
        pytest.param(
            {"changed_keys": ("a",), "done": ("a1", "b1")}, ("b1",), ("a1",), ("a2",), id="failed and changed"
        ),
    ],
)
def test_each_row_is_covered_stale_or_missing(
    fields: dict[str, Any], covered: tuple[str, ...], stale: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    coverage = Coverage(covered=covered, stale=stale, missing=missing)
    assert compute_coverage(PLAN, sweep(**fields)) == coverage
    assert coverage.total == 3
    assert coverage.is_complete == (covered == ALL)
    assert set(coverage.uncovered) == {*stale, *missing}


@pytest.mark.parametrize(
    ("plan", "source"),
    [
        pytest.param(MergePlan(problem="no clone"), sweep(), id="the merge cannot be planned"),
        pytest.param(PLAN, None, id="the run was not looked at"),
        pytest.param(PLAN, sweep(kind=None), id="its own commit cannot be planned"),
        pytest.param(PLAN, sweep(edits=None), id="git does not have its commit"),
    ],
)
def test_what_is_unknown_covers_nothing(plan: MergePlan, source: SourceSweep | None) -> None:
    assert compute_coverage(plan, source) is None


@pytest.mark.parametrize(
    ("coverage", "words"),
    [
        (Coverage(covered=("a",)), "1 of 1 row"),
        (Coverage(covered=ALL), "3 of 3 rows"),
        (Coverage(covered=("a1",), missing=("a2", "b1")), "1 of 3 rows (2 missing)"),
        (Coverage(stale=("a1",), missing=("a2",)), "0 of 2 rows (1 missing, 1 stale)"),
    ],
)
def test_the_counts_are_said_in_words(coverage: Coverage, words: str) -> None:
    assert coverage.words == words
