"""Make results, stored rows and comparisons for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from infx.policy.results import ResultRules
from infx.records import replace
from infx.results.compare import ResultComparison, compare, flatten_results, read_results
from infx.results.series import Publication, make_row
from infx.store.memory import MemoryStore
from tests.results.made import RULES

FIRST_DAY = datetime(2026, 8, 1, tzinfo=UTC)
ENGINE = {"tp": 4, "ep": 1, "dp_attention": "false"}
ROLES = {
    "is_multinode": True, "prefill_num_workers": 2, "prefill_tp": 4, "prefill_ep": 4, "prefill_dp_attention": "true",
    "decode_num_workers": 1, "decode_tp": 8, "decode_ep": 8, "decode_dp_attention": "false",
}  # fmt: skip


def result(layout: Mapping[str, Any] = ENGINE, **changes: Any) -> dict[str, Any]:
    """Return a result as the existing tools write it; a value of None stays."""
    return {
        "hw": "b200", "conc": 64, "image": "acme/vllm:v1", "model": "acme/m1", "infmax_model_prefix": "m1",
        "framework": "vllm", "precision": "fp4", "spec_decoding": "none", "disagg": False, "isl": 1024, "osl": 1024,
        **layout, "tput_per_gpu": 100.0, "median_ttft": 0.2, "median_intvty": 50.0, "median_e2el": 12.0, **changes,
    }  # fmt: skip


FLAT = {"isl", "osl", "tput_per_gpu", "median_ttft", "median_intvty", "median_e2el"}


def agentic(**latency: Any) -> dict[str, Any]:
    """Return an AgentX result with nested numbers. latency: statistics of `ttft`."""
    metrics = {"latency": {"ttft": latency}, "throughput": {"per_gpu": {"total_tput_tps": 60.0}}}
    values: dict[str, Any] = {"scenario_type": "agentic-coding", "request_metrics": metrics}
    return {name: value for name, value in result(**values).items() if name not in FLAT}


def compare_results(
    current: Sequence[Any], *published: Mapping[str, Any], rules: ResultRules = RULES
) -> ResultComparison:
    """Compare results with published rows, of which each is a day younger than the one before it."""
    store = MemoryStore()
    for number, values in enumerate(published, 1):
        day = FIRST_DAY + timedelta(days=number)
        row = make_row(values, run=number, attempt=1, row_id=f"r{number}", commit="c" * 40, measured_at=day)
        store.publish(
            Publication(run=number, attempt=1, commit="c" * 40, origin="merge", published_at=day, rows=(row,))
        )
    results = read_results(flatten_results([("agg.json", list(current))]), rules)
    return compare(results, store.read_newest(results.list_series()))


def with_aliases(**aliases: Sequence[str]) -> ResultRules:
    return replace(RULES, model_aliases={name: tuple(names) for name, names in aliases.items()})
