"""Build a typed configuration from plain values that fit the schema.

The values are walked together with their YAML nodes, so that scenarios and rows know their lines.
A scenario or row that is None is broken and is left out; the others keep their indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import yaml

from infx.bench.config import (
    AgenticScenario,
    Concurrency,
    Config,
    FixedScenario,
    KvOffloading,
    SearchRow,
    SpecDecoding,
    Worker,
)
from infx.bench.row import read_component, read_parallelism, read_worker


def build_config(key_node: yaml.Node, node: yaml.Node, value: Mapping[str, Any], path: str) -> Config:
    scenarios = value["scenarios"]
    nodes = _map_children(_map_children(node)["scenarios"])
    return Config(
        key=key_node.value,
        image=value["image"],
        model=value["model"],
        model_prefix=value["model-prefix"],
        precision=value["precision"],
        framework=value["framework"],
        runner=value["runner"],
        multinode=value["multinode"],
        path=path,
        line=_find_line(key_node),
        disagg=value.get("disagg", False),
        router=read_component(value.get("router")),
        kv_p2p_transfer=value.get("kv-p2p-transfer"),
        srt_recipe_dir=value.get("srt-recipe-dir"),
        silenced=value.get("silenced", {}),
        fixed=tuple(
            _build_fixed(index, item, item_node)
            for index, (item, item_node) in enumerate(_pair_nodes("fixed-seq-len", scenarios, nodes))
            if item is not None
        ),
        agentic=tuple(
            _build_agentic(index, item, item_node)
            for index, (item, item_node) in enumerate(_pair_nodes("agentic-coding", scenarios, nodes))
            if item is not None
        ),
    )


def _build_fixed(index: int, value: Mapping[str, Any], node: yaml.Node) -> FixedScenario:
    return FixedScenario(
        isl=value["isl"],
        osl=value["osl"],
        search_space=_build_rows(value, node),
        line=_find_line(node),
        index=index,
        require_power=value.get("require-power"),
    )


def _build_agentic(index: int, value: Mapping[str, Any], node: yaml.Node) -> AgenticScenario:
    share = value.get("dram-utilization")
    return AgenticScenario(
        search_space=_build_rows(value, node),
        line=_find_line(node),
        index=index,
        dram_utilization=None if share is None else Decimal(str(share)),
    )


def _build_rows(value: Mapping[str, Any], node: yaml.Node) -> tuple[SearchRow, ...]:
    pairs = _pair_nodes("search-space", value, _map_children(node))
    return tuple(
        _build_row(index, row, _find_line(row_node))
        for index, (row, row_node) in enumerate(pairs)
        if row is not None
    )


def _build_row(index: int, value: Mapping[str, Any], line: int) -> SearchRow:
    get = value.get
    offloading = get("kv-offloading")
    values = get("conc-list")
    return SearchRow(
        index=index,
        line=line,
        concurrency=Concurrency(
            values=None if values is None else tuple(values), start=get("conc-start"), end=get("conc-end")
        ),
        spec_decoding=SpecDecoding(get("spec-decoding", "none")),
        engine=read_parallelism(value) if "tp" in value else None,
        worker=_build_worker(get("worker")),
        prefill=_build_worker(get("prefill")),
        decode=_build_worker(get("decode")),
        num_nodes=get("num-nodes"),
        router=read_component(get("router")),
        kv_p2p_transfer=get("kv-p2p-transfer"),
        kv_offloading=None if offloading is None else KvOffloading(offloading),
        kv_offload_backend=read_component(get("kv-offload-backend")),
        srt_recipe=get("srt-recipe"),
        eval_srt_recipe=get("eval-srt-recipe"),
        power=get("power"),
    )


def _build_worker(value: Mapping[str, Any] | None) -> Worker | None:
    return None if value is None else read_worker(value)


def _pair_nodes(
    key: str, values: Mapping[str, Any], nodes: Mapping[str, yaml.Node]
) -> Iterable[tuple[Any, yaml.Node]]:
    """Return the items of a list, each with its YAML node."""
    return zip(values[key], nodes[key].value, strict=True) if key in values else ()


def _map_children(node: yaml.Node) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in node.value}


def _find_line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
