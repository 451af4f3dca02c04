"""The records of an AgentX replay: one line of `profile_export.jsonl` for each request, and which of them count."""

from __future__ import annotations

import json
from typing import Any, Iterable

from .agentic_statistics import read_count
from .faults import FaultsError, RowFault
from .values import parse_finite

MEASURED = "profiling"  # the phase that counts; requests before it warm the server up
MAX_CATEGORY = 120  # characters of an error's category
_CATEGORY_FIELDS = ("type", "error_type", "code", "class", "status")


class GoodRecord:
    """A measured request that was answered.

    Attributes:
        ttft, e2el, itl, full_itl: seconds, more than 0; None if the record has no such time.
        input_tokens, output_tokens: lengths; None if unknown.
        output_length: the output length as a number for one request's speed, more than 0; None if unknown.
        start, end: nanoseconds on the client's clock; None if unknown. A float would lose some of them.
        conversation, turn: the request's place in the replayed trace.
    """

    __slots__ = (
        "conversation", "e2el", "end", "full_itl", "input_tokens", "itl", "output_length", "output_tokens", "start",
        "ttft", "turn",
    )  # fmt: skip

    def __init__(self, metadata: dict[str, Any], metrics: dict[str, Any]) -> None:
        self.ttft = _read_time(metrics, "time_to_first_token")
        self.e2el = _read_time(metrics, "request_latency")
        self.itl = _read_time(metrics, "inter_token_latency")
        self.full_itl = _read_time(metrics, "full_response_inter_token_latency")
        self.input_tokens = read_count(_value(metrics, "input_sequence_length"))
        self.output_tokens = read_count(_value(metrics, "output_sequence_length"))
        self.output_length = _read_positive(_value(metrics, "output_sequence_length"))
        self.start = read_count(metadata.get("request_start_ns"))
        self.end = read_count(metadata.get("request_end_ns"))
        self.conversation = str(metadata.get("conversation_id") or "").partition("::")[0]
        self.turn = read_count(metadata.get("turn_index"))


class Replay:
    """All records of a replay.

    Attributes:
        good: the records that count.
        total: number of all records, with those of the warm-up.
        warmup: number of records of another phase than the measured one.
        failed: number of records with an error, of any phase.
        failed_measured: number of records with an error in the measured phase.
        errors: category of an error → number of records.
    """

    def __init__(self) -> None:
        self.good: list[GoodRecord] = []
        self.total = 0
        self.warmup = 0
        self.failed = 0
        self.failed_measured = 0
        self.errors: dict[str, int] = {}

    def add(self, record: dict[str, Any]) -> None:
        metadata, metrics = _mapping(record, "metadata"), _mapping(record, "metrics")
        error = record.get("error")
        is_measured = (metadata.get("benchmark_phase") or MEASURED) == MEASURED
        self.total += 1
        if not is_measured:
            self.warmup += 1
        if error:
            category = find_category(error)
            self.errors[category] = self.errors.get(category, 0) + 1
            self.failed += 1
            self.failed_measured += is_measured
        elif is_measured:
            self.good.append(GoodRecord(metadata, metrics))

    def account(self) -> dict[str, Any]:
        """Return the part of the aggregate that says which records were dropped, and why."""
        return {
            "records_total": self.total,
            "records_profiled": len(self.good),
            "records_dropped_total": self.total - len(self.good),
            "records_warmup_dropped": self.warmup,
            "records_error_dropped": self.failed,
            "error_categories": dict(sorted(self.errors.items())),
        }


def read_replay(path: str) -> Replay:
    """Read all records of a file. Raises FaultsError if it cannot be read or a line is not a record."""
    try:
        with open(path, encoding="utf-8") as lines:
            return parse_replay(lines, path)
    except OSError as error:
        message = "The records cannot be read: " + str(error.strerror) + "."
    except UnicodeDecodeError:
        message = "The records are not UTF-8."
    raise FaultsError([RowFault("records-unreadable", message, path)])


def parse_replay(lines: Iterable[str], path: str) -> Replay:
    """Return all records of these lines; empty lines are skipped. Raises FaultsError for a line that is not a record."""
    replay = Replay()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            # A replay that was cut off has lost records, so its rates would be wrong.
            message = (
                "Line " + str(number) + " is not a JSON object, so the replay is not complete. Run it again."
            )
            raise FaultsError([RowFault("record-unreadable", message, path)])
        replay.add(record)
    return replay


def find_category(error: Any) -> str:
    """Return a short name for an error, so that equal errors can be counted."""
    if isinstance(error, dict):
        for field in _CATEGORY_FIELDS:
            if error.get(field) not in (None, ""):
                return str(error[field])[:MAX_CATEGORY]
        error = error.get("message")
    if isinstance(error, str):
        return error.partition(":")[0].strip()[:MAX_CATEGORY] or "unknown"
    return "unknown"


def _mapping(record: dict[str, Any], name: str) -> dict[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _value(metrics: dict[str, Any], name: str) -> Any:
    """Return the value of a metric, which is a number or an object with value and unit."""
    metric = metrics.get(name)
    return metric.get("value") if isinstance(metric, dict) else metric


def _read_positive(value: Any) -> float | None:
    number = parse_finite(value)
    return number if number is not None and number > 0 else None


def _read_time(metrics: dict[str, Any], name: str) -> float | None:
    milliseconds = _read_positive(_value(metrics, name))
    return None if milliseconds is None else milliseconds / 1000
