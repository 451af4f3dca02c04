"""Identify a result, whichever tool wrote it.

Two results of the same measurement get the same identity: `infx.results.normalize` brings both to one form, and a
parallelism of 1 may be left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from infx.bench.config import KvOffloading, SpecDecoding
from infx.records import record
from infx.results.identity import FIELDS, ROLES, show_value
from infx.results.normalize import Normalized, is_agentic, is_multinode, normalize
from infx.results.row import MAX_METRICS, RowFaultError

DEFAULT_LENGTHS = (8192, 1024)  # tokens of an accuracy result that names none
SIZES = ("pp", "dcp_size", "pcp_size")  # left out if they are 1
REQUIRED = ("hw", "infmax_model_prefix", "framework", "precision", "conc")
_NAMES = ("hw", "infmax_model_prefix", "framework", "precision")

Scalar = str | int | bool | None


class ResultKind(StrEnum):
    """A kind of result; each has fields of its own in the identity."""

    FIXED = "fixed"
    AGENTIC = "agentic"
    ACCURACY = "accuracy"


@record
class ResultIdentity:
    """Everything that distinguishes a measured point from other points, except the task of an accuracy result."""

    kind: ResultKind
    fields: tuple[tuple[str, Scalar], ...]  # None: the result does not say

    def __str__(self) -> str:
        shown = [(name, value) for name, value in self.fields if value not in (None, False)]
        words = [str(value) if name in _NAMES else f"{name} {show_value(value)}" for name, value in shown]
        return " ".join(word for word in words if not word.endswith((" none", "_size 1", "pp 1")))

    def find_absent(self) -> list[str]:
        """Return the names of required fields that the result does not have."""
        values = dict(self.fields)
        return [name for name in REQUIRED if values[name] is None]


def identify_point(values: Mapping[str, Any]) -> ResultIdentity:
    """Return the identity of a throughput result. Raises RowFaultError with a clause for each unreadable field."""
    fields = _FieldReader(normalize(values))
    if not is_agentic(fields.values):
        lengths = (fields.read("isl"), fields.read("osl"))
        return fields.finish(ResultKind.FIXED, isl=lengths[0], osl=lengths[1])
    mode, backend = _read_offload(fields)
    return fields.finish(ResultKind.AGENTIC, kv_offloading=mode, kv_offload_backend=backend)


def identify_eval(values: Mapping[str, Any]) -> ResultIdentity:
    """Return the identity of an accuracy result, by its metadata or by its row in the aggregate.

    Raises RowFaultError like `identify_point`. Names are in lower case, because the aggregate changes their case.
    """
    if "infmax_model_prefix" not in values and "model_prefix" in values:
        values = {**values, "infmax_model_prefix": values["model_prefix"]}
    fields = _FieldReader(normalize(values), ignore_case=True)
    isl, osl = (
        fields.read(name, default) for name, default in zip(("isl", "osl"), DEFAULT_LENGTHS, strict=True)
    )
    return fields.finish(ResultKind.ACCURACY, isl=isl, osl=osl)


def is_result(values: object) -> bool:
    """Return whether a JSON value is meant as a result; tools upload other files along with results."""
    return isinstance(values, dict) and any(name in values for name in REQUIRED)


def find_metrics(values: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return the measured numbers of a result, sorted by name. Raises RowFaultError if there are too many."""
    metrics = sorted(
        (key, value)
        for key, value in normalize(values).items()
        if isinstance(value, int | float) and not isinstance(value, bool) and key not in FIELDS
    )
    if len(metrics) > MAX_METRICS:
        raise RowFaultError([f"it has {len(metrics)} numbers, more than the limit of {MAX_METRICS}"])
    return tuple(metrics)


class _FieldReader:
    """Reads fields of one result and keeps the clause of each that is unreadable."""

    def __init__(self, values: Normalized, *, ignore_case: bool = False) -> None:
        self.values = values
        self.ignore_case = ignore_case
        self.faults: list[str] = []

    def read(self, name: str, default: Scalar = None) -> Scalar:
        if name in self.values.faults:
            self.faults.append(self.values.faults[name])
            return default
        value: Scalar = self.values.get(name, default)
        return value.lower() if isinstance(value, str) and self.ignore_case else value

    def finish(self, kind: ResultKind, **workload: Scalar) -> ResultIdentity:
        """Return the identity. Raises RowFaultError if a field is unreadable."""
        fields: dict[str, Scalar] = {name: self.read(name) for name in _NAMES}
        fields |= {
            "spec_decoding": self.read("spec_decoding", SpecDecoding.NONE.value),
            "disagg": self.read("disagg", False),
            **workload,
            **self._read_layout(),
            "conc": self.read("conc"),
            "recipe_fingerprint": self.read("recipe_fingerprint"),
        }
        if self.faults:
            raise RowFaultError(self.faults)
        return ResultIdentity(kind=kind, fields=tuple(fields.items()))

    def _read_layout(self) -> dict[str, Scalar]:
        """Return the fields of one engine, or those of both roles of a multi-node deployment."""
        self.read("is_multinode")
        if not is_multinode(self.values):
            return self._read_engine("")
        workers: dict[str, Scalar] = {
            f"{role}_num_workers": self.read(f"{role}_num_workers") for role in ROLES
        }
        return workers | {
            key: value for role in ROLES for key, value in self._read_engine(f"{role}_").items()
        }

    def _read_engine(self, prefix: str) -> dict[str, Scalar]:
        sizes: dict[str, Scalar] = {prefix + name: self.read(prefix + name) for name in ("tp", "ep")}
        sizes |= {prefix + name: self.read(prefix + name, 1) for name in SIZES}
        return {**sizes, f"{prefix}dp_attention": self.read(f"{prefix}dp_attention", False)}


def _read_offload(fields: _FieldReader) -> tuple[Scalar, Scalar]:
    """Return the mode and the backend of KV offloading."""
    none = KvOffloading.NONE.value
    mode = fields.read("kv_offloading", none)
    backend = fields.values.get("kv_offload_backend")
    return mode, None if mode == none or not backend else show_value(backend)
