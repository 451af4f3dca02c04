"""Send requests to a server at a concurrency, and measure every answer."""

from __future__ import annotations

import json
import time
from typing import Any, Callable, Iterator, NamedTuple

from loop import Loop, Signal, wait_for
from wire import WireError, connect, read_body, read_parts, read_status, render_request

_EVENT = b"\n\n"


class Target(NamedTuple):
    """Where requests go.

    Attributes:
        host, port, path: of the server.
        timeout: seconds for a whole answer.
    """

    host: str
    port: int
    path: str
    timeout: float


class RequestSample(NamedTuple):
    """A measured request. Times are those of `time.monotonic`.

    Attributes:
        first: time of the first token; 0 without one.
        gaps: seconds between events with tokens.
        inputs, outputs: tokens, as the server counted them.
        text: of the answer.
        error: why the request failed; empty if it was answered completely.
    """

    start: float
    first: float
    end: float
    gaps: tuple[float, ...]
    inputs: int
    outputs: int
    text: str
    error: str

    @property
    def token_seconds(self) -> float:
        """The seconds of each token after the first; 0 if there is none."""
        return (self.end - self.first) / (self.outputs - 1) if self.outputs > 1 else 0.0


def parse_base(url: str) -> tuple[str, int]:
    """Return host and port of a base URL. Raises ValueError for another form."""
    place = url.partition("://")[2].partition("/")[0]
    host, mark, port = place.rpartition(":")
    if not url.startswith("http://") or not mark or not host or not port.isdigit():
        raise ValueError("the base URL must have the form http://host:port, not " + url)
    return host, int(port)


async def send(target: Target, body: dict[str, Any]) -> RequestSample:
    """Send a request whose answer is a stream, and measure the answer."""
    start = time.monotonic()
    reader = _StreamReader()
    error = ""
    try:
        connection = await connect(target.host, target.port, start + target.timeout)
        try:
            data = json.dumps(body).encode()
            await connection.send(render_request("POST", target.path, target.host, data))
            status, headers = await read_status(connection)
            if status != 200:
                text = await read_body(connection, headers)
                error = "status {}: {}".format(status, text[:200].decode("utf-8", "replace"))
            else:
                async for part in read_parts(connection, headers):
                    reader.add(part)
                error = reader.find_fault()
        finally:
            connection.close()
    except (OSError, WireError, ValueError, LookupError, AttributeError) as fault:
        error = type(fault).__name__ + ": " + str(fault)
    return reader.make_sample(start, error)


class _StreamReader:
    """Reads the events of an answer, and when they came."""

    def __init__(self) -> None:
        self._rest = b""
        self._times: list[float] = []
        self._texts: list[str] = []
        self._usage: dict[str, int] = {}
        self._is_done = False

    def add(self, part: bytes) -> None:
        *events, self._rest = (self._rest + part).split(_EVENT)
        for event in events:
            data = event.partition(b"data:")[2].strip()
            if data == b"[DONE]":
                self._is_done = True
            elif data:
                self._read(json.loads(data))

    def _read(self, value: dict[str, Any]) -> None:
        self._usage = value.get("usage") or self._usage
        for choice in value.get("choices", ()):
            text = choice.get("text") or (choice.get("delta") or {}).get("content")
            if text:
                self._times.append(time.monotonic())
                self._texts.append(text)

    def find_fault(self) -> str:
        if not self._is_done:
            return "the stream ended early"
        return (
            ""
            if self._usage.get("completion_tokens") and self._times
            else "the stream had no tokens, or no usage"
        )

    def make_sample(self, start: float, error: str) -> RequestSample:
        times = self._times
        return RequestSample(
            start=start,
            first=times[0] if times else 0.0,
            end=time.monotonic() if error or not times else times[-1],
            gaps=tuple(later - earlier for earlier, later in zip(times, times[1:])),
            inputs=self._usage.get("prompt_tokens", 0),
            outputs=self._usage.get("completion_tokens", 0),
            text="".join(self._texts),
            error=error,
        )


async def send_all(loop: Loop, jobs: Iterator[Callable[[], Any]], concurrency: int) -> None:
    """Run jobs, a number of them at the same time. A job is a function without arguments that returns a coroutine."""
    done = Signal()
    running = concurrency

    async def work() -> None:
        nonlocal running
        try:
            for job in jobs:
                await job()
        finally:
            running -= 1
            if not running:
                loop.send(done)

    for _ in range(concurrency):
        loop.spawn(work())
    await wait_for(done)


def find_percentile(values: list[float], percent: float) -> float:
    """Return a percentile, linear between the closest ranks. values: sorted, at least one."""
    place = (len(values) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def describe(values: list[float], percents: list[float]) -> dict[str, float]:
    """Return mean, median, deviation and percentiles; zeros without values, as vLLM's client writes them."""
    ordered = sorted(values) or [0.0]
    mean = sum(ordered) / len(ordered)
    deviation = (sum((value - mean) ** 2 for value in ordered) / len(ordered)) ** 0.5
    return {
        "mean": mean,
        "median": find_percentile(ordered, 50),
        "std": deviation,
        **{"p" + format(percent, "g"): find_percentile(ordered, percent) for percent in percents},
    }
