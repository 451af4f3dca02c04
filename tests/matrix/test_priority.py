from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from infx.bench.config import SpecDecoding
from infx.matrix.priority import make_queue_token, read_priorities, score_row
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

WEIGHTS = read_priorities(
    {
        "version": 1,
        "base-score": 1.0,
        "adjustments": {
            "event": {"push": 2.0},
            "additional-node": -0.001,
            "multi-node": 0.25,
            "agentic": 0.1,
            "precision": {"fp4": 0.1},
            "spec-decoding": {"mtp": 0.1},
            "framework-prefix": {"sglang": 1.5, "vllm": 1.5, "dynamo-vllm": 1.25},
            "model-prefix": {"m1": 0.5, "m10": 9},
        },
        "labels": {
            "skip-queue": {"name": "skip_queue"},
            "checklist-complete": {"names": ["ci-checklist-complete"], "adjustment": 0.25},
            "patchwork": {"names": ["ci-patchwork"], "score": 0.0, "waived-by": ["ci-patchwork-waived"]},
        },
    }
)


@pytest.mark.parametrize(
    ("recipe", "nodes", "event", "labels", "score"),
    [
        (FIXED, 1, "", (), "3.000"),  # 1 + vllm 1.5 + m1 0.5
        (replace(FIXED, framework="vllm-nightly"), 1, "", (), "3.000"),  # a prefix ends at `-`
        (replace(FIXED, framework="vllmx"), 1, "", (), "1.500"),
        (replace(FIXED, model_prefix="m"), 1, "", (), "2.500"),  # a model's prefix is exact
        (AGENTIC, 1, "", (), "3.200"),  # + agentic 0.1 + mtp 0.1
        (DISAGG, 4, "", (), "2.997"),  # 1 + 1.25 + 0.5 + multi-node 0.25 - 3 x 0.001
        (FIXED, 1, "push", (), "5.000"),
        (replace(FIXED, precision="fp4", spec_decoding=SpecDecoding.MTP), 1, "", (), "3.200"),
        (FIXED, 1, "", ("ci-checklist-complete",), "3.250"),
        (FIXED, 1, "", ("ci-patchwork",), "0.000"),
        (FIXED, 1, "", ("ci-patchwork", "ci-patchwork-waived"), "3.000"),
    ],
)
def test_scores(recipe: object, nodes: int, event: str, labels: tuple[str, ...], score: str) -> None:
    assert str(score_row(row(recipe), nodes, WEIGHTS, event=event, labels=labels)) == score  # type: ignore[arg-type] # a table of recipes


def test_half_a_thousandth_rounds_up() -> None:
    weights = replace(WEIGHTS, base_score=Decimal("1.0005"))
    assert str(score_row(row(FIXED), 1, weights)) == "3.001"


def test_a_queue_token_names_row_place_and_attempt() -> None:
    token = make_queue_token(row(), "single_node/8k1k/0", "7:1")
    assert len(token) == 32
    others = {
        make_queue_token(row(), "single_node/8k1k/1", "7:1"),
        make_queue_token(row(), "single_node/8k1k/0", "7:2"),
        make_queue_token(row(FIXED, 1), "single_node/8k1k/0", "7:1"),
    }
    assert len(others | {token}) == 4
