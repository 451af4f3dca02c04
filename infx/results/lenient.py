"""Read what identifies a result, in every form in which tools write it.

Tools write numbers and booleans as text and null for an unknown value, and leave out a parallelism of 1. Here, two
results of the same measurement get the same identity, whichever tool wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from infx.bench.config import KvOffloading, ScenarioType, SpecDecoding
from infx.records import record
from infx.results.identity import FIELDS, ROLES, show_value
from infx.results.row import MAX_METRICS, RowFaultError

MAX_TEXT = 200  # characters of a name
DEFAULT_LENGTHS = (8192, 1024)  # tokens of an accuracy result that names none
SIZES = ("pp", "dcp_size", "pcp_size")  # left out if they are 1
REQUIRED = ("hw", "infmax_model_prefix", "framework", "precision", "conc")
_NAMES = ("hw", "infmax_model_prefix", "framework", "precision")
_DIGITS = re.compile(r"[0-9]{1,9}")

Scalar = str | int | bool | None
_T = TypeVar("_T", str, int, bool)


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
    fields = _FieldReader(values)
    if not _is_agentic(values):
        lengths = (fields.number("isl"), fields.number("osl"))
        return fields.finish(ResultKind.FIXED, isl=lengths[0], osl=lengths[1])
    mode, backend = _read_offload(fields)
    return fields.finish(ResultKind.AGENTIC, kv_offloading=mode, kv_offload_backend=backend)


def identify_eval(values: Mapping[str, Any]) -> ResultIdentity:
    """Return the identity of an accuracy result, by its metadata or by its row in the aggregate.

    Raises RowFaultError like `identify_point`. Names are in lower case, because the aggregate changes their case.
    """
    if "infmax_model_prefix" not in values and "model_prefix" in values:
        values = {**values, "infmax_model_prefix": values["model_prefix"]}
    fields = _FieldReader(values, ignore_case=True)
    isl, osl = (
        fields.number(name, default) for name, default in zip(("isl", "osl"), DEFAULT_LENGTHS, strict=True)
    )
    return fields.finish(ResultKind.ACCURACY, isl=isl, osl=osl)


def is_result(values: object) -> bool:
    """Return whether a JSON value is meant as a result; tools upload other files along with results."""
    return isinstance(values, dict) and any(name in values for name in REQUIRED)


def find_metrics(values: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return the measured numbers of a result, sorted by name. Raises RowFaultError if there are too many."""
    metrics = sorted(
        (key, value)
        for key, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and key not in FIELDS
    )
    if len(metrics) > MAX_METRICS:
        raise RowFaultError([f"it has {len(metrics)} numbers, more than the limit of {MAX_METRICS}"])
    return tuple(metrics)


class _FieldReader:
    """Reads fields of one result and keeps a clause for each that is unreadable."""

    def __init__(self, values: Mapping[str, Any], *, ignore_case: bool = False) -> None:
        self.values = values
        self.ignore_case = ignore_case
        self.faults: list[str] = []

    def number(self, name: str, default: int | None = None) -> int | None:
        return self._read(name, parse_number, "a whole number", default)

    def flag(self, name: str) -> bool:
        return self._read(name, _parse_flag, "true or false", False) is True

    def text(self, name: str, default: str | None = None) -> str | None:
        text = self._read(name, _parse_text, f"text of at most {MAX_TEXT} characters", default)
        return text.lower() if text is not None and self.ignore_case else text

    def finish(self, kind: ResultKind, **workload: Scalar) -> ResultIdentity:
        """Return the identity. Raises RowFaultError if a field is unreadable."""
        fields: dict[str, Scalar] = {name: self.text(name) for name in _NAMES}
        fields |= {
            "spec_decoding": self.text("spec_decoding", SpecDecoding.NONE.value),
            "disagg": self.flag("disagg"),
            **workload,
            **self._read_layout(),
            "conc": self.number("conc"),
            "recipe_fingerprint": self.text("recipe_fingerprint"),
        }
        if self.faults:
            raise RowFaultError(self.faults)
        return ResultIdentity(kind=kind, fields=tuple(fields.items()))

    def _read_layout(self) -> dict[str, Scalar]:
        """Return the fields of one engine, or those of both roles of a multi-node deployment."""
        if self.values.get("is_multinode") not in (None, ""):
            is_multinode = self.flag("is_multinode")
        else:
            is_multinode = self.values.get("tp") is None and self.values.get("prefill_tp") is not None
        if not is_multinode:
            return self._read_engine("")
        workers: dict[str, Scalar] = {
            f"{role}_num_workers": self.number(f"{role}_num_workers") for role in ROLES
        }
        return workers | {
            key: value for role in ROLES for key, value in self._read_engine(f"{role}_").items()
        }

    def _read_engine(self, prefix: str) -> dict[str, Scalar]:
        sizes: dict[str, Scalar] = {prefix + name: self.number(prefix + name) for name in ("tp", "ep")}
        sizes |= {prefix + name: self.number(prefix + name, 1) for name in SIZES}
        return {**sizes, f"{prefix}dp_attention": self.flag(f"{prefix}dp_attention")}

    def _read(
        self, name: str, parse: Callable[[object], _T | None], expected: str, default: _T | None
    ) -> _T | None:
        value = self.values.get(name)
        if value is None or value == "":
            return default
        parsed = parse(value)
        if parsed is None:
            self.faults.append(f"{name} is {show_value(value)}, expected {expected}")
        return parsed


def _is_agentic(values: Mapping[str, Any]) -> bool:
    lengths = [values.get(name) for name in ("isl", "osl")]
    return values.get("scenario_type") == ScenarioType.AGENTIC or lengths == [0, 0]


def _read_offload(fields: _FieldReader) -> tuple[str, str | None]:
    """Return the mode and the backend of KV offloading; older results have `offloading` only."""
    none = KvOffloading.NONE.value
    if "kv_offloading" not in fields.values:
        return fields.text("offloading") or none, None
    mode = fields.text("kv_offloading") or none
    backend = fields.values.get("kv_offload_backend")
    return mode, None if mode == none or not backend else show_value(backend)


def parse_number(value: object) -> int | None:
    """Return a whole number that may be written as text, or None for another value."""
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value.strip()) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _parse_flag(value: object) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _parse_text(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and len(value) <= MAX_TEXT else None
