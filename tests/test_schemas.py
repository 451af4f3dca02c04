"""The schemas are valid, editors can use them, and real rows and entries fit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from infx import schema, yaml12
from tests.conftest import ROOT
from tests.schemas import NAMES

SINGLE_ROW: dict[str, Any] = {
    "image": "acme/vllm:1", "model": "acme/m1", "model-prefix": "m1", "precision": "fp8", "framework": "vllm",
    "runner": "h200", "spec-decoding": "none", "isl": 8192, "osl": 1024, "max-model-len": 9472, "tp": 8, "pp": 1,
    "dcp-size": 1, "pcp-size": 1, "ep": 1, "dp-attn": False, "conc": 64, "exp-name": "m1_8k1k", "disagg": False,
    "run-eval": False,
}  # fmt: skip
WORKER = {"num-worker": 1, "tp": 8, "pp": 1, "dcp-size": 1, "pcp-size": 1}
MULTI_ROW: dict[str, Any] = {
    key: value
    for key, value in SINGLE_ROW.items()
    if key not in {"tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn"}
} | {"prefill": WORKER, "decode": WORKER, "conc": [64], "disagg": True, "kv-p2p-transfer": "nixl"}
AGENTIC = {
    "scenario-type": "agentic-coding",
    "kv-offloading": "none",
    "total-cpu-dram-gb": 0,
    "duration": 3600,
}
_FIXED_KEYS = {"isl", "osl", "max-model-len", "run-eval"}
SINGLE_AGENTIC_ROW = {
    key: value for key, value in SINGLE_ROW.items() if key not in {*_FIXED_KEYS, "disagg"}
} | AGENTIC
MULTI_AGENTIC_ROW = {key: value for key, value in MULTI_ROW.items() if key not in _FIXED_KEYS} | AGENTIC


@pytest.mark.parametrize("name", NAMES)
def test_each_schema_is_valid_and_has_a_title_and_a_description(name: str) -> None:
    text = schema.read_schema(name)
    jsonschema.Draft202012Validator.check_schema(text)
    assert text["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert text["title"].startswith("infx ")
    assert text["description"].endswith(".")
    assert schema.is_valid(name, None) is False


def test_files_of_infx_name_their_own_schema() -> None:
    for path in [*ROOT.glob("configs/**/*.yaml"), ROOT / "infx/policy/default.yaml"]:
        match = re.search(
            r"^# yaml-language-server: \$schema=(\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        assert match, f"{path} names no schema"
        target = (path.parent / match[1]).resolve()
        assert target.parent == ROOT / "infx/schemas"
        assert target.stem in NAMES


@pytest.mark.parametrize("row", [SINGLE_ROW, MULTI_ROW, SINGLE_AGENTIC_ROW, MULTI_AGENTIC_ROW])
def test_rows_of_all_four_shapes_fit(row: dict[str, Any]) -> None:
    assert schema.is_valid("matrix-row", row)
    assert schema.is_valid(
        "matrix-row", row | {"run-eval": True, "eval-only": True, "recipe-fingerprint": "0" * 64}
    )


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(SINGLE_ROW | {"color": "red"}, id="unknown key"),
        pytest.param(SINGLE_ROW | {"conc": [64]}, id="a list on one node"),
        pytest.param(SINGLE_ROW | {"disagg": True}, id="disaggregated on one node"),
        pytest.param(SINGLE_ROW | {"node-count": 1}, id="nodes of one node"),
        pytest.param(SINGLE_ROW | {"scenario-type": "fixed-seq-len"}, id="scenario type of fixed lengths"),
        pytest.param(SINGLE_ROW | {"recipe-fingerprint": "A" * 64}, id="upper case"),
        pytest.param(MULTI_ROW | {"conc": 64}, id="a number on several nodes"),
        pytest.param(MULTI_ROW | {"conc": []}, id="no concurrency"),
        pytest.param(
            {key: value for key, value in MULTI_ROW.items() if key != "kv-p2p-transfer"}, id="no transfer"
        ),
        pytest.param(MULTI_AGENTIC_ROW | {"eval-all-concs": True}, id="all concurrencies of AgentX"),
        pytest.param(SINGLE_AGENTIC_ROW | {"total-cpu-dram-gb": -1}, id="negative memory"),
        pytest.param(
            {key: value for key, value in SINGLE_ROW.items() if key != "run-eval"}, id="no run-eval"
        ),
    ],
)
def test_rows_of_no_shape_do_not_fit(row: dict[str, Any]) -> None:
    assert not schema.is_valid("matrix-row", row)


def test_8_0_is_not_a_whole_number() -> None:
    text = b"labels: {h200: [a]}\nhardware: {h200: {gpus-per-node: 8.0}}\n"
    assert [str(problem) for problem in schema.check("runners", yaml12.load(text, "r.yaml"))] == [
        "r.yaml:2: hardware.h200.gpus-per-node: found 8.0; expected a whole number."
    ]


def test_1_0_is_a_number() -> None:
    document = yaml12.load(b"default: {gsm8k: 1.0, mmlu: 0.0}\n", "t.yaml")
    assert schema.fits("eval-thresholds", document.value, document)


def test_real_rows_fit(shared: Path) -> None:
    count = 0
    for path in sorted((shared / "inferencex/expected").glob("*/*.json")):
        if path.name != "index.json":
            for row in _iterate_rows(json.loads(path.read_text(encoding="utf-8"))):
                count += 1
                assert schema.is_valid("matrix-row", row), f"{path.name}: {row}"
    assert count > 10_000


def test_real_changelog_entries_fit(shared: Path) -> None:
    path = shared / "inferencex/perf-changelog.yaml"
    entries = yaml12.load(path.read_bytes(), path.name).value
    assert len(entries) == 772
    assert all(schema.is_valid("changelog-entry", entry) for entry in entries)


def _iterate_rows(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and {"runner", "framework"} <= value.keys():
        yield value
    elif isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _iterate_rows(child)


@pytest.mark.parametrize("name", NAMES)
def test_every_mapping_in_a_schema_states_whether_it_allows_more_keys(name: str) -> None:
    """An unknown key is a typing error, so every object must say whether it allows more keys."""

    def walk(node: Any, path: str) -> Iterator[str]:
        if isinstance(node, dict):
            closed = {"additionalProperties", "unevaluatedProperties", "$ref", "oneOf", "anyOf"}
            if "properties" in node and node.get("type") == "object" and not closed & set(node):
                yield path
            for key, child in node.items():
                yield from walk(child, f"{path}/{key}")
        elif isinstance(node, list):
            for index, child in enumerate(node):
                yield from walk(child, f"{path}/{index}")

    assert list(walk(schema.read_schema(name), "")) == []
