"""Result rows: one measured point, as a tool writes it to an `agg_*.json`, in the form of `infx.results.normalize`.

Fields that identify the point are typed; every other number is a metric under the script's own name. Times are in
seconds, throughputs in tokens per second. schemas/result-row.json defines the fields, and the numbers that may not be 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from infx import schema, yaml12
from infx.bench.config import Component, ScenarioType
from infx.bench.identity import Curve, hardware_of
from infx.bench.names import AGENTIC, name_sequence
from infx.bench.row import read_component
from infx.phrases import count
from infx.records import record
from infx.results.identity import FIELDS
from infx.results.normalize import Normalized, normalize

MAX_METRICS = 500  # of one row; scripts write a few dozen
_TOKEN_TIME = re.compile(r"(?:mean|median|p50)_tpot")


class OutcomeStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"


@record
class BenchmarkOutcome:
    """The numbers of requests that a client sent, and how they ended."""

    requested: int
    completed: int
    failed: int
    status: OutcomeStatus
    max_failure_rate: float = 0.05  # a point with a larger rate has failed

    def find_fault(self) -> str | None:
        """Return a clause if no request was completed, or if counts and status contradict each other."""
        if not self.completed:
            return f"benchmark_outcome says that {self.completed} of {count(self.requested, 'request')} were completed"
        if self.completed + self.failed != self.requested:
            return (
                f"benchmark_outcome counts {self.completed} completed and {self.failed} failed "
                f"of {count(self.requested, 'request')}"
            )
        if self.exceeds(self.max_failure_rate) and self.status is OutcomeStatus.PASSED:
            return f"benchmark_outcome says passed with {self.failed} of {count(self.requested, 'request')} failed"
        return None

    def exceeds(self, rate: float) -> bool:
        """Return whether the share of failed requests is larger than `rate`, from 0 to 1."""
        return self.failed > rate * self.requested

    def describe(self, limit: float) -> str:
        """Return the counts in words. limit: the policy's rate; the lower of it and the row's own applies."""
        allowed = 100 * min(limit, self.max_failure_rate)
        return f"{self.failed} of {count(self.requested, 'request')} failed, at most {allowed:.4g} % may"


@record
class ResultRow:
    """One measured point."""

    hw: str  # the runner label
    conc: int  # simultaneous clients
    image: str
    model: str
    infmax_model_prefix: str
    framework: str
    precision: str
    spec_decoding: str
    disagg: bool
    isl: int  # tokens; 0 for AgentX
    osl: int  # tokens; 0 for AgentX
    metrics: Mapping[str, float]
    details: Mapping[str, str | int | bool]  # of the deployment: `tp`, `prefill_ep`, `is_multinode`, …
    recipe_fingerprint: str | None = None
    router: Component | None = None
    kv_p2p_transfer: str | None = None
    outcome: BenchmarkOutcome | None = None

    @property
    def has_failed(self) -> bool:
        return self.outcome is not None and self.outcome.status is OutcomeStatus.FAILED

    @property
    def scenario(self) -> str:
        is_agentic = (self.isl, self.osl) == (0, 0) or self.details.get(
            "scenario_type"
        ) == ScenarioType.AGENTIC
        return AGENTIC if is_agentic else name_sequence(self.isl, self.osl)

    @property
    def curve(self) -> Curve:
        return Curve(
            model_prefix=self.infmax_model_prefix,
            scenario=self.scenario,
            hardware=hardware_of(self.hw),
            framework=self.framework,
            precision=self.precision,
        )


_IDENTITY = (
    "hw", "conc", "image", "model", "infmax_model_prefix", "framework", "precision", "spec_decoding", "disagg",
    "isl", "osl",
)  # fmt: skip


class RowFaultError(ValueError):
    """Raised when a value is not a result row. faults: clauses, one for each fault."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))


def parse_row(values: object) -> ResultRow:
    """Return the row of a JSON value of any tool. Raises RowFaultError with every fault of the value."""
    if not isinstance(values, dict):
        raise RowFaultError(["it is not a mapping"])
    values = normalize(values)
    if faults := find_faults(values):
        raise RowFaultError(faults)
    return make_row(values)


def make_row(values: Normalized) -> ResultRow:
    """Return the row of a result in which `find_faults` finds nothing."""
    optional = {"recipe_fingerprint", "router", "kv_p2p_transfer", "kv_offload_backend", "benchmark_outcome"}
    others = {key: value for key, value in values.items() if key not in {*_IDENTITY, *optional}}
    details = {key: value for key, value in others.items() if key in FIELDS}
    if backend := values.get("kv_offload_backend"):
        details["kv_offload_backend"] = backend["name"]
    return ResultRow(
        **{key: values[key] for key in _IDENTITY},
        details=MappingProxyType(details),
        metrics=MappingProxyType({key: float(value) for key, value in others.items() if key not in details}),
        recipe_fingerprint=values.get("recipe_fingerprint"),
        router=read_component(values.get("router")),
        kv_p2p_transfer=values.get("kv_p2p_transfer"),
        outcome=_read_outcome(values.get("benchmark_outcome")),
    )


def find_faults(values: Normalized) -> list[str]:
    """Return a clause for each fault of a result, without a comparison with the plan."""
    # Numbers are checked first: a schema cannot exclude numbers that are not finite.
    numbers = {key: value for key, value in values.items() if isinstance(value, int | float)}
    faults = [f"{key} is not a finite number" for key, value in numbers.items() if not is_finite(value)]
    if len(numbers) > MAX_METRICS:
        faults.append(f"it has {len(numbers)} numbers, more than the limit of {MAX_METRICS}")
    if faults:
        return faults[:10]
    if not schema.is_valid("result-row", values):
        problems = schema.check_value("result-row", values, _NOWHERE)
        read = [*values.faults.values()]
        clauses = [problem.message.removeprefix("the file: ").rstrip(".") for problem in problems]
        clauses = [
            clause
            for clause in clauses
            if not clause.startswith(tuple(f"{name}: " for name in values.faults))
        ]
        return [*read, *clauses][:10] or ["it is not a result row"]
    outcome = _read_outcome(values.get("benchmark_outcome"))
    fault = outcome.find_fault() if outcome else None
    return [fault] if fault else _find_empty_answers(values)


def _find_empty_answers(values: Mapping[str, Any]) -> list[str]:
    """Return a clause for each time per token that is 0, because a client reports 0 if no answer had a second token."""
    if values["osl"] == 1:  # answers of one token have no time per further token
        return []
    return [
        f"{key} is {value}, so no answer had a second token; expected more than 0"
        for key, value in values.items()
        if _TOKEN_TIME.fullmatch(key) and not value
    ]


_NOWHERE = yaml12.load(b"", "")


def is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:  # an integer that is larger than every float
        return False


def _read_outcome(value: Any) -> BenchmarkOutcome | None:
    return None if value is None else BenchmarkOutcome(**{**value, "status": OutcomeStatus(value["status"])})
