"""The part `server_metrics` of an AgentX aggregate: cache hits and use of the KV cache, as each kind of server counts them.

Every kind has a reader, which returns sections with the fields that it knows; the others are null.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

from .agentic_series import ServerSeries
from .agentic_statistics import divide

NO_METRICS = "none"  # the adapter's name without metrics
_FIELDS = {
    "cache": (
        "gpu_cache_hit_rate", "cpu_cache_hit_rate", "external_cache_hit_rate", "overall_cache_hit_rate",
        "prefix_cache_hits", "prefix_cache_queries", "external_prefix_cache_hits", "external_prefix_cache_queries",
        "cached_tokens_by_source", "frontend_cache_hit_rate", "router_kv_hit_rate", "router_shared_cache_hit_rate",
        "frontend_cached_tokens", "frontend_input_tokens",
    ),
    "kv_cache": ("gpu_usage_pct", "gpu_total_tokens"),
    "kv_offload": (
        "bytes_gpu_to_cpu", "bytes_cpu_to_gpu", "time_gpu_to_cpu", "time_cpu_to_gpu",
        "bandwidth_gpu_to_cpu_bytes_per_second", "bandwidth_cpu_to_gpu_bytes_per_second",
    ),
    "tokens": ("prompt_total", "generation_total", "prompt_by_source"),
}  # fmt: skip
_DIRECTIONS = ("gpu_to_cpu", "cpu_to_gpu")

Sections = Dict[str, Dict[str, Any]]


def choose_adapter(series: ServerSeries, framework: str) -> str | None:
    """Return the kind of server by the names of its metrics, or by the framework if there are none.

    Dynamo is first, because its export has the engine's metrics too. None: no known server.
    """
    framework = framework.lower()
    if framework.startswith("dynamo") or _has(series, "dynamo_"):
        return "dynamo-vllm"  # its engine's metrics are read by vLLM's names
    for adapter, prefixes in (("atom", ("atom:", "atom_")), ("sglang", ("sglang:",)), ("vllm", ("vllm:",))):
        if _has(series, *prefixes) or (not series.names and framework == adapter):
            return adapter
    return None


def read_server(adapter: str | None, series: ServerSeries) -> Sections:
    """Return the sections of the aggregate, each with all its fields. A number that is not known is None."""
    known = _READERS[adapter](series) if adapter is not None else {}
    sections: Sections = {
        section: {name: known.get(section, {}).get(name) for name in names}
        for section, names in _FIELDS.items()
    }
    sections["cache"]["cached_tokens_by_source"] = known.get("cache", {}).get("cached_tokens_by_source", {})
    if sections["tokens"]["prompt_by_source"] is None:
        sections["tokens"]["prompt_by_source"] = _split_prompt({})
    return sections


def _has(series: ServerSeries, *prefixes: str) -> bool:
    return any(name.startswith(prefixes) for name in series.names)


def _read_vllm(series: ServerSeries) -> Sections:
    hits, queries = series.count("vllm:prefix_cache_hits"), series.count("vllm:prefix_cache_queries")
    outside_hits = series.count("vllm:external_prefix_cache_hits")
    outside_queries = series.count("vllm:external_prefix_cache_queries")
    sources = series.count_by("vllm:prompt_tokens_by_source", "source")
    total = sum(sources.values())
    gpu = _prefer(_share(sources, "local_cache_hit", total), divide(hits, queries))
    outside = _prefer(_share(sources, "external_kv_transfer", total), divide(outside_hits, outside_queries))
    cached = sources.get("local_cache_hit", 0.0) + sources.get("external_kv_transfer", 0.0)
    return {
        "cache": {
            "gpu_cache_hit_rate": gpu,
            "cpu_cache_hit_rate": outside,
            "external_cache_hit_rate": outside,
            "overall_cache_hit_rate": _prefer(divide(cached, total), gpu),
            "prefix_cache_hits": hits,
            "prefix_cache_queries": queries,
            "external_prefix_cache_hits": outside_hits,
            "external_prefix_cache_queries": outside_queries,
        },
        "kv_cache": {
            "gpu_usage_pct": series.largest_share("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
        },
        "kv_offload": _read_offload(series),
        "tokens": {
            "prompt_total": series.count("vllm:prompt_tokens"),
            "generation_total": series.count("vllm:generation_tokens"),
            "prompt_by_source": _split_prompt(sources),
        },
    }


def _read_dynamo(series: ServerSeries) -> Sections:
    """Return what the engines count, by vLLM's names, and what Dynamo's frontend, router and components count."""
    sections = _read_vllm(series)
    prompt = series.count("dynamo_frontend_input_sequence_tokens")
    cached = series.count("dynamo_frontend_cached_tokens")
    frontend = divide(cached, prompt)
    shared = series.mean_share("dynamo_component_router_shared_cache_hit_rate")
    cache, kv_cache, tokens = sections["cache"], sections["kv_cache"], sections["tokens"]
    cache.update(
        {
            "overall_cache_hit_rate": _prefer(cache["overall_cache_hit_rate"], frontend, shared),
            "frontend_cache_hit_rate": frontend,
            "router_kv_hit_rate": series.mean_share("dynamo_component_router_kv_hit_rate"),
            "router_shared_cache_hit_rate": shared,
            "frontend_cached_tokens": cached,
            "frontend_input_tokens": prompt,
        }
    )
    component = series.largest_share("dynamo_component_gpu_cache_usage_percent")
    kv_cache["gpu_usage_pct"] = _prefer(kv_cache["gpu_usage_pct"], component)
    # With separate roles, each request is in the counters of both engines, and in the frontend's once.
    tokens["prompt_total"] = _prefer(prompt, tokens["prompt_total"])
    tokens["generation_total"] = _prefer(
        series.count("dynamo_frontend_output_tokens"), tokens["generation_total"]
    )
    return sections


def _read_sglang(series: ServerSeries) -> Sections:
    prompt = series.count("sglang:prompt_tokens")
    sources = series.count_by("sglang:cached_tokens", "cache_source")
    cached = series.count("sglang:cached_tokens")
    device, host = sources.get("device"), sources.get("host")
    gauge = series.mean_share("sglang:cache_hit_rate")
    return {
        "cache": {
            "gpu_cache_hit_rate": divide(device, prompt),
            "cpu_cache_hit_rate": divide(host, prompt),
            "external_cache_hit_rate": divide(host, prompt),
            "overall_cache_hit_rate": _prefer(divide(cached, prompt), gauge),
            "prefix_cache_hits": device,
            "prefix_cache_queries": prompt,
            "external_prefix_cache_hits": host,
            "external_prefix_cache_queries": None if host is None else prompt,
            "cached_tokens_by_source": sources,
        },
        "kv_cache": {
            "gpu_usage_pct": series.largest_share("sglang:token_usage"),
            "gpu_total_tokens": series.sum_gauges("sglang:max_total_num_tokens"),
        },
        "tokens": {"prompt_total": prompt, "generation_total": series.count("sglang:generation_tokens")},
    }


def _read_atom(series: ServerSeries) -> Sections:
    """Return what ATOM counts. Its names begin with `atom:` or with `atom_`."""
    hits, queries, loaded, prompt, generated = (
        series.count("atom:" + name, "atom_" + name)
        for name in (
            "prefix_cache_cached_tokens", "prefix_cache_full_tokens", "lmcache_loaded_tokens", "prompt_tokens",
            "generation_tokens",
        )
    )  # fmt: skip
    return {
        "cache": {
            "gpu_cache_hit_rate": divide(hits, queries),
            "cpu_cache_hit_rate": divide(loaded, queries),
            "external_cache_hit_rate": divide(loaded, queries),
            "overall_cache_hit_rate": divide(hits, queries),
            "prefix_cache_hits": hits,
            "prefix_cache_queries": queries,
            "external_prefix_cache_hits": loaded,
            "external_prefix_cache_queries": None if loaded is None else queries,
        },
        "kv_cache": {
            "gpu_usage_pct": series.largest_share("atom:kv_cache_usage_ratio", "atom_kv_cache_usage_ratio")
        },
        "tokens": {"prompt_total": prompt, "generation_total": generated},
    }


_READERS: dict[str, Callable[[ServerSeries], Sections]] = {
    "vllm": _read_vllm,
    "sglang": _read_sglang,
    "atom": _read_atom,
    "dynamo-vllm": _read_dynamo,
}


def _read_offload(series: ServerSeries) -> dict[str, float | None]:
    """Return what vLLM moved between GPU and CPU memory: bytes, seconds, and bytes per second."""
    moved: dict[str, float | None] = {}
    for direction in _DIRECTIONS:
        size = series.count("vllm:kv_offload_bytes_" + direction)
        time = series.count("vllm:kv_offload_time_" + direction)
        moved["bytes_" + direction] = size
        moved["time_" + direction] = time
        moved["bandwidth_" + direction + "_bytes_per_second"] = divide(size, time)
    return moved


def _split_prompt(sources: dict[str, float]) -> dict[str, Any]:
    """Return where the tokens of the prompts came from."""
    return {
        "gpu_cache_hit": sources.get("local_cache_hit"),
        "cpu_or_external_cache_hit": sources.get("external_kv_transfer"),
        "computed": sources.get("local_compute"),
        "raw": sources,
    }


def _share(sources: dict[str, float], name: str, total: float) -> float | None:
    return divide(sources.get(name), total)


def _prefer(*values: float | None) -> float | None:
    """Return the first number that is known."""
    return next((value for value in values if value is not None), None)
