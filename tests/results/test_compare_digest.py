"""The summary of a comparison that a sweep uploads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infx.results.artifact import ReadArtifact
from infx.results.compare_digest import (
    MAX_LARGEST,
    ComparisonDigest,
    describe_digest,
    make_digest,
    read_digest,
    render_digest,
    render_large_changes,
)
from tests.results.comparisons import compare_results, result
from tests.results.made import artifact

HEADS = ("a", "b", "c", "d", "e")


def read(value: Any) -> ComparisonDigest | None:
    return read_digest(artifact("results_compare", {"comparison.json": value}))


def make() -> ComparisonDigest:
    current = [result(conc=number, tput_per_gpu=100.0 + number, median_ttft=0.1) for number in range(1, 21)]
    return make_digest(compare_results(current, *(result(conc=number) for number in range(1, 19))))


def test_a_digest_has_counts_and_the_largest_changes() -> None:
    digest = make()
    assert (digest.rows, digest.compared, digest.better, digest.worse, digest.equal) == (20, 18, 18, 0, 0)
    assert len(digest.largest) == MAX_LARGEST
    assert read(render_digest(digest)) == digest
    lines = render_large_changes(digest, HEADS).splitlines()
    assert lines[2:4] == [
        "| `m1 b200 vllm fp4 none 1024-1024 tp4 c1` | TPUT/GPU | 101 | 100 | 🟢 +1.00 (+1.0%) |",
        "|  | TTFT Median (ms) | 100 | 200 | 🟢 -100.0000 (-50.0%) |",
    ]


def test_equal_results_are_not_large_changes() -> None:
    digest = make_digest(compare_results([result()], result()))
    assert (digest.equal, digest.largest, render_large_changes(digest, HEADS)) == (1, (), "")


LARGE: dict[str, Any] = {"row": "m1 c4", "changes": [{"metric": "TPUT/GPU", "value": 2.0, "baseline": 1.0}]}


@pytest.mark.parametrize(
    "value",
    [
        b"{", b"[]", {}, {"rows": 1}, {"rows": "1", "compared": 0}, {"rows": -1, "compared": 0},
        {"rows": 10**30, "compared": 0}, {"rows": 1, "compared": 0, "more": 1}, {"rows": 1, "compared": 0, "store-failed": "@octocat"},
        {"rows": 1, "compared": 1, "largest": [LARGE] * 11},
        {"rows": 1, "compared": 1, "largest": [{**LARGE, "row": "x" * 161}]},
        {"rows": 1, "compared": 1, "largest": [{**LARGE, "changes": LARGE["changes"] * 3}]},
        {"rows": 1, "compared": 1, "largest": [{"row": "x", "changes": [{"metric": "@octocat", "value": 1.0, "baseline": 1.0}]}]},
        {"rows": 1, "compared": 1, "largest": [{"row": "x", "changes": [{"metric": "TTFT P99 (ms)", "value": 1e20, "baseline": 1.0}]}]},
        b'{"rows": 1, "compared": 1, "largest": [{"row": "x", "changes": [{"metric": "TTFT P99 (ms)", "value": NaN, "baseline": 1}]}]}',
    ],
    ids=lambda value: str(value)[:70],
)  # fmt: skip
def test_a_digest_of_another_form_is_not_shown(value: Any) -> None:
    assert read({"rows": 1, "compared": 1, "largest": [LARGE]}) is not None
    assert read(value) is None


def test_an_artifact_without_a_digest() -> None:
    assert read_digest(ReadArtifact(name="results_compare", fault="it is not a zip file")) is None
    assert read_digest(artifact("results_compare", {"other.json": {"rows": 1, "compared": 0}})) is None


@pytest.mark.parametrize(
    ("digest", "expected"),
    [
        (ComparisonDigest(rows=0, compared=0), "There is nothing to compare."),
        (
            ComparisonDigest(rows=0, compared=0, refused=1),
            "There is nothing to compare. 1 result cannot be compared.",
        ),
        (ComparisonDigest(rows=2, compared=0), "No result of 2 has a published baseline."),
        (
            ComparisonDigest(rows=2000, compared=2000, better=1500, worse=3, equal=497),
            "2,000 of 2,000 results have a published baseline; throughput per GPU: 1,500 better, 3 worse and 497 equal.",
        ),
        (
            ComparisonDigest(rows=2, compared=0, store_failed=True),
            "No baseline could be read from the store of published results.",
        ),
    ],
    ids=str,
)
def test_counts_in_words(digest: ComparisonDigest, expected: str) -> None:
    assert describe_digest(digest) == expected


def test_numbers_survive_json() -> None:
    digest = make_digest(compare_results([result(tput_per_gpu=0.1 + 0.2)], result(tput_per_gpu=1 / 3)))
    assert read(json.loads(json.dumps(render_digest(digest)))) == digest
