"""Small configurations as text, for tests of the planner."""

from __future__ import annotations

from collections.abc import Iterable

from infx.bench.delta import Delta
from infx.bench.entry import Entry
from infx.bench.row import Roles, Row
from infx.changelog.delta import read_entries
from infx.matrix.evals import find_profile
from infx.matrix.load import PlanInputs, load_inputs
from infx.matrix.plan import Options, Plan, plan_delta
from infx.policy.evals import EvalProfile
from infx.policy.load import default_policy

PATH = "nvidia-master.yaml"
RUNNERS = """\
labels:
  h200: [h200-a_0, h200-a_1, h200-b_0]
  cluster:h200-a: [h200-a_0, h200-a_1]
  cluster:gb200-a: [gb200-a_0]
hardware:
  cluster:h200-a: {gpus-per-node: 8, available-cpu-dram-mib: 3095781}
  cluster:gb200-a: {gpus-per-node: 4, available-cpu-dram-mib: 860160}
"""
DEFAULT = find_profile("default", default_policy().evals)
AUGUST = find_profile("inferencex-2026-08", default_policy().evals)


def single(key: str, *rows: str, isl: int = 8192, runner: str = "h200", **fields: str) -> str:
    """Return a single-node configuration of fixed length; rows: items of its search space, in flow style."""
    return _config(key, runner, fields) + _fixed(rows, isl)


def multi(key: str, *rows: str, runner: str = "h200", disagg: bool = False, **fields: str) -> str:
    return _config(key, runner, {**_roles(disagg), **fields}) + _fixed(rows, 8192)


def agentic(key: str, *rows: str, runner: str = "cluster:h200-a", dram: str = "0.5", **fields: str) -> str:
    return _config(key, runner, fields) + _agentic(rows, dram)


def multi_agentic(
    key: str,
    *rows: str,
    runner: str = "cluster:gb200-a",
    dram: str = "0.5",
    disagg: bool = False,
    **fields: str,
) -> str:
    return _config(key, runner, {**_roles(disagg), **fields}) + _agentic(rows, dram)


def both(key: str, fixed: str, coding: str) -> str:
    """Return a configuration with one search row of each scenario."""
    return _config(key, "cluster:h200-a", {}) + _fixed([fixed], 8192) + _agentic([coding], "0.5")


def pair(conc: str, prefill: str = "num-worker: 1, tp: 4", decode: str = "num-worker: 1, tp: 4") -> str:
    """Return a search row with two roles."""
    return f"{{conc-list: {conc}, prefill: {{{prefill}}}, decode: {{{decode}}}}}"


def load(*configs: str, runners: str = RUNNERS) -> PlanInputs:
    return load_inputs([(PATH, "".join(configs).encode())], ("runners.yaml", runners.encode()))


def entries(text: str) -> tuple[Entry, ...]:
    return read_entries(text.encode(), "perf-changelog.yaml")


def entry(*keys: str, **fields: str) -> str:
    """Return an entry as text; fields: more keys, with `_` for `-`."""
    more = "".join(f"  {name.replace('_', '-')}: {value}\n" for name, value in fields.items())
    return (
        f"- config-keys: [{', '.join(repr(key) for key in keys)}]\n  description: [x]\n  pr-link: XXX\n{more}"
    )


def plan(
    inputs: PlanInputs,
    *texts: str,
    base: PlanInputs | None = None,
    profile: EvalProfile = DEFAULT,
    **options: bool,
) -> Plan:
    delta = Delta(entries=entries("".join(texts)))
    return plan_delta(delta, inputs, base, Options(profile=profile, **options), "perf-changelog.yaml")


def points(rows: Iterable[Row]) -> list[str]:
    """Return each row in short form: `tp8@4,16`, or `1xtp4+1xtp4@16` for a multi-node row."""
    return [f"{shape(row)}@{','.join(str(conc) for conc in row.conc)}" for row in rows]


def shape(row: Row) -> str:
    layout = row.recipe.layout
    if isinstance(layout, Roles):
        return "+".join(f"{role.num_worker}xtp{role.tp}" for role in (layout.prefill, layout.decode))
    ep = f"ep{layout.ep}" if layout.ep not in (None, 1) else ""
    return f"tp{layout.tp}{ep}{'dpa' if layout.dp_attn else ''}"


def _roles(disagg: bool) -> dict[str, str]:
    fields = {"multinode": "true", "framework": "dynamo-vllm"}
    return {**fields, "disagg": "true", "kv_p2p_transfer": "nixl"} if disagg else fields


def _config(key: str, runner: str, fields: dict[str, str]) -> str:
    values = {
        "image": "acme/vllm:v1",
        "model": "acme/m1",
        "model_prefix": "m1",
        "precision": "fp8",
        "framework": "vllm",
        "multinode": "false",
        "runner": runner,
        **fields,
    }
    lines = "".join(f"  {name.replace('_', '-')}: {value}\n" for name, value in values.items())
    return f"{key}:\n{lines}  scenarios:\n"


def _fixed(rows: Iterable[str], isl: int) -> str:
    space = "".join(f"      - {row}\n" for row in rows)
    return f"    fixed-seq-len:\n    - isl: {isl}\n      osl: 1024\n      search-space:\n{space}"


def _agentic(rows: Iterable[str], dram: str) -> str:
    space = "".join(f"      - {row}\n" for row in rows)
    return f"    agentic-coding:\n    - dram-utilization: {dram}\n      search-space:\n{space}"
