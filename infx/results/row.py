"""A result row: one measured point, as a benchmark script leaves it behind in an `agg_*.json`.

What identifies the point is typed; every further number is a metric under the name that the script gave it.
Times are seconds, throughputs tokens per second. The shape is that of schemas/result-row.json.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from infx import schema, yaml12
from infx.matrix.config import Component
from infx.matrix.row import FixedWorkload, Row

MAX_METRICS = 500  # of one row; a script has some dozens


class Status(StrEnum):
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Requests of the client. max_failure_rate: above it the point counts as failed."""

    requested: int
    completed: int
    failed: int
    status: Status
    max_failure_rate: float = 0.05

    def find_fault(self) -> str | None:
        """What the counts say against each other or against the status."""
        if self.completed + self.failed != self.requested:
            return f"benchmark_outcome counts {self.completed} completed and {self.failed} failed of {self.requested} requests"
        too_many = self.failed > self.max_failure_rate * self.requested or not self.completed
        if too_many and self.status is Status.PASSED:
            return f"benchmark_outcome says passed with {self.failed} of {self.requested} requests failed"
        return None


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """hw: the runner label. conc: simultaneous clients. isl, osl: tokens, 0 for AgentX.

    details: what else describes the deployment (`tp`, `prefill_ep`, `is_multinode`, …). metrics: by name.
    """

    hw: str
    conc: int
    image: str
    model: str
    infmax_model_prefix: str
    framework: str
    precision: str
    spec_decoding: str
    disagg: bool
    isl: int
    osl: int
    metrics: Mapping[str, float]
    details: Mapping[str, str | int | bool]
    recipe_fingerprint: str | None = None
    router: Component | None = None
    kv_p2p_transfer: str | None = None
    outcome: Outcome | None = None

    @property
    def has_failed(self) -> bool:
        return self.outcome is not None and self.outcome.status is Status.FAILED


_IDENTITY = (
    "hw", "conc", "image", "model", "infmax_model_prefix", "framework", "precision", "spec_decoding", "disagg",
    "isl", "osl",
)  # fmt: skip
_DETAILS = {
    "tp",
    "pp",
    "ep",
    "dcp_size",
    "pcp_size",
    "dp_attention",
    "is_multinode",
    "scenario_type",
    "kv_offloading",
}


class RowFaultError(ValueError):
    """Why a value is no result row: clauses, one for each fault."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))


def parse_row(values: object) -> ResultRow:
    """Raises RowFaultError with everything that is wrong with the value."""
    if faults := _check(values):
        raise RowFaultError(faults)
    assert isinstance(values, dict)
    optional = {"recipe_fingerprint", "router", "kv_p2p_transfer", "kv_offload_backend", "benchmark_outcome"}
    rest = {key: value for key, value in values.items() if key not in {*_IDENTITY, *optional}}
    details = {key: value for key, value in rest.items() if _is_detail(key)}
    if backend := values.get("kv_offload_backend"):
        details["kv_offload_backend"] = backend["name"]
    return ResultRow(
        **{key: values[key] for key in _IDENTITY},
        details=MappingProxyType(details),
        metrics=MappingProxyType({key: float(value) for key, value in rest.items() if key not in details}),
        recipe_fingerprint=values.get("recipe_fingerprint"),
        router=_component(values.get("router")),
        kv_p2p_transfer=values.get("kv_p2p_transfer"),
        outcome=_outcome(values.get("benchmark_outcome")),
    )


def _check(values: object) -> list[str]:
    # First the numbers: the schema knows none that is not finite.
    numbers = (
        {key: value for key, value in values.items() if isinstance(value, int | float)}
        if isinstance(values, dict)
        else {}
    )
    faults = [f"{key} is not a finite number" for key, value in numbers.items() if not is_finite(value)]
    if len(numbers) > MAX_METRICS:
        faults.append(f"it has {len(numbers)} numbers; {MAX_METRICS} are the most")
    if faults:
        return faults[:10]
    if not schema.is_valid("result-row", values):
        problems = schema.check_value("result-row", values, _NOWHERE)
        found = [problem.message.removeprefix("the file: ").rstrip(".") for problem in problems[:10]]
        return found or ["it is no result row"]
    assert isinstance(values, dict)
    outcome = _outcome(values.get("benchmark_outcome"))
    fault = outcome.find_fault() if outcome else None
    return [fault] if fault else []


_NOWHERE = yaml12.load(b"", "")


def is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:  # an integer beyond every float
        return False


def _is_detail(key: str) -> bool:
    words = key.removeprefix("prefill_").removeprefix("decode_")
    return words in {*_DETAILS, "num_workers", "hardware"} or (
        key.startswith("num_") and key.endswith("_gpu")
    )


def _component(value: Any) -> Component | None:
    return None if value is None else Component(name=value["name"], version=value.get("version"))


def _outcome(value: Any) -> Outcome | None:
    return None if value is None else Outcome(**{**value, "status": Status(value["status"])})


def find_mismatches(result: ResultRow, planned: Row) -> list[str]:
    """In what a result is not the one that its row asked for; clauses."""
    recipe, workload = planned.recipe, planned.recipe.workload
    tokens = (workload.isl, workload.osl) if isinstance(workload, FixedWorkload) else (0, 0)
    expected: dict[str, object] = {
        "hw": recipe.runner,
        "infmax_model_prefix": recipe.model_prefix,
        "framework": recipe.framework,
        "precision": recipe.precision,
        "spec_decoding": recipe.spec_decoding.value,
        "disagg": recipe.disagg,
        "isl": tokens[0],
        "osl": tokens[1],
    }
    found = [
        f"{key} is {getattr(result, key)!r}, the plan says {value!r}"
        for key, value in expected.items()
        if getattr(result, key) != value
    ]
    if result.conc not in planned.conc:
        found.append(f"conc is {result.conc}, the plan says {', '.join(map(str, planned.conc))}")
    fingerprint = planned.recipe_fingerprint
    if fingerprint and result.recipe_fingerprint not in {None, fingerprint}:
        found.append("recipe_fingerprint is another one than the plan's")
    return found
