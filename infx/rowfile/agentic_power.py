"""Energy and power of an AgentX replay: the window is the client's, the tokens are those of the good records."""

from __future__ import annotations

import os
import re
from datetime import datetime, timedelta, timezone
from typing import Any, Mapping

from .agentic import SUMMARY, ReplayFiles
from .agentic_records import Replay
from .power import Benchmark, PowerReport, report_missing
from .power_source import find_benchmark_power

OFFSET_FILE = "agentic_power_timezone_offset.txt"  # of the clock of times that name no offset
_OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})")
_FRACTION = re.compile(r"\.([0-9]+)")
_DAY = 24 * 60  # minutes


def find_replay_power(
    environment: Mapping[str, str], files: ReplayFiles, results: str, is_multinode: bool, gpus: int
) -> PowerReport:
    """Return the power of a replay, or the reasons why it is not known."""
    benchmark, reasons = read_replay_benchmark(files, results)
    if not reasons:
        return find_benchmark_power(environment, benchmark, is_multinode, gpus)
    report = report_missing(benchmark, reasons[0], gpus)
    return report._replace(reasons=reasons, sidecar={**report.sidecar, "reasons": reasons})


def read_replay_benchmark(files: ReplayFiles, results: str) -> tuple[Benchmark, list[str]]:
    """Return the window, the requests and the tokens of a replay, and the reasons why they are not known."""
    window, reason = _read_window(files, results)
    reasons = [reason] if reason else []
    if not files.replay.good:
        reasons.append("successful_request_count_invalid")
    tokens = _count_tokens(files.replay)
    if files.replay.good and tokens is None:
        reasons.append("incomplete_token_accounting")
    start, end = window or (None, None)
    benchmark = Benchmark(
        name=SUMMARY,
        start=start,
        end=end,
        duration=None if start is None or end is None else end - start,
        completed=len(files.replay.good),
        input_tokens=tokens[0] if tokens else None,
        output_tokens=tokens[1] if tokens else None,
    )
    return benchmark, reasons


def _count_tokens(replay: Replay) -> tuple[int, int] | None:
    """Return the tokens in and out of all good records; None if a record does not have both."""
    pairs = [
        (record.input_tokens, record.output_tokens)
        for record in replay.good
        if record.input_tokens is not None and record.output_tokens is not None
    ]
    if len(pairs) != len(replay.good):
        return None
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def _read_window(files: ReplayFiles, results: str) -> tuple[tuple[float, float] | None, str]:
    """Return start and end in seconds since 1970, or the reason why they are not known."""
    if not files.summary:
        exists = os.path.exists(os.path.join(files.folder, SUMMARY))
        return None, "profile_artifacts_invalid" if exists else "profile_artifacts_missing"
    texts = [files.summary.get(name) for name in ("start_time", "end_time")]
    if any(text in (None, "") for text in texts):
        return None, "profile_window_missing"
    moments = [_parse_time(text) for text in texts]
    if None in moments:
        return None, "profile_window_invalid"
    known = [moment for moment in moments if moment is not None]
    if any(moment.tzinfo is None for moment in known):
        offset, reason = _read_offset(results)
        if offset is None:
            return None, reason
        known = [moment if moment.tzinfo else moment.replace(tzinfo=offset) for moment in known]
    start, end = (moment.timestamp() for moment in known)
    return ((start, end), "") if end > start else (None, "profile_window_invalid")


def _parse_time(text: Any) -> datetime | None:
    """Return an ISO time, with or without an offset."""
    if not isinstance(text, str):
        return None
    text = text.strip()
    if text.endswith(("Z", "z")):
        text = text[:-1] + "+00:00"
    # Python 3.8 reads only fractions of three or six digits.
    text = _FRACTION.sub(lambda match: "." + match[1][:6].ljust(6, "0"), text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _read_offset(results: str) -> tuple[timezone | None, str]:
    """Return the offset of the client's clock, as `date +%z` prints it, or the reason why it is not known."""
    try:
        with open(os.path.join(results, OFFSET_FILE), encoding="utf-8") as file:
            match = _OFFSET.fullmatch(file.read().strip())
    except OSError:
        return None, "profile_timezone_offset_missing"
    except UnicodeDecodeError:
        match = None
    minutes = int(match[2]) * 60 + int(match[3]) if match else _DAY
    if match is None or minutes >= _DAY:
        return None, "profile_timezone_offset_invalid"
    return timezone(timedelta(minutes=minutes if match[1] == "+" else -minutes)), ""
