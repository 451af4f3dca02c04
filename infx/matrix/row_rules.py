"""Rules between the fields of one search-space row, and between the row and its configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from infx.bench.config import AgenticScenario, Config, FixedScenario, KvOffloading, SearchRow, Worker
from infx.bench.topology import NODE_SETTINGS, read_nodes
from infx.phrases import join_words
from infx.rules import Finding, Path, Rule

# A recipe is named by settings of the launcher, or by srt-recipe and eval-srt-recipe.
RECIPE_SETTINGS = ("CONFIG_FILE", "EVAL_CONFIG_FILE")
RESERVED_SETTINGS = ("SRT_RECIPE", "EVAL_SRT_RECIPE")
# A configuration must not set variables that the runner or the shell needs, or that name a row and its
# results.
_RUNNER_PREFIXES = ("GITHUB_", "RUNNER_", "ACTIONS_", "INFX_", "LD_", "DYLD_")
_RUNNER_SETTINGS = frozenset(
    (
        "PATH",
        "HOME",
        "SHELL",
        "BASH_ENV",
        "ENV",
        "IFS",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "ROW_ID",
        "RESULT_FILENAME",
    )
)
# The launcher of this engine reads CONFIG_FILE itself, for every kind of row.
OWN_CONFIG_FILE = "llmd-vllm"


Scenario: TypeAlias = FixedScenario | AgenticScenario

_SINGLE = ("tp",)
_AGGREGATED = ("worker", "num-nodes")
_ROLES = ("prefill", "decode")


def _find_wrong_layout(row: SearchRow, config: Config, _: object) -> Iterator[Finding[Path]]:
    """Find a row that does not have exactly the keys of one allowed layout."""
    values = (row.engine, row.worker, row.prefill, row.decode, row.num_nodes)
    names = ("tp", "worker", "prefill", "decode", "num-nodes")
    layout_keys = tuple(name for name, value in zip(names, values, strict=True) if value is not None)
    if config.disagg and not config.multinode:
        return  # reported once, for the configuration
    allowed: tuple[tuple[str, ...], ...] = (_AGGREGATED, _ROLES)
    kind = "multinode: true without disagg"
    if not config.multinode:
        allowed, kind = (_SINGLE,), "multinode: false"
    elif config.disagg:
        allowed, kind = (_ROLES,), "disagg: true"
    if set(layout_keys) not in map(set, allowed):
        wanted = " or ".join(" with ".join(layout) for layout in allowed)
        # The finding points to the first key that belongs to no allowed layout.
        foreign = [name for name in layout_keys if not any(name in layout for layout in allowed)]
        yield Finding(
            at=(foreign[0],) if foreign else (),
            message=f"the row has {join_words(layout_keys) or 'no engine'}; with {kind} a row must have {wanted}",
        )


def _find_wrong_concurrency(row: SearchRow, *_: object) -> Iterator[Finding[Path]]:
    conc = row.concurrency
    ends = [name for name, value in (("conc-start", conc.start), ("conc-end", conc.end)) if value is not None]
    both_forms = "either conc-list or conc-start with conc-end"
    if conc.values is not None and ends:
        yield Finding(
            at=(ends[0],),
            message=f"the row has conc-list and {join_words(ends)}; expected {both_forms}",
            hint="Keep one of the two forms.",
        )
    elif conc.values is None and len(ends) < 2:
        fault = f"the row has only {ends[0]}" if ends else "the row names no concurrency"
        yield Finding(at=(), message=f"{fault}; expected {both_forms}")


def _find_reversed_range(row: SearchRow, *_: object) -> Iterator[Finding[Path]]:
    start, end = row.concurrency.start, row.concurrency.end
    if start is not None and end is not None and start > end:
        yield Finding(
            at=("conc-start",),
            message=f"conc-start {start} is more than conc-end {end}; expected at most {end}",
        )


def _find_single_node_transfer(row: SearchRow, config: Config, _: object) -> Iterator[Finding[Path]]:
    if row.kv_p2p_transfer is not None and not config.multinode:
        yield Finding(
            at=("kv-p2p-transfer",),
            message="a single node does not transfer KV cache; expected only with multinode: true",
            hint="Remove it.",
        )


def _find_power_of_one_node(row: SearchRow, config: Config, scenario: object) -> Iterator[Finding[Path]]:
    if row.power is not None and isinstance(scenario, FixedScenario) and not config.multinode:
        yield Finding(
            at=("power",),
            message="power of a fixed-seq-len row can be measured only with multinode: true",
            hint="Remove it.",
        )


def _find_missing_offloading(row: SearchRow, config: Config, scenario: object) -> Iterator[Finding[Path]]:
    if isinstance(scenario, AgenticScenario) and not config.multinode and row.kv_offloading is None:
        yield Finding(
            at=(),
            message="kv-offloading is missing; an AgentX row on one node needs none or dram",
            hint="Add kv-offloading: none, or dram with a kv-offload-backend.",
        )


def _find_missing_backend(row: SearchRow, *_: object) -> Iterator[Finding[Path]]:
    if row.kv_offloading is KvOffloading.DRAM and row.kv_offload_backend is None:
        yield Finding(
            at=("kv-offloading",),
            message="kv-offloading: dram needs a kv-offload-backend",
            hint="Name the backend that stores the KV cache, such as kv-offload-backend: {name: hicache}.",
        )


def _find_unused_backend(row: SearchRow, *_: object) -> Iterator[Finding[Path]]:
    if row.kv_offload_backend is not None and row.kv_offloading is not KvOffloading.DRAM:
        current = row.kv_offloading.value if row.kv_offloading else "not set"
        yield Finding(
            at=("kv-offload-backend",),
            message=f"a backend needs kv-offloading: dram; it is {current}",
            hint="Set kv-offloading: dram or remove the backend.",
        )


def _find_indivisible_tp(row: SearchRow, *_: object) -> Iterator[Finding[Path]]:
    """Find engines whose dcp-size does not divide tp."""
    # Decode context parallelism splits the GPUs of tensor parallelism and adds none.
    for at, engine in (((), row.engine), *_iterate_workers(row)):
        if engine is not None and engine.tp % engine.dcp_size:
            yield Finding(
                at=(*at, "dcp-size"),
                message=f"dcp-size {engine.dcp_size} does not divide tp {engine.tp}",
            )


def _find_half_named_hardware(row: SearchRow, *_: object) -> Iterator[Finding[Path]]:
    if row.prefill is None or row.decode is None:
        return
    for name, own, other in (("prefill", row.prefill, row.decode), ("decode", row.decode, row.prefill)):
        if own.hardware is not None and other.hardware is None:
            yield Finding(
                at=(name, "hardware"),
                message=f"only {name} names its hardware; expected on both roles or on none",
            )


def _find_reserved_settings(row: SearchRow, config: Config, _: object) -> Iterator[Finding[Path]]:
    own_file = {"CONFIG_FILE"} if config.framework == OWN_CONFIG_FILE else set()
    has_recipe_keys = row.srt_recipe is not None or row.eval_srt_recipe is not None
    for at, name, _value in iterate_settings(row):
        if name in RESERVED_SETTINGS:
            yield Finding(
                at=at,
                message=f"{name} is set by the launcher; expected srt-recipe and eval-srt-recipe on the row",
                hint="Move it there.",
            )
        elif belongs_to_runner(name):
            yield Finding(
                at=at,
                message=f"{name} belongs to the runner that the row runs on",
                hint="Choose another name.",
            )
        elif name in RECIPE_SETTINGS and name not in own_file and (has_recipe_keys or row.worker):
            other = "srt-recipe" if has_recipe_keys else "worker"
            yield Finding(
                at=at,
                message=f"{name} names a recipe in the older form, but {other} belongs to the newer; use only one "
                "of the two",
                hint="Move the recipe to srt-recipe or eval-srt-recipe.",
            )


def belongs_to_runner(name: str) -> bool:
    return name in _RUNNER_SETTINGS or name.startswith(_RUNNER_PREFIXES)


def _find_wrong_node_settings(row: SearchRow, *_: object) -> Iterator[Finding[Path]]:
    """Find numbers of nodes (PREFILL_NODES, DECODE_NODES) that are not valid or contradict each other."""
    seen: dict[str, str] = {}
    for at, name, value in iterate_settings(row):
        if name not in NODE_SETTINGS:
            continue
        if read_nodes(value) is None:
            yield Finding(at=at, message=f'{name} is "{value}"; expected a number of nodes from 1 to 99999')
        elif seen.setdefault(name, value) != value:
            yield Finding(
                at=at, message=f"{name} is {value} here and {seen[name]} before; expected one value"
            )


def _iterate_workers(row: SearchRow) -> Iterator[tuple[tuple[str], Worker]]:
    for name, worker in (("worker", row.worker), ("prefill", row.prefill), ("decode", row.decode)):
        if worker is not None:
            yield (name,), worker


def iterate_settings(row: SearchRow) -> Iterator[tuple[Path, str, str]]:
    """Yield the path from the row, the name and the value of every additional setting."""
    for at, worker in _iterate_workers(row):
        for index, setting in enumerate(worker.additional_settings or ()):
            name, _, value = setting.partition("=")
            yield (*at, "additional-settings", index), name, value


ROW_RULES: tuple[Rule[[SearchRow, Config, Scenario], Path], ...] = (
    Rule(id="row-layout", check=_find_wrong_layout),
    Rule(id="conc-form", check=_find_wrong_concurrency),
    Rule(id="conc-range", check=_find_reversed_range),
    Rule(id="transfer-single-node", check=_find_single_node_transfer),
    Rule(id="power-single-node", check=_find_power_of_one_node),
    Rule(id="offload-missing", check=_find_missing_offloading),
    Rule(id="offload-backend-missing", check=_find_missing_backend),
    Rule(id="offload-backend-unused", check=_find_unused_backend),
    Rule(id="dcp-size", check=_find_indivisible_tp),
    Rule(id="hardware-roles", check=_find_half_named_hardware),
    Rule(id="settings-reserved", check=_find_reserved_settings),
    Rule(id="settings-nodes", check=_find_wrong_node_settings),
)
