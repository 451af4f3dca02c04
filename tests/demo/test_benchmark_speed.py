"""The engine's speed has the trade-offs of GPUs, so that charts of the demo have the shape of real charts."""

from __future__ import annotations

import runpy
from itertools import pairwise
from typing import Any

import pytest

from tests.demo.servers import BENCHMARKS

SPEED = runpy.run_path(str(BENCHMARKS / "speed.py"))["Speed"]
TP4 = SPEED(tensor=4)
TEP4 = SPEED(tensor=4, has_experts=True)
DEP4 = SPEED(data=4, has_experts=True)


def find_throughput(speed: Any, sessions: int) -> float:
    """Return tokens per second and GPU."""
    return float(sessions / speed.find_token_seconds(sessions) / speed.gpus)


def test_a_single_session_on_one_gpu_has_the_configured_speed() -> None:
    """The load of one session on a GPU that bears a million costs 1 / 32,000."""
    assert SPEED(decode=50.0, capacity=1e6).find_token_seconds(1) == pytest.approx(1 / 50, rel=1e-3)
    assert SPEED(prefill=2000.0).find_prefill_seconds(500) == 0.25
    assert SPEED(prefill=2000.0, tensor=2, scale=5.0).find_prefill_seconds(500) == 0.025


def test_more_sessions_make_tokens_later_and_use_the_gpus_better() -> None:
    for speed in (TP4, TEP4, DEP4):
        for fewer, more in pairwise((1, 2, 8, 32, 128, 512)):
            assert speed.find_token_seconds(fewer) < speed.find_token_seconds(more)
            assert find_throughput(speed, fewer) < find_throughput(speed, more)


@pytest.mark.parametrize(("sessions", "best"), [(1, TP4), (64, TEP4), (128, DEP4), (512, DEP4)])
def test_the_best_layout_depends_on_the_sessions(sessions: int, best: Any) -> None:
    assert max((TP4, TEP4, DEP4), key=lambda speed: find_throughput(speed, sessions)) is best


def test_a_draft_model_makes_tokens_earlier() -> None:
    """Five drafted tokens cost half a step; 3.6 tokens in 1.5 steps are 2.4 in one."""
    drafting = TP4._replace(drafted=5, accepted=3.6)
    assert TP4.find_token_seconds(8) / drafting.find_token_seconds(8) == pytest.approx(2.4)
