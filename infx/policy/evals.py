"""Eval profiles: which rows of a plan also get an accuracy run, as data of the policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class EvalField(StrEnum):
    """A field of a row by which rows are alike. Of a multi-node row, the fields of its engines mean both roles'.

    RECIPE is everything but concurrency, name and accuracy run.
    """

    RECIPE = "recipe"
    MODEL = "model"
    MODEL_PREFIX = "model-prefix"
    IMAGE = "image"
    RUNNER = "runner"
    FRAMEWORK = "framework"
    PRECISION = "precision"
    SPEC_DECODING = "spec-decoding"
    DISAGG = "disagg"
    ISL = "isl"
    OSL = "osl"
    TP = "tp"
    PP = "pp"
    DCP_SIZE = "dcp-size"
    PCP_SIZE = "pcp-size"
    EP = "ep"
    DP_ATTN = "dp-attn"
    NUM_WORKER = "num-worker"
    KV_OFFLOADING = "kv-offloading"


class EvalPick(StrEnum):
    """A concurrency of a group: the largest, or of the sorted distinct ones the one at index n // 2."""

    MAX = "max"
    UPPER_MEDIAN = "upper-median"


class EvalRows(StrEnum):
    """Which rows of a group are evaluated at a picked concurrency: all that have it, or the first."""

    EVERY = "every"
    ONE = "one"


@dataclass(frozen=True, kw_only=True)
class EvalRule:
    """Which rows of one kind get an accuracy run too.

    by_default: also when nobody asks for accuracy runs. group: rows that are alike in these fields are one group.
    pick: at which of a group's concurrencies. min_conc: smaller ones are never picked. sequences: names of fixed
    sequence lengths that are evaluated at all. fallback: a group by these fields of which nothing was picked has its
    row with the highest concurrency evaluated, whatever min_conc says.
    """

    by_default: bool
    group: tuple[EvalField, ...]
    pick: tuple[EvalPick, ...]
    rows: EvalRows
    min_conc: int = 1
    sequences: tuple[str, ...] = ()
    fallback: tuple[EvalField, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class EvalTask:
    framework: str
    suite: str


@dataclass(frozen=True, kw_only=True)
class EvalProfile:
    """Which rows of a plan also get an accuracy run, and of what.

    single_fixed … multi_agentic: one rule for each kind of row. task: what they run. suites: by model prefix, what every
    AgentX row of that model runs as well. emit_task: whether rows name their task. identity: accuracy runs that are alike
    in these fields, task and concurrency are one, the first without KV offload; empty for no such rule.
    """

    single_fixed: EvalRule
    multi_fixed: EvalRule
    single_agentic: EvalRule
    multi_agentic: EvalRule
    task: EvalTask
    emit_task: bool
    suites: Mapping[str, EvalTask]
    identity: tuple[EvalField, ...]
