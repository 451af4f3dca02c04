"""Eval profiles: data of the policy that selects rows of a plan for an accuracy run."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from infx.records import record


class EvalField(StrEnum):
    """A field of a row by which rows are grouped. For a multi-node row, an engine's field means those of both roles."""

    RECIPE = "recipe"  # everything except concurrency, name and accuracy run
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
    """A concurrency of a group at which rows are evaluated."""

    MAX = "max"  # the largest
    UPPER_MEDIAN = "upper-median"  # index n // 2 of the n distinct concurrencies in ascending order


class EvalRows(StrEnum):
    """The rows of a group that are evaluated at a picked concurrency."""

    EVERY = "every"  # all rows with that concurrency
    ONE = "one"  # the first of them


@record
class EvalRule:
    """The rule that selects the rows of one kind that also get an accuracy run.

    Attributes:
        by_default: whether the rule also applies without a request for accuracy runs.
        group: rows with equal values in these fields form a group.
        pick: the concurrencies of a group at which rows are evaluated.
        min_conc: smaller concurrencies are never picked.
        sequences: names of the fixed sequence lengths that may be evaluated.
        fallback: rows with equal values in these fields form a group. If no row of it was picked, its row with
            the highest concurrency is evaluated, even below min_conc.
    """

    by_default: bool
    group: tuple[EvalField, ...]
    pick: tuple[EvalPick, ...]
    rows: EvalRows
    min_conc: int = 1
    sequences: tuple[str, ...] = ()
    fallback: tuple[EvalField, ...] | None = None


@record
class EvalTask:
    """The task of an accuracy run."""

    framework: str
    suite: str


@record
class EvalProfile:
    """The rules that select the rows of a plan for accuracy runs, and the tasks of these runs.

    Attributes:
        task: what accuracy runs execute.
        emit_task: whether rows name their task.
        suites: model prefix → the task that every AgentX row of that model runs additionally.
        identity: accuracy runs with equal task, concurrency and values in these fields are one run, preferably
            without KV offload. Empty: runs are never merged.
    """

    single_fixed: EvalRule
    multi_fixed: EvalRule
    single_agentic: EvalRule
    multi_agentic: EvalRule
    task: EvalTask
    emit_task: bool
    suites: Mapping[str, EvalTask]
    identity: tuple[EvalField, ...]
