from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.bench.config import Parallelism
from infx.bench.row import Roles, Row
from infx.matrix.diff import describe_diff, diff_plans
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

NEWER = replace(FIXED, image="vllm/vllm-openai:v2")
WIDE = replace(FIXED, layout=Parallelism(tp=16))
assert isinstance(DISAGG.layout, Roles)
TALL, TALLER = (
    replace(DISAGG, layout=replace(DISAGG.layout, prefill=replace(DISAGG.layout.prefill, tp=tp)))
    for tp in (16, 32)
)
TITLE = "m1 fp8 vllm on cluster:h200-a, single-node 8k1k"


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ([row()], [row()], ["The plans have the same rows."]),
        ([row(FIXED, 1), row(FIXED, 2)], [row(FIXED, 2), row(FIXED, 1)], ["The plans have the same rows."]),
        ([], [row(FIXED, 4), row(FIXED, 1)], [f"+ 2 rows of {TITLE}, TP8 (c1,4)"]),
        ([row(FIXED, 4)], [], [f"- 1 row of {TITLE}, TP8 (c4)"]),
        # A second identical row is an addition too.
        ([row()], [row(), row()], [f"+ 1 row of {TITLE}, TP8 (c64)"]),
        (
            [row(FIXED, 1), row(FIXED, 2)],
            [row(NEWER, 1), row(NEWER, 2)],
            [f"~ 2 rows of {TITLE} (c1,2): image vllm/vllm-openai:v1 → vllm/vllm-openai:v2"],
        ),
        # The layout changed at one point only, so the point is reported as changed.
        (
            [row(FIXED, 1)],
            [row(WIDE, 1)],
            [f"~ 1 row of {TITLE} (c1): tp 8 → 16; ep 1 was removed; dp-attn false was removed"],
        ),
        # Two layouts on one side cannot be matched to one on the other.
        (
            [row(FIXED, 1), row(WIDE, 1)],
            [row(replace(FIXED, layout=Parallelism(tp=2)), 1)],
            [
                f"+ 1 row of {TITLE}, TP2 (c1)",
                f"- 1 row of {TITLE}, TP8 (c1)",
                f"- 1 row of {TITLE}, TP16 (c1)",
            ],
        ),
        (
            [row(DISAGG, 4)],
            [row(DISAGG, 4, 8)],
            ["~ 1 row of m1 fp8 dynamo-vllm on cluster:h200-a, multi-node 8k1k (c4,8): conc [4] → [4,8]"],
        ),
        # Rows are matched by layout first, then by concurrency.
        (
            [row(DISAGG, 4), row(TALL, 8)],
            [row(DISAGG, 16), row(TALLER, 8)],
            [
                "~ 1 row of m1 fp8 dynamo-vllm on cluster:h200-a, multi-node 8k1k (c16): conc [4] → [16]",
                "~ 1 row of m1 fp8 dynamo-vllm on cluster:h200-a, multi-node 8k1k (c8): prefill.tp 16 → 32",
            ],
        ),
        (
            [row(DISAGG, 4), row(TALL, 8)],
            [row(TALLER, 8), row(TALL, 4)],
            [
                "~ 1 row of m1 fp8 dynamo-vllm on cluster:h200-a, multi-node 8k1k (c4): conc [8] → [4]",
                "~ 1 row of m1 fp8 dynamo-vllm on cluster:h200-a, multi-node 8k1k (c8): prefill.tp 8 → 32; conc [4] → [8]",
            ],
        ),
        # A line break in a value is escaped, so that it cannot start a workflow command.
        (
            [row(FIXED, 1)],
            [row(replace(FIXED, image="x\n::error::y"), 1)],
            [f"~ 1 row of {TITLE} (c1): image vllm/vllm-openai:v1 → x\\n::error::y"],
        ),
        # Repeated rows change together.
        (
            [row(), row()],
            [row(NEWER), row(NEWER)],
            [f"~ 2 rows of {TITLE} (c64): image vllm/vllm-openai:v1 → vllm/vllm-openai:v2"],
        ),
        (
            [row(AGENTIC, 8)],
            [row(AGENTIC, 8), row(AGENTIC, 8, eval_only=True)],
            ["+ 1 row of m1 fp8 vllm on cluster:h200-a, agentic eval, TP8 (c8)"],
        ),
    ],
)
def test_differences_are_described_in_words(before: list[Row], after: list[Row], lines: list[str]) -> None:
    assert describe_diff(diff_plans(before, after)) == lines


_ROWS = st.lists(
    st.builds(row, st.sampled_from([FIXED, NEWER, WIDE, AGENTIC, DISAGG]), st.integers(1, 3)), max_size=12
)


@given(_ROWS, _ROWS)
def test_properties_a_diff_loses_and_adds_no_row(before: list[Row], after: list[Row]) -> None:
    """Without the differences, both plans have the same rows."""
    diff = diff_plans(before, after)
    common_before = list(before)
    for removed in (*diff.removed, *(pair[0] for pair in diff.changed)):
        common_before.remove(removed)
    common_after = list(after)
    for added in (*diff.added, *(pair[1] for pair in diff.changed)):
        common_after.remove(added)
    assert sorted(map(repr, common_before)) == sorted(map(repr, common_after))
    assert diff.is_empty is (sorted(map(repr, before)) == sorted(map(repr, after)))
