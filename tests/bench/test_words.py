from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from infx.bench.config import Parallelism
from infx.bench.row import Row
from infx.bench.words import describe_layout, describe_recipe, describe_row
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

SCORE = Decimal("2.500")


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
def test_a_row_is_described_in_one_line(value: Row, text: str) -> None:
    assert describe_row(value) == text
    assert describe_row(value, SCORE) == f"p2.500 | {text}"


def test_a_layout_names_every_degree_other_than_1() -> None:
    engine = Parallelism(tp=8, pp=2, dcp_size=4, pcp_size=2, ep=8, dp_attn=True)
    assert describe_layout(replace(FIXED, layout=engine)) == "TP8/PP2/DCP4/PCP2/EP8/DPA"


def test_a_recipe_is_described_without_a_concurrency() -> None:
    assert describe_recipe(FIXED) == "m1 fp8 vllm on cluster:h200-a, TP8"
    assert (
        describe_recipe(DISAGG) == "m1 fp8 dynamo-vllm on cluster:h200-a, 2P (TP8/EP8/DPA) x 1D (TP16/EP16)"
    )
