#!/usr/bin/env python3
"""An engine without a GPU: it answers like an OpenAI-compatible server, with made-up words in measured time.

The speed is a formula of the options, so a benchmark of this engine has the shape of a real benchmark: see `speed.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from completions import PATHS, Completer, CompletionOptions
from faults import Faults, render_kinds
from loop import Loop
from serve import exit_on_signals, listen, serve
from sessions import CACHE_TOKENS, Sessions, render_metrics
from speed import Speed
from wire import HttpConnection, HttpRequest, render_answer, render_error, render_json
from workers import start_workers, stop_workers

_IGNORED = (  # options of real engines that change nothing here
    "--gpu-memory-utilization", "--kv-cache-dtype", "--kv-transfer-config", "--kv-offloading-backend", "--kv-offloading-size",
    "--max-num-batched-tokens", "--block-size", "--dtype", "--quantization", "--max-cudagraph-capture-size",
)  # fmt: skip


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("model", help="name of the model")
    add = parser.add_argument
    add("--host", default="127.0.0.1")
    add("--port", type=int, default=8000)
    add("--served-model-name", help="another name of the model, for requests")
    add("--tensor-parallel-size", "-tp", type=int, default=1)
    add("--pipeline-parallel-size", "-pp", type=int, default=1)
    add("--data-parallel-size", "-dp", type=int, default=1)
    add("--enable-expert-parallel", action="store_true")
    add("--max-num-seqs", type=int, default=256, help="sessions that are active at the same time")
    add("--max-model-len", type=int, default=262_144, help="tokens of a prompt and its answer")
    add("--speculative-config", type=json.loads, default={}, help="JSON, as vLLM takes it")
    add("--stream-interval", type=int, default=1, help="tokens of one event of a stream")
    add("--prefill-speed", type=float, default=20_000, help="tokens per second that one GPU reads")
    add(
        "--decode-speed",
        type=float,
        default=100,
        help="tokens per second that one GPU writes for one session",
    )
    add("--capacity", type=float, default=8, help="sessions per GPU at which a token takes twice as long")
    add("--time-scale", type=float, default=1, help="how much faster the clock of the engine runs")
    add("--load-seconds", type=float, default=0, help="seconds until /health answers 200")
    add("--accuracy", type=float, default=0.97, help="share of questions with a right answer")
    add("--workers", type=int, default=0, help="number of worker processes")
    add("--fail", action="append", default=[], metavar="KIND[=N]", help=render_kinds())
    for name in _IGNORED:
        add(name, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def make_speed(options: argparse.Namespace) -> Speed:
    """Return the speed of an engine with these options."""
    drafts = options.speculative_config
    drafted = int(drafts.get("num_speculative_tokens", 0))
    return Speed(
        prefill=options.prefill_speed,
        decode=options.decode_speed,
        capacity=options.capacity,
        tensor=options.tensor_parallel_size,
        pipeline=options.pipeline_parallel_size,
        data=options.data_parallel_size,
        has_experts=options.enable_expert_parallel,
        drafted=drafted,
        accepted=float(drafts.get("synthetic_acceptance_length", 1 + drafted / 2)),
        scale=options.time_scale,
    )


class EngineServer:
    """The server: whether it is ready, and its answers."""

    def __init__(self, loop: Loop, options: argparse.Namespace, faults: Faults) -> None:
        self._model = options.served_model_name or options.model
        self._length = options.max_model_len
        self._faults = faults
        self._ready_at = time.monotonic() + options.load_seconds
        self._sessions = Sessions(loop, make_speed(options), options.max_num_seqs)
        shared = CompletionOptions(self._model, self._length, options.stream_interval, options.accuracy)
        self._completer = Completer(shared, self._sessions, faults)

    async def handle(self, request: HttpRequest, connection: HttpConnection) -> None:
        """Answer a request."""
        if request.path in PATHS and request.method == "POST":
            if self._is_ready():
                await self._completer.answer(request.path, request.body, connection)
                return
            await connection.send(render_error(503, "The model is loading."))
            return
        await connection.send(self._render(request))

    def _is_ready(self) -> bool:
        return time.monotonic() >= self._ready_at and not self._faults.has("never-ready")

    def _render(self, request: HttpRequest) -> bytes:
        if request.path in PATHS or request.method != "GET":
            return render_error(405, request.method + " is not allowed here.")
        if request.path == "/health":
            return render_answer(200 if self._is_ready() else 503, b"", "text/plain")
        if request.path == "/v1/models":
            model = {"id": self._model, "object": "model", "owned_by": "demo", "max_model_len": self._length}
            return render_json(200, {"object": "list", "data": [{**model, "created": int(time.time())}]})
        if request.path == "/metrics":
            text = render_metrics(self._sessions.list_metrics(), self._model)
            return render_answer(200, text.encode(), "text/plain; version=0.0.4")
        return render_error(404, request.path + " is not a page of this server.")


def main(arguments: list[str]) -> int:
    """Run the engine until a signal ends it."""
    options = parse_arguments(arguments)
    workers: list[int] = []
    try:
        faults = Faults(options.fail, workers)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if faults.has("die-at-start"):
        print("RuntimeError: Engine core initialization failed.", file=sys.stderr)
        return 1
    outlive = faults.has("workers-outlive")
    workers += start_workers(options.workers, outlive)
    try:
        exit_on_signals(ignores_term=faults.has("ignore-term"))
        loop = Loop()
        engine = EngineServer(loop, options, faults)
        listener = listen(options.host, 0 if faults.has("wrong-port") else options.port)
        tokens = format(CACHE_TOKENS * make_speed(options).gpus, ",")
        print("(EngineCore) GPU KV cache size:", tokens, "tokens", file=sys.stderr)
        print("Listening on port", listener.getsockname()[1], file=sys.stderr, flush=True)
        return loop.run(lambda: serve(loop, listener, engine.handle))
    except OSError as error:
        print(f"The engine cannot listen on port {options.port}: {error.strerror}", file=sys.stderr)
        return 1
    finally:
        stop_workers(workers, outlive)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
