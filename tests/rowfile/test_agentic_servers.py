"""Metrics of four kinds of servers: which adapter reads them, and what it finds."""

from __future__ import annotations

from typing import Any

import pytest

from infx.rowfile.agentic_series import ServerSeries
from infx.rowfile.agentic_servers import choose_adapter, read_server
from tests.rowfile.replays import by_label, counters, gauge


def read(metrics: dict[str, Any], framework: str = "") -> dict[str, Any]:
    series = ServerSeries(metrics)
    return read_server(choose_adapter(series, framework), series)


@pytest.mark.parametrize(
    ("names", "framework", "adapter"),
    [
        (["vllm:x"], "trt", "vllm"),
        ([], "vllm", "vllm"),
        (["sglang:x", "vllm:x"], "vllm", "sglang"),
        ([], "SGLang", "sglang"),
        (["atom_x", "sglang:x"], "", "atom"),
        (["atom:x"], "", "atom"),
        ([], "atom", "atom"),
        (["vllm:x"], "dynamo-vllm", "dynamo-vllm"),
        (["vllm:x", "dynamo_frontend_x"], "vllm", "dynamo-vllm"),
        (["trt:x"], "trt", None),
        (["python_gc"], "vllm", None),  # the framework decides only without metrics
        ([], "trt", None),
    ],
)
def test_the_adapter_is_chosen_by_names(names: list[str], framework: str, adapter: str | None) -> None:
    assert choose_adapter(ServerSeries({name: counters(1) for name in names}), framework) == adapter


def test_vllm_hits_are_hits_over_queries() -> None:
    cache = read(
        {
            "vllm:prefix_cache_hits": counters(500, 300),
            "vllm:prefix_cache_queries": counters(600, 400),
            "vllm:external_prefix_cache_hits": counters(30),
            "vllm:external_prefix_cache_queries": counters(300),
        }
    )["cache"]
    assert cache["gpu_cache_hit_rate"] == cache["overall_cache_hit_rate"] == 0.8
    assert cache["cpu_cache_hit_rate"] == cache["external_cache_hit_rate"] == 0.1
    assert (cache["prefix_cache_hits"], cache["external_prefix_cache_queries"]) == (800, 300)


def test_vllm_shares_by_source_come_before_hits() -> None:
    """60 of 100 tokens were in the cache and 15 came from outside."""
    sections = read(
        {
            "vllm:prefix_cache_hits": counters(9),
            "vllm:prefix_cache_queries": counters(10),
            "vllm:external_prefix_cache_hits": counters(9),
            "vllm:external_prefix_cache_queries": counters(10),
            "vllm:prompt_tokens_by_source": by_label(
                "source", {"local_cache_hit": 60, "external_kv_transfer": 15, "local_compute": 25}
            ),
        }
    )
    cache = sections["cache"]
    assert (cache["gpu_cache_hit_rate"], cache["cpu_cache_hit_rate"]) == (0.6, 0.15)
    assert cache["overall_cache_hit_rate"] == 0.75
    assert sections["tokens"]["prompt_by_source"]["computed"] == 25


def test_a_rate_without_queries_is_unknown() -> None:
    cache = read({"vllm:prefix_cache_hits": counters(0), "vllm:prefix_cache_queries": counters(0)})["cache"]
    assert (cache["gpu_cache_hit_rate"], cache["prefix_cache_queries"]) == (None, 0)


@pytest.mark.parametrize(("value", "share"), [(0.4, 0.4), (1.2, 1.2), (1.5, 1.5), (88, 0.88), (1.6, 0.016)])
def test_a_level_above_one_and_a_half_is_a_percentage(value: float, share: float) -> None:
    usage = read({"vllm:kv_cache_usage_perc": gauge(0.1, value)})["kv_cache"]["gpu_usage_pct"]
    assert usage == pytest.approx(share)


def test_vllm_has_an_older_name_for_its_usage() -> None:
    assert read({"vllm:gpu_cache_usage_perc": gauge(0.3)})["kv_cache"]["gpu_usage_pct"] == 0.3


def test_vllm_counts_what_it_moves_to_memory() -> None:
    offload = read(
        {
            "vllm:kv_offload_bytes_gpu_to_cpu": counters(6, 4),
            "vllm:kv_offload_time_gpu_to_cpu": counters(2),
            "vllm:kv_offload_bytes_cpu_to_gpu": counters(5),
            "vllm:kv_offload_time_cpu_to_gpu": counters(0),
        }
    )["kv_offload"]
    assert offload["bandwidth_gpu_to_cpu_bytes_per_second"] == 5
    assert offload["bandwidth_cpu_to_gpu_bytes_per_second"] is None
    assert offload["bytes_cpu_to_gpu"] == 5


def test_sglang_hits_are_cached_tokens_by_their_source() -> None:
    """Of 1,000 tokens, 400 were on the GPU, 100 in memory and 50 elsewhere."""
    sections = read(
        {
            "sglang:prompt_tokens": counters(600, 400),
            "sglang:cached_tokens": by_label("cache_source", {"device": 400, "host": 100, "storage": 50}),
            "sglang:cache_hit_rate": gauge(0.9, statistic="avg"),
            "sglang:token_usage": gauge(0.25, 0.5),
            "sglang:max_total_num_tokens": gauge(1000, 1200),
            "sglang:generation_tokens": counters(70),
        }
    )
    cache = sections["cache"]
    assert (cache["gpu_cache_hit_rate"], cache["cpu_cache_hit_rate"]) == (0.4, 0.1)
    assert cache["external_cache_hit_rate"] == 0.1
    assert cache["overall_cache_hit_rate"] == 0.55
    assert sections["kv_cache"] == {"gpu_usage_pct": 0.5, "gpu_total_tokens": 2200}
    assert (sections["tokens"]["prompt_total"], sections["tokens"]["generation_total"]) == (1000, 70)


def test_sglang_has_a_level_where_no_tokens_are_counted() -> None:
    """A level of hits is the mean over engines, not the best engine's."""
    cache = read({"sglang:cache_hit_rate": gauge(0.2, 0.4, statistic="avg")})["cache"]
    assert cache["overall_cache_hit_rate"] == pytest.approx(0.3)
    assert cache["gpu_cache_hit_rate"] is None


FRONTEND = {
    "dynamo_frontend_input_sequence_tokens": counters(900),
    "dynamo_frontend_cached_tokens": counters(450),
    "dynamo_frontend_output_tokens": counters(300),
}
ROUTER = {"dynamo_component_router_shared_cache_hit_rate": gauge(55, statistic="avg")}
ENGINE = {
    "vllm:prefix_cache_hits": counters(400),
    "vllm:prefix_cache_queries": counters(800),
    "vllm:prompt_tokens": counters(1800),
    "vllm:kv_cache_usage_perc": gauge(0.6),
}


def test_dynamo_reads_its_engines_by_the_names_of_vllm() -> None:
    sections = read({**FRONTEND, **ENGINE, "dynamo_component_gpu_cache_usage_percent": gauge(75)})
    assert sections["cache"]["gpu_cache_hit_rate"] == 0.5
    assert sections["kv_cache"]["gpu_usage_pct"] == 0.6


@pytest.mark.parametrize(
    ("metrics", "overall"),
    [({**FRONTEND, **ROUTER}, 0.5), (ROUTER, 0.55), ({"dynamo_other": counters(1)}, None)],
    ids=["frontend", "router", "neither"],
)
def test_dynamo_without_engine_counters(metrics: dict[str, Any], overall: float | None) -> None:
    assert read(metrics)["cache"]["overall_cache_hit_rate"] == overall


def test_dynamo_uses_the_level_of_a_component_without_an_engine() -> None:
    metrics = {"dynamo_component_gpu_cache_usage_percent": gauge(75)}
    assert read(metrics)["kv_cache"]["gpu_usage_pct"] == 0.75


def test_dynamo_counts_each_request_once() -> None:
    """With separate roles, prompt tokens are in the counters of both engines."""
    tokens = read({**FRONTEND, **ENGINE})["tokens"]
    assert (tokens["prompt_total"], tokens["generation_total"]) == (900, 300)


@pytest.mark.parametrize("mark", ["atom:", "atom_"])
def test_atom_hits_are_cached_over_full_tokens(mark: str) -> None:
    sections = read(
        {
            mark + "prefix_cache_cached_tokens": counters(300),
            mark + "prefix_cache_full_tokens": counters(600),
            mark + "lmcache_loaded_tokens_total": counters(60),
            mark + "kv_cache_usage_ratio": gauge(0.7),
        }
    )
    cache = sections["cache"]
    assert cache["gpu_cache_hit_rate"] == cache["overall_cache_hit_rate"] == 0.5
    assert cache["cpu_cache_hit_rate"] == cache["external_cache_hit_rate"] == 0.1
    assert sections["kv_cache"] == {"gpu_usage_pct": 0.7, "gpu_total_tokens": None}


@pytest.mark.parametrize(
    ("stats", "value"),
    [
        ({"total": 5, "sum": 1}, 5),
        ({"sum": 4, "max": 1}, 4),
        ({"max": 3, "avg": 1}, 3),
        ({"avg": 2}, 2),
        ({"total": None, "avg": 2}, 2),
        ({}, None),
        ("x", None),
    ],
)
def test_a_counter_has_one_of_four_statistics(stats: Any, value: float | None) -> None:
    series = ServerSeries({"vllm:prompt_tokens": {"series": [{"stats": stats}, "x"]}})
    assert series.count("vllm:prompt_tokens") == value


@pytest.mark.parametrize("metric", [None, [], {"series": None}, {"series": [None]}, 3])
def test_a_metric_of_another_form_has_no_number(metric: Any) -> None:
    assert read({"vllm:prompt_tokens": metric})["tokens"]["prompt_total"] is None
