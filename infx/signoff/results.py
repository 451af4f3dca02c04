"""Parse a run's collected results for the checks. The JSON is untrusted, so every value is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from infx.bench.names import AGENTIC
from infx.results.artifact import JsonFaultError, ReadArtifact, read_json
from infx.results.row import RowFaultError, is_finite, parse_row
from infx.signoff.facts import EvalScore, MeasuredPoint

_T = TypeVar("_T")

MAX_ROWS = 20_000
# Fields of an accuracy result that identify what was measured, as in `infx.results.identity`.
IDENTITY_FIELDS = ("image", "model", "infmax_model_prefix", "hw", "framework", "precision", "spec_decoding")


class ResultsFaultError(ValueError):
    """Raised when an artifact cannot be used; its message is a sentence."""


def parse_scores(artifact: ReadArtifact) -> tuple[EvalScore, ...]:
    """Parse the rows of `agg_eval_all.json`. Raises ResultsFaultError for malformed data."""
    return _parse(artifact, _parse_score)


def parse_points(artifact: ReadArtifact, agentic_latency: str) -> tuple[MeasuredPoint, ...]:
    """Parse the rows of `agg_bmk.json`. Raises ResultsFaultError for malformed data.

    agentic_latency: the field with the latency of an AgentX point in seconds.
    """
    return _parse(artifact, lambda values: _parse_point(values, agentic_latency))


def _parse(artifact: ReadArtifact, make: Callable[[Mapping[str, Any]], _T]) -> tuple[_T, ...]:
    if artifact.fault:
        raise ResultsFaultError(f"The artifact {artifact.name} cannot be used: {artifact.fault}.")
    if len(artifact.files) != 1:
        raise ResultsFaultError(
            f"The artifact {artifact.name} has {len(artifact.files)} JSON files, not one."
        )
    file = artifact.files[0]
    try:
        rows = read_json(file)
    except JsonFaultError as error:
        raise ResultsFaultError(f"{artifact.name}/{file.path}: {error}.") from None
    if not isinstance(rows, list) or len(rows) > MAX_ROWS:
        raise ResultsFaultError(f"{artifact.name}/{file.path} is not a list of at most {MAX_ROWS:,} rows.")
    parsed = []
    for number, row in enumerate(rows):
        try:
            if not isinstance(row, dict):
                raise TypeError("it is not a mapping")
            parsed.append(make(row))
        except (TypeError, RowFaultError) as error:
            raise ResultsFaultError(f"{artifact.name}/{file.path}, row {number}: {error}.") from None
    return tuple(parsed)


def _parse_score(values: Mapping[str, Any]) -> EvalScore:
    score = values.get("score")
    return EvalScore(
        task=_field(values, "task", str),
        value=None if score is None else _number(score, "score"),
        samples=_optional(values, "n_eff", int),
        original=_optional(values, "n_original", int),
        is_sound=_field(values, "infrastructure_success", bool),
        row_id=_optional(values, "row_id", str),
        conc=_optional(values, "conc", int),
        identity={
            name: value for name in IDENTITY_FIELDS if (value := _optional(values, name, str)) is not None
        },
    )


def _parse_point(values: Mapping[str, Any], agentic_latency: str) -> MeasuredPoint:
    row = parse_row(values)
    mark = values.get("isOnNormalizedInteractivityFrontier")
    return MeasuredPoint(
        curve=row.curve,
        conc=row.conc,
        latency=row.metrics.get(agentic_latency if row.scenario == AGENTIC else "median_e2el"),
        throughput=row.metrics.get("tput_per_gpu"),
        on_canonical_frontier=mark if isinstance(mark, bool) else None,
    )


def _field(values: Mapping[str, Any], name: str, kind: type[_T]) -> _T:
    value = values.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{name} is {type(value).__name__}, expected {kind.__name__}")
    return value


def _optional(values: Mapping[str, Any], name: str, kind: type[_T]) -> _T | None:
    return None if values.get(name) is None else _field(values, name, kind)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not is_finite(value):
        raise TypeError(f"{name} is not a finite number")
    return float(value)
