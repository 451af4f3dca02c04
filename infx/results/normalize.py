"""Bring a result to one form, whichever tool wrote it.

Tools write numbers and booleans as text, null or empty text for an unknown value, and hardware as `prefill_hw`. The
aggregate of an AgentX run nests its numbers; here each gets a name of its own, as docs/results.md lists them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from infx.bench.config import ScenarioType
from infx.results.identity import ENGINE, ROLES, show_value

MAX_TEXT = 200  # characters of a name
_DIGITS = re.compile(r"[0-9]{1,9}")
_PREFIXES = ("", *(f"{role}_" for role in ROLES))
SIZES = ("tp", "pp", "ep", "dcp_size", "pcp_size", "num_workers")
NUMBERS = frozenset(
    {"conc", "isl", "osl", "num_prefill_gpu", "num_decode_gpu", "num_aggregate_gpu"}
    | {prefix + name for prefix in _PREFIXES for name in SIZES}
)
FLAGS = frozenset({"disagg", "is_multinode", *(f"{prefix}dp_attention" for prefix in _PREFIXES)})
NAMES = frozenset(
    {
        "hw", "infmax_model_prefix", "framework", "precision", "spec_decoding", "recipe_fingerprint", "scenario_type",
        "kv_offloading", "kv_p2p_transfer", *(f"{role}_hardware" for role in ROLES),
    }
)  # fmt: skip
COMPONENTS = frozenset({"router", "kv_offload_backend"})
_RENAMED = {f"{role}_hw": f"{role}_hardware" for role in ROLES}
# Parts of an AgentX aggregate that are not numbers of the result: where its requests came from, and remarks.
_REMARKS = ("dataset", "warnings", "offloading")
_NESTED = ("request_metrics", "server_metrics", "request_accounting")
# Objects with keys that another program chose.
_OPEN = ("error_categories", "cached_tokens_by_source", "raw")
_TOTALS = {"input": "input_throughput", "output": "output_throughput", "total": "total_token_throughput"}


class Normalized(dict[str, Any]):
    """A result in its one form.

    Attributes:
        faults: field → a clause that says why its value is unreadable; the value is kept as it was.
    """

    def __init__(self) -> None:
        super().__init__()
        self.faults: dict[str, str] = {}


def normalize(values: Mapping[str, Any]) -> Normalized:
    """Return a result of any tool in its one form. Fields without a value are left out."""
    if isinstance(values, Normalized):
        return values
    result = Normalized()
    for key, value in values.items():
        if value is None or (value == "" and key in _READERS):
            continue
        name = _RENAMED.get(key, key)
        reader = _READERS.get(name)
        if reader is None:
            result[name] = value
            continue
        parse, expected = reader
        parsed = parse(value)
        if parsed is None:
            result.faults[name] = f"{name} is {show_value(value)}, expected {expected}"
        result[name] = value if parsed is None else parsed
    if is_agentic(result):
        _flatten_agentic(result, values)
    else:
        result.pop(
            "std_intvty", None
        )  # existing tools take the reciprocal of a deviation, which means nothing
    if is_multinode(result) and result.get("prefill_tp") is not None:
        for name in ENGINE:  # sums or placeholders, where there are roles
            result.pop(name, None)
            result.faults.pop(name, None)
    return result


def is_agentic(values: Mapping[str, Any]) -> bool:
    lengths = [values.get(name) for name in ("isl", "osl")]
    return values.get("scenario_type") == ScenarioType.AGENTIC or lengths == [0, 0]


def is_multinode(values: Mapping[str, Any]) -> bool:
    """Return whether a normalized result has roles, by its flag or by its fields."""
    flag = values.get("is_multinode")
    if isinstance(flag, bool):
        return flag
    return values.get("tp") is None and values.get("prefill_tp") is not None


def parse_number(value: object) -> int | None:
    """Return a whole number that may be written as text, or None for another value."""
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value.strip()) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def parse_flag(value: object) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _parse_name(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and len(value) <= MAX_TEXT else None


def _parse_component(value: object) -> dict[str, Any] | None:
    if isinstance(value, str):
        return {"name": value.strip()} if 0 < len(value.strip()) <= MAX_TEXT else None
    if not isinstance(value, dict):
        return None
    return {key: item for key, item in value.items() if item is not None}


_READERS: dict[str, tuple[Callable[[object], Any], str]] = {
    **dict.fromkeys(NUMBERS, (parse_number, "a whole number")),
    **dict.fromkeys(FLAGS, (parse_flag, "true or false")),
    **dict.fromkeys(NAMES, (_parse_name, f"text of at most {MAX_TEXT} characters")),
    **dict.fromkeys(COMPONENTS, (_parse_component, "a name, or an object with name and version")),
}


def _flatten_agentic(result: Normalized, values: Mapping[str, Any]) -> None:
    """Give the nested numbers of an AgentX result names of their own; a number that is already there stays."""
    if "request_metrics" in result:  # an accuracy result without lengths has other defaults
        for name in ("isl", "osl"):
            result.setdefault(name, 0)
    if "kv_offloading" not in values and isinstance(older := values.get("offloading"), str):
        result["kv_offloading"] = older
    for name in _REMARKS:
        result.pop(name, None)
    for name in _NESTED:
        if isinstance(result.get(name), dict):
            for path, number in _list_numbers(result.pop(name), (name,)):
                result.setdefault(_name_metric(path), number)


def _list_numbers(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, item in value.items():
        if isinstance(item, dict) and key not in _OPEN and len(path) < 6:
            yield from _list_numbers(item, (*path, key))
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield (*path, key), item


def _name_metric(path: tuple[str, ...]) -> str:
    """Return the name of a nested number: the same as in other results, where they have the number."""
    match path:
        case ("request_metrics", "latency", metric, statistic):
            return f"{statistic}_{metric}"
        case ("request_metrics", "qps", "window_seconds" | "samples" as name):
            return f"qps_{name}"
        case ("request_metrics", "qps", statistic):
            return f"{statistic}_qps"
        case ("request_metrics", "tokens", kind, statistic):
            return f"{statistic}_{kind}_tokens"
        case ("request_metrics", "throughput", "per_gpu", name):
            return name.removeprefix("total_").removesuffix("_tps") + "_per_gpu"
        case ("request_metrics", "throughput", kind, "tokens_per_second"):
            return _TOTALS.get(kind, f"{kind}_throughput")
        case ("request_metrics", "throughput", "duration_seconds"):
            return "duration"
        case ("request_accounting", name) | (_, "cache", name):
            return name
    return "_".join(("server", *path[1:]) if path[0] == "server_metrics" else path[1:])
