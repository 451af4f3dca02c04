"""docs/results.md lists every column of AgentX, every rule by which a replay is refused, and every reason of its power."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.rowfile.replays import aggregate, counters, record, write_replay

PAGE = (ROOT / "docs/results.md").read_text(encoding="utf-8")
TABLES = dict(re.findall(r"(?ms)^<!-- table: (\S+) -->\n(.*?)^<!-- end -->$", PAGE))
MODULES = sorted((ROOT / "infx/rowfile").glob("agentic*.py"))
RULE = re.compile(r"[a-z]+(?:-[a-z]+)+")
REASON = re.compile(r"(?:profile|successful|incomplete)_[a-z_]+")


def find_constants(text: str) -> set[str]:
    return {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


CONSTANTS = {text for path in MODULES for text in find_constants(path.read_text(encoding="utf-8"))}


def list_names(table: str, column: int = 1) -> set[str]:
    """Return the names in a column of a table, without those in its head."""
    rows = TABLES[table].splitlines()[2:]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[column])}


def list_numbers(values: dict[str, Any], place: str = "") -> Iterator[str]:
    """Yield the path of each leaf; the statistics of a value are one leaf."""
    for name, value in values.items():
        path = f"{place}.{name}" if place else name
        if isinstance(value, dict) and value and "p95" not in value:
            yield from list_numbers(value, path)
        else:
            yield path


def test_every_number_of_an_aggregate_is_listed(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0), record(1), record(3)], metrics={"vllm:prefix_cache_hits": counters(1)})
    values = aggregate(tmp_path)
    requests = list_names("agentic-requests") | {
        f"throughput.{name}.{unit}"
        for name, units in {
            "per_gpu": ("total_tput_tps", "output_tput_tps", "input_tput_tps"),
            "input": ("tokens_per_second",),
            "output": ("tokens_per_second",),
            "total": ("tokens_per_second",),
        }.items()
        for unit in units
    }
    assert set(list_numbers(values["request_metrics"])) <= requests
    assert set(values["request_accounting"]) == list_names("agentic-accounting")
    server = {
        re.sub(r"(prompt_by_source)\..*", r"\1", path) for path in list_numbers(values["server_metrics"])
    }
    assert server == list_names("agentic-server-columns")
    for name in values:
        assert f"`{name}`" in PAGE, name


def test_every_kind_of_server_is_listed() -> None:
    assert list_names("agentic-servers") == {"dynamo-vllm", "atom", "sglang", "vllm"}


def test_every_rule_is_listed() -> None:
    others = {"utf-8", "agentic-coding", "dynamo-vllm"}
    rules = {text for text in CONSTANTS if RULE.fullmatch(text)} - others
    assert list_names("agentic-refusals") == rules


def test_every_reason_of_power_is_listed() -> None:
    reasons = {text for text in CONSTANTS if REASON.fullmatch(text) and text != "profile_export"}
    assert list_names("agentic-power-reasons") == reasons
