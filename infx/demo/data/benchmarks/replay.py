"""Replay sessions whose prompts grow with every turn, and write what AIPerf writes for AgentX."""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
import time
from typing import Any, NamedTuple

from answers import WORDS
from loop import Loop, sleep_until
from measure import RequestSample, Target, describe, send, send_all
from wire import WireError, connect, read_body, read_status, render_request

MAX_FAILURE_RATE = 0.1
_FIRST_WORDS, _TURN_WORDS, _ANSWER_WORDS = 512, 128, 96
_SCRAPE_SECONDS = 0.1


class Turn(NamedTuple):
    """A measured request of a session."""

    session: int
    number: int
    phase: str
    sample: RequestSample


class EngineClock:
    """Converts times of `time.monotonic` to nanoseconds since 1970, as long as in the engine's time.

    Attributes:
        scale: how much faster the clock of the engine runs.
    """

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self._origin, self._epoch = time.monotonic(), time.time()

    def convert(self, moment: float) -> int:
        return int((self._epoch + (moment - self._origin) * self.scale) * 10**9)


async def run_replay(loop: Loop, target: Target, options: argparse.Namespace) -> int:
    """Replay all sessions, and write the client's folder. Returns 1 if too many requests failed."""
    conc = options.concurrencies[0]
    clock = EngineClock(options.time_scale)
    turns: list[Turn] = []
    for index in range(options.num_warmups):
        await _replay_session(target, options, -1 - index, 1, turns)
    server = ServerMetrics(target)
    await server.scrape()
    loop.spawn(server.watch())
    number = options.sessions or max(conc, 4)
    jobs = [
        functools.partial(_replay_session, target, options, session, options.turns, turns)
        for session in range(number)
    ]
    await send_all(loop, iter(jobs), conc)
    await server.scrape()
    folder = os.path.join(options.result_dir, "aiperf_artifacts")
    os.makedirs(folder, exist_ok=True)
    measured = [turn.sample for turn in turns if turn.phase == "profiling"]
    with open(os.path.join(folder, "profile_export.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(make_record(turn, clock)) + "\n" for turn in turns)
    _write(folder, "profile_export_aiperf.json", make_summary(measured, clock, options))
    if server.metrics:
        _write(folder, "server_metrics_export.json", {"metrics": server.render()})
    errors = [sample.error for sample in measured if sample.error]
    print(f"Failed: {len(errors)} of {len(measured)}. Wrote {folder}.", file=sys.stderr)
    for error in sorted(set(errors))[:5]:
        print("  " + error, file=sys.stderr)
    return int(not measured or len(errors) > MAX_FAILURE_RATE * len(measured))


async def _replay_session(
    target: Target, options: argparse.Namespace, session: int, number: int, turns: list[Turn]
) -> None:
    """Send the turns of a session one after another; each prompt repeats everything before it."""
    messages: list[dict[str, str]] = []
    for turn in range(number):
        words = _TURN_WORDS if turn else _FIRST_WORDS
        start = (session * 31 + turn * 17) % len(WORDS)
        text = " ".join(["session", str(session), str(turn), *(WORDS * 3)[start : start + words]])
        messages.append({"role": "user", "content": text})
        body = {
            "model": options.model,
            "messages": messages,
            "max_tokens": _ANSWER_WORDS,
            "ignore_eos": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        sample = await send(target, body)
        turns.append(Turn(session, turn, "profiling" if session >= 0 else "warmup", sample))
        if sample.error:
            return
        messages.append({"role": "assistant", "content": sample.text})


def make_record(turn: Turn, clock: EngineClock) -> dict[str, Any]:
    """Return the record of a request."""
    sample = turn.sample
    scale = 1000 * clock.scale
    values = {
        "input_sequence_length": (sample.inputs, "tokens"),
        "output_sequence_length": (sample.outputs, "tokens"),
        "time_to_first_token": ((sample.first - sample.start) * scale, "ms"),
        "request_latency": ((sample.end - sample.start) * scale, "ms"),
        "inter_token_latency": (sample.token_seconds * scale, "ms"),
    }
    name = "session-" + str(turn.session)
    return {
        "metadata": {
            "session_num": turn.session,
            "x_request_id": name + "-" + str(turn.number),
            "conversation_id": name,
            "turn_index": turn.number,
            "benchmark_phase": turn.phase,
            "request_start_ns": clock.convert(sample.start),
            "request_end_ns": clock.convert(sample.end),
        },
        "metrics": {}
        if sample.error
        else {key: {"value": value, "unit": unit} for key, (value, unit) in values.items()},
        "error": {"type": sample.error.split(":")[0], "message": sample.error} if sample.error else None,
    }


def make_summary(
    samples: list[RequestSample], clock: EngineClock, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the totals of a replay."""
    good = [sample for sample in samples if not sample.error]
    counts = {"request_count": len(good), "error_request_count": len(samples) - len(good)}
    moments = [sample.start for sample in samples] + [sample.end for sample in samples]
    latencies = [(sample.end - sample.start) * 1000 * clock.scale for sample in good]
    statistics = describe(latencies, options.percentiles)
    statistics["avg"] = statistics.pop("mean")
    return {
        "start_time": _render_time(clock.convert(min(moments))) if moments else None,
        "end_time": _render_time(clock.convert(max(moments))) if moments else None,
        "was_cancelled": False,
        "error_summary": [],
        "metadata": {"dataset": {"name": "made-up sessions", "sessions": options.sessions or None}},
        **{name: {"unit": "requests", "avg": float(count)} for name, count in counts.items()},
        "request_latency": {"unit": "ms", **statistics},
    }


def _render_time(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 1000:06d}+00:00"


class ServerMetrics:
    """The metrics of the server during a replay.

    Attributes:
        metrics: name and labels → type, first, last and largest value.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self.metrics: dict[tuple[str, str], list[Any]] = {}

    async def watch(self) -> None:
        while True:
            await sleep_until(time.monotonic() + _SCRAPE_SECONDS)
            await self.scrape()

    async def scrape(self) -> None:
        """Read the metrics once. A server that has none, or does not answer, changes nothing."""
        target = self._target
        try:
            connection = await connect(target.host, target.port, time.monotonic() + target.timeout)
            try:
                await connection.send(render_request("GET", "/metrics", target.host))
                status, headers = await read_status(connection)
                text = await read_body(connection, headers)
            finally:
                connection.close()
        except (OSError, WireError):
            return
        if status == 200:
            self._add(text.decode("utf-8", "replace"))

    def _add(self, text: str) -> None:
        kinds = {}
        for line in text.splitlines():
            words = line.split(" ")
            if line.startswith("# TYPE ") and len(words) == 4:
                kinds[words[2]] = words[3]
            elif line and line[0] != "#":
                place, _, number = line.rpartition(" ")
                name, _, labels = place.partition("{")
                value = float(number)
                entry = self.metrics.setdefault(
                    (name, labels.rstrip("}")), [kinds.get(name), value, value, value]
                )
                entry[2:] = [value, max(entry[3], value)]

    def render(self) -> dict[str, Any]:
        """Return the metrics in the form of AIPerf's export: counters have totals, and gauges their largest value."""
        metrics: dict[str, Any] = {}
        for (name, labels), (kind, first, last, largest) in self.metrics.items():
            if not name.startswith("vllm:"):
                continue  # those of the router
            is_counter = kind == "counter"
            metric = metrics.setdefault(
                name[: -len("_total")] if is_counter else name, {"type": kind, "series": []}
            )
            stats = {"total": last - first} if is_counter else {"max": largest}
            metric["series"].append({"labels": _parse_labels(labels), "stats": stats})
        return metrics


def _parse_labels(text: str) -> dict[str, str]:
    pairs = [item.partition("=") for item in text.split(",") if "=" in item]
    return {name: value.strip('"') for name, _, value in pairs}


def _write(folder: str, name: str, value: Any) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
