"""Metrics of an AgentX replay, against values that follow from a few records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infx.rowfile.agentic_metrics import measure_completions, measure_requests
from infx.rowfile.agentic_records import parse_replay
from infx.rowfile.agentic_statistics import clean
from tests.rowfile.replays import record

SECOND = 10**9


def measure(*records: dict[str, Any], gpus: int = 4) -> dict[str, Any]:
    good = parse_replay([json.dumps(item) for item in records], "x").good
    return measure_requests(good, [], None, gpus)


def test_completions_are_counted_in_whole_seconds_after_the_first() -> None:
    """Windows begin at 10 s: two completions, then one, then none. The last, at 13.5 s, is after the last whole window."""
    qps = measure_completions([int(end * SECOND) for end in (10, 10.9, 11, 13.5)])
    assert (qps["window_seconds"], qps["samples"]) == (1, 3)
    assert qps["mean"] == pytest.approx(1)
    assert qps["p50"] == 1


def test_a_completion_at_the_end_of_the_last_window_is_dropped() -> None:
    qps = measure_completions([0, SECOND])
    assert (qps["samples"], qps["mean"], qps["std"]) == (1, 1, 0)


def test_a_replay_shorter_than_a_second_has_a_mean_only() -> None:
    """Four completions in half a second."""
    assert measure_completions([0, 1, 2, SECOND // 2]) == {"mean": 8}


@pytest.mark.parametrize("ends", [[], [5], [5, 5]])
def test_no_rate_without_time_between_completions(ends: list[int]) -> None:
    assert measure_completions(ends) == {}


def test_a_wrong_clock_does_not_fill_the_memory() -> None:
    """From 1970 to 2026 there are 1.7 billion seconds."""
    assert measure_completions([0, 1_782_800_000 * SECOND]) == {}


@pytest.mark.parametrize("name", ["request_latency", "inter_token_latency", "output_sequence_length"])
@pytest.mark.parametrize("value", [1e308, 5e-324, 10**400])
def test_extreme_numbers_end_no_row(name: str, value: float) -> None:
    """Sums and squares of such numbers are infinite, and quotients 0; neither is in the aggregate."""
    metrics = clean(measure(record(0, **{name: value}), record(1, **{name: value})))
    json.dumps(metrics, allow_nan=False)


def test_throughput_is_over_the_time_from_first_start_to_last_end() -> None:
    """300 tokens in and 150 out in 4 s, on 4 GPUs: 75, 37.5 and 112.5 tokens per second."""
    throughput = measure(record(0), record(1), record(3))["throughput"]
    assert throughput["input"] == {"tokens_per_second": 75}
    assert throughput["output"] == {"tokens_per_second": 37.5}
    assert throughput["total"] == {"tokens_per_second": 112.5}
    assert throughput["duration_seconds"] == 4
    assert throughput["per_gpu"] == {
        "total_tput_tps": 112.5 / 4,
        "output_tput_tps": 37.5 / 4,
        "input_tput_tps": 75 / 4,
    }


def test_without_gpus_there_is_no_rate_per_gpu() -> None:
    assert measure(record(0), gpus=0)["throughput"]["per_gpu"] == {}


@pytest.mark.parametrize(
    "item",
    [record(0, end=0), record(0, output_sequence_length="many"), record(0, input_sequence_length=None)],
    ids=["no-time", "no-output", "no-input"],
)
def test_an_unknown_throughput_is_left_out(item: dict[str, Any]) -> None:
    assert measure(item)["throughput"] == {}


def test_latencies_are_in_seconds_and_tpot_is_the_time_between_tokens() -> None:
    latency = measure(record(0, time_to_first_token=250), record(1, time_to_first_token=750))["latency"]
    assert latency["ttft"]["mean"] == 0.5
    assert latency["tpot"] == latency["itl"]
    assert latency["intvty"]["p90"] == pytest.approx(50)  # 20 ms
    assert latency["full_response_itl"] == {} == latency["full_response_intvty"]


def test_full_responses_have_an_interactivity_of_their_own() -> None:
    latency = measure(record(0, full_response_inter_token_latency=40))["latency"]
    assert latency["full_response_itl"]["p95"] == 0.04
    assert latency["full_response_intvty"]["p95"] == pytest.approx(25)


def test_normalized_interactivity_needs_both_values_of_a_request() -> None:
    """Two of four requests have both: 20 ms and 40 ms per token."""
    latency = measure(
        record(0),
        record(1, request_latency=2000.0),
        record(2, output_sequence_length=0),
        record(3, request_latency="NaN"),
    )["latency"]
    assert latency["e2e_norm_intvty"]["mean"] == pytest.approx(1 / 0.03)


def test_lengths_are_tokens() -> None:
    tokens = measure(record(0), record(1, output_sequence_length="12.5"))["tokens"]
    assert tokens["input"]["mean"] == 100
    assert tokens["output_actual"]["mean"] == 50  # a fraction of a token is not a length
    assert tokens["output_expected"] == {}


def test_without_records_every_part_is_empty() -> None:
    metrics = measure()
    assert metrics["qps"] == {} == metrics["throughput"]
    assert set(metrics["latency"]) >= {"ttft", "e2el", "itl", "tpot", "intvty", "e2e_norm_intvty"}
    assert not any(metrics["latency"].values())
