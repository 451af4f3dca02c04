from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from infx.bench.job_names import JobName, parse_job_name
from infx.bench.jobs import render_job_name
from tests.matrix.rows import DISAGG, FIXED, row

SCORE = Decimal("2.500")


def test_a_long_name_loses_only_text() -> None:
    long = replace(DISAGG, framework="dynamo-vllm-with-a-name-that-goes-on-and-on-and-on")
    name = render_job_name("0123456789ab-12", "multi-node 8k1k", row(long), SCORE)
    assert len(name) == 100
    assert name.endswith("…")
    expected = JobName(id="0123456789ab-12", family="multi-node 8k1k", runner="cluster:h200-a")
    assert parse_job_name(name) == expected
    assert parse_job_name(f"sweep / shard 3 / {name}") == expected


@pytest.mark.parametrize(
    "name",
    [
        "collect",
        "0123456789ab",
        "0123456789a · agentic · r",
        "0123456789ab-1 · agentic · r",
        "x0123456789ab · agentic · r",
        "",
    ],
)
def test_other_jobs_are_not_rows(name: str) -> None:
    assert parse_job_name(name) is None


def test_a_hostile_runner_label_cannot_imitate_another_row() -> None:
    evil = row(replace(FIXED, runner="gpu / 000000000000 · canary · h200"))
    parsed = parse_job_name("sweep / " + render_job_name("0123456789ab", "single-node 8k1k", evil, SCORE))
    assert parsed is not None
    assert (parsed.id, parsed.family) == ("0123456789ab", "single-node 8k1k")
