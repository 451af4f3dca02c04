"""Benchmark configurations as typed values.

An optional field is None if rows omit it too; otherwise its default is set here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from infx.bench.scenario import ScenarioType as ScenarioType  # noqa: PLC0414 - it belongs to this vocabulary too
from infx.records import record, replace


class SpecDecoding(StrEnum):
    NONE = "none"
    MTP = "mtp"
    DRAFT_MODEL = "draft_model"


class KvOffloading(StrEnum):
    NONE = "none"
    DRAM = "dram"


@record
class Component:
    """A router or a KV offload backend, by name and version."""

    name: str
    version: str | None = None


@record
class Parallelism:
    """GPUs of one engine: tp x pp x pcp (decode context parallelism shares them)."""

    tp: int
    pp: int = 1
    dcp_size: int = 1
    pcp_size: int = 1
    ep: int | None = None
    dp_attn: bool | None = None

    @property
    def gpus(self) -> int:
        return self.tp * self.pp * self.pcp_size

    def filled(self) -> Self:
        """Return a copy with defaults for omitted fields: ep 1, no data-parallel attention."""
        return replace(self, ep=self.ep or 1, dp_attn=bool(self.dp_attn))


@record
class Worker(Parallelism):
    """A role of a multi-node deployment: `num_worker` engines of the same shape."""

    num_worker: int
    hardware: str | None = None
    additional_settings: tuple[str, ...] | None = None


@record
class Concurrency:
    """Concurrencies of a search row: either `values` (conc-list) or `start`..`end` (conc-start, conc-end)."""

    values: tuple[int, ...] | None = None
    start: int | None = None
    end: int | None = None


@record
class SearchRow:
    """One entry of a search space.

    Exactly one layout is set: `engine` (single node), `worker` with `num_nodes` (aggregated multi-node), or
    `prefill` and `decode`.
    """

    index: int  # in the list, from 0
    line: int  # in the file, from 1
    concurrency: Concurrency
    spec_decoding: SpecDecoding = SpecDecoding.NONE
    engine: Parallelism | None = None
    worker: Worker | None = None
    prefill: Worker | None = None
    decode: Worker | None = None
    num_nodes: int | None = None
    router: Component | None = None
    kv_p2p_transfer: str | None = None
    kv_offloading: KvOffloading | None = None
    kv_offload_backend: Component | None = None
    srt_recipe: str | None = None
    eval_srt_recipe: str | None = None
    power: bool | None = None


@record
class FixedScenario:
    """Requests of fixed input and output length, in tokens."""

    isl: int
    osl: int
    search_space: tuple[SearchRow, ...]
    line: int
    index: int = 0  # among the scenarios of its kind
    require_power: bool | None = None


@record
class AgenticScenario:
    """Replayed coding sessions."""

    search_space: tuple[SearchRow, ...]
    line: int
    index: int = 0  # among the scenarios of its kind
    dram_utilization: Decimal | None = None  # share of a node's DRAM that KV offload may use


@record
class Config:
    """One entry of a master configuration file."""

    key: str
    image: str
    model: str
    model_prefix: str
    precision: str
    framework: str
    runner: str
    multinode: bool
    path: str
    line: int
    disagg: bool = False
    router: Component | None = None
    kv_p2p_transfer: str | None = None
    srt_recipe_dir: str | None = None
    fixed: tuple[FixedScenario, ...] = ()
    agentic: tuple[AgenticScenario, ...] = ()
    silenced: Mapping[str, str] = field(default_factory=dict)  # rule of `infx config check` → reason


def drop_remarks(entry: Any) -> Any:
    """Return an entry of a master file without what changes no row: the silenced rules."""
    if isinstance(entry, dict) and "silenced" in entry:
        return {key: value for key, value in entry.items() if key != "silenced"}
    return entry


@record
class Hardware:
    """One node of a runner label."""

    gpus_per_node: int
    dram_mib: int | None = None  # DRAM that jobs may use, in MiB


def hardware_of(runner: str) -> str:
    """Return the GPU family of a runner label in lower case: `b200` for `cluster:b200-nv`."""
    return runner.removeprefix("cluster:").partition("-")[0].lower()


@record
class Runners:
    """A runner inventory."""

    labels: Mapping[str, tuple[str, ...]]  # runner label → runner names, in the file's order
    hardware: Mapping[str, Hardware]  # runner label → one of its nodes
    path: str

    @cached_property
    def families(self) -> Mapping[str, Hardware]:
        """GPU family → its node, where all records of the family agree on the node size."""
        sizes: dict[str, set[int]] = {}
        for label, node in self.hardware.items():
            sizes.setdefault(hardware_of(label), set()).add(node.gpus_per_node)
        return {family: Hardware(gpus_per_node=min(own)) for family, own in sizes.items() if len(own) == 1}
