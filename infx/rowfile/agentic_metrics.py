"""The part `request_metrics` of an AgentX aggregate: what the client measured, from the records that count."""

from __future__ import annotations

from typing import Any

from .agentic_records import GoodRecord
from .agentic_statistics import divide, invert, summarize

WINDOW = 1  # seconds of a window in which completions are counted
MAX_WINDOWS = 1_000_000  # of one second: more than eleven days
_SECOND = 10**9  # nanoseconds


def measure_requests(
    records: list[GoodRecord], expected: list[float], theoretical: float | None, gpus: int
) -> dict[str, Any]:
    """Return all metrics of the requests.

    expected: output lengths by the traces. theoretical: the best possible cache hit rate, from 0 to 1, if known.
    """
    return {
        "qps": measure_completions(_known([record.end for record in records])),
        "latency": _measure_latency(records),
        "tokens": {
            "input": summarize(_known([record.input_tokens for record in records])),
            "output_actual": summarize(_known([record.output_tokens for record in records])),
            "output_expected": summarize(expected),
        },
        "throughput": _measure_throughput(records, gpus),
        "cache": {"theoretical_cache_hit_rate": theoretical},
    }


def measure_completions(ends: list[int]) -> dict[str, float]:
    """Return statistics of the completions per second, in windows that begin at the first completion.

    The rest after the last whole window is dropped. A replay that is shorter than a window has a mean only.

    ends: when each request was completed, in nanoseconds.
    """
    if len(ends) < 2:
        return {}
    first, last = min(ends), max(ends)
    windows = (last - first) // (WINDOW * _SECOND)
    if windows > MAX_WINDOWS:
        return {}  # a clock was wrong, and a list of all windows may not fit into memory
    if not windows:
        mean = divide(len(ends), (last - first) / _SECOND)
        return {} if mean is None else {"mean": mean}
    counts = [0] * (windows + 1)
    for end in ends:
        counts[(end - first) // (WINDOW * _SECOND)] += 1
    rates = [count / WINDOW for count in counts[:windows]]
    return {"window_seconds": WINDOW, "samples": windows, **summarize(rates)}


def _measure_latency(records: list[GoodRecord]) -> dict[str, dict[str, float]]:
    itl = _known([record.itl for record in records])
    full_itl = _known([record.full_itl for record in records])
    per_token = [
        record.e2el / record.output_length
        for record in records
        if record.e2el is not None and record.output_length is not None
    ]
    return {
        "ttft": summarize(_known([record.ttft for record in records])),
        "e2el": summarize(_known([record.e2el for record in records])),
        "itl": summarize(itl),
        "tpot": summarize(itl),
        "intvty": invert(itl),
        "e2e_norm_intvty": invert(per_token),
        "full_response_itl": summarize(full_itl),
        "full_response_intvty": invert(full_itl),
    }


def _measure_throughput(records: list[GoodRecord], gpus: int) -> dict[str, Any]:
    """Return rates over the time from the first start to the last end; nothing if that time is unknown."""
    starts, ends = _known([record.start for record in records]), _known([record.end for record in records])
    duration = (max(ends) - min(starts)) / _SECOND if starts and ends else 0.0
    inputs = _known([record.input_tokens for record in records])
    outputs = _known([record.output_tokens for record in records])
    if duration <= 0 or not inputs or not outputs:
        return {}
    rates = {"input": sum(inputs) / duration, "output": sum(outputs) / duration}
    rates["total"] = rates["input"] + rates["output"]
    per_gpu = {name + "_tput_tps": rates[name] / gpus for name in ("total", "output", "input") if gpus > 0}
    return {
        **{name: {"tokens_per_second": rate} for name, rate in rates.items()},
        "duration_seconds": duration,
        "per_gpu": per_gpu,
    }


def _known(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]
