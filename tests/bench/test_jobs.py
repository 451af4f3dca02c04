from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from decimal import Decimal

import pytest

from infx.bench.config import Parallelism
from infx.bench.jobs import (
    JobName,
    describe_layout,
    describe_row,
    job_name,
    parse_job_name,
    row_digest,
    row_ids,
)
from infx.bench.row import Row, render_row
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

SCORE = Decimal("2.500")


def test_an_id_is_twelve_digits_of_the_canonical_json() -> None:
    text = json.dumps(render_row(row()), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert row_digest(row()) == hashlib.sha256(text.encode()).hexdigest()[:12]


def test_identical_rows_are_numbered_from_the_second() -> None:
    one, other = row(FIXED, 1), row(FIXED, 2)
    first, second, third, fourth = row_ids([one, other, one, one])
    assert (third, fourth) == (f"{first}-2", f"{first}-3")
    assert second == row_digest(other)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (row(FIXED, 64), "m1 fp8 cluster:h200-a vllm TP8 c64"),
        (row(AGENTIC, 8), "m1 fp8 cluster:h200-a vllm TP8 mtp kvdram-mooncake c8"),
        (
            row(AGENTIC, 8, eval_only=True),
            "m1 fp8 cluster:h200-a vllm TP8 mtp kvdram-mooncake c8 | eval-only",
        ),
        (
            row(DISAGG, 4, 16),
            "m1 fp8 cluster:h200-a dynamo-vllm 2P (TP8/EP8/DPA) x 1D (TP16/EP16) c4,16",
        ),
        (row(replace(FIXED, framework="sglang-disagg")), "m1 fp8 cluster:h200-a sgl-disagg TP8 c64"),
    ],
)
def test_rows_in_one_line(value: Row, text: str) -> None:
    assert describe_row(value) == text
    assert describe_row(value, SCORE) == f"p2.500 | {text}"


def test_a_layout_names_every_degree_that_is_not_one() -> None:
    engine = Parallelism(tp=8, pp=2, dcp_size=4, pcp_size=2, ep=8, dp_attn=True)
    assert describe_layout(replace(FIXED, layout=engine)) == "TP8/PP2/DCP4/PCP2/EP8/DPA"


def test_a_long_name_loses_only_text() -> None:
    long = replace(DISAGG, framework="dynamo-vllm-with-a-name-that-goes-on-and-on-and-on")
    name = job_name("0123456789ab-12", "multi-node 8k1k", row(long), SCORE)
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
def test_other_jobs_are_no_rows(name: str) -> None:
    assert parse_job_name(name) is None


def test_a_hostile_runner_label_cannot_pretend_to_be_another_row() -> None:
    evil = row(replace(FIXED, runner="gpu / 000000000000 · canary · h200"))
    parsed = parse_job_name("sweep / " + job_name("0123456789ab", "single-node 8k1k", evil, SCORE))
    assert parsed is not None
    assert (parsed.id, parsed.family) == ("0123456789ab", "single-node 8k1k")
