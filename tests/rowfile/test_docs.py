"""docs/results.md lists every client, every column, every reason and every rule by which a row is refused."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from infx.rowfile.clients import CLIENTS
from infx.rowfile.power import METRICS
from infx.rowfile.process import ProcessOptions, process
from tests.conftest import ROOT
from tests.rowfile.outputs import ENVIRONMENT, MULTI_NODE, VLLM, read_row, write_output

PAGE = (ROOT / "docs/results.md").read_text(encoding="utf-8")
TABLES = dict(re.findall(r"(?ms)^<!-- table: (\S+) -->\n(.*?)^<!-- end -->$", PAGE))
MODULES = (
    "values", "clients", "components", "layout", "outcome", "fixed_row", "power_source", "process", "batch",
)  # fmt: skip
POWER = ("telemetry", "power", "power_source")
OTHER_TEXTS = (
    "benchmark_start", "benchmark_end", "end_time", "integration_", "observed_", "per_", "power_metric",
    "power_invalid", "reported_", "start_time", "total_",
)  # fmt: skip
REASON = re.compile(r"[a-z]+(?:_[a-z]+){2,}")
RULE = re.compile(r"[a-z]+(?:-[a-z]+)+")


def find_constants(module: str) -> set[str]:
    """Return the texts in a module, except docstrings."""
    tree = ast.parse((ROOT / "infx/rowfile" / f"{module}.py").read_text(encoding="utf-8"))
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def list_names(table: str, column: int = 1) -> set[str]:
    """Return the names in a column of a table, without those in its head."""
    rows = TABLES[table].splitlines()[2:]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[column])}


def test_every_client_is_listed() -> None:
    assert list_names("clients") == {client.name for client in CLIENTS}
    assert list_names("clients", 2) == {mark for client in CLIENTS for mark in client.marks}


def test_every_rule_is_listed() -> None:
    rules = {text for module in MODULES for text in find_constants(module) if RULE.fullmatch(text)}
    assert list_names("refusals") == rules - {"agentic-coding"}  # a scenario


def test_every_reason_is_listed() -> None:
    """Reasons are texts of three or more words; so are columns, keys of the sidecar and keys of a client's output."""
    texts = {text for module in POWER for text in find_constants(module) if REASON.fullmatch(text)}
    others = {text for text in texts if text.startswith(OTHER_TEXTS)} | {*METRICS, "expected_gpu_count"}
    assert list_names("power-reasons") - {"duration"} == texts - others


@pytest.mark.parametrize("environment", [ENVIRONMENT, MULTI_NODE])
def test_every_column_is_listed(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_output("r.json", {**VLLM, "completed": 99, "failed": 1})
    process(ProcessOptions(), environment)
    for column in read_row():
        statistic, _, time = column.partition("_")
        role = column.removeprefix("prefill_").removeprefix("decode_")
        names = {f"`{column}`", f"`{role}`"}
        if statistic in ("mean", "median", "std", "p99"):
            names.add(f"`<statistic>_{time}`")
        assert any(name in PAGE for name in names), column


def test_every_column_of_power_is_listed() -> None:
    assert all(f"`{name}`" in PAGE for name in METRICS)
