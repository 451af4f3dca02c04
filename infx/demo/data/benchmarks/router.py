#!/usr/bin/env python3
"""A router in front of engines: requests go to the engines in turn, and answers pass through as they come.

With separate roles, a request first goes to a prefill engine, which answers with one token, and then to a decode engine.
The router lives on when an engine dies.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from typing import NamedTuple

from loop import Loop
from serve import exit_on_signals, listen, serve
from wire import (
    STREAM_END,
    STREAM_HEAD,
    HttpConnection,
    HttpRequest,
    WireError,
    connect,
    read_body,
    read_parts,
    read_status,
    render_answer,
    render_error,
    render_part,
    render_request,
)  # fmt: skip

_CHECK_SECONDS = 5.0  # for an answer of an engine to a question about its health
_GENERATES = ("/v1/completions", "/v1/chat/completions")


class EngineAddress(NamedTuple):
    """The address of an engine."""

    host: str
    port: int


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    add = parser.add_argument
    add("--host", default="127.0.0.1")
    add("--port", type=int, default=8080)
    add(
        "--engine",
        type=parse_engine,
        action="append",
        default=[],
        metavar="URL",
        help="an engine for everything",
    )
    add("--prefill", type=parse_engine, action="append", default=[], metavar="URL", help="a prefill engine")
    add("--decode", type=parse_engine, action="append", default=[], metavar="URL", help="a decode engine")
    add("--health", choices=("engines", "own"), default="engines", help="what /health answers for")
    options = parser.parse_args(arguments)
    if bool(options.prefill) != bool(options.decode) or bool(options.engine) == bool(options.decode):
        parser.error("name engines by --engine, or by both --prefill and --decode")
    return options


def parse_engine(text: str) -> EngineAddress:
    """Return the address in a URL, or in host:port. Raises ValueError for another form."""
    host, _, port = text.replace("http://", "", 1).split("/")[0].rpartition(":")
    return EngineAddress(host or "127.0.0.1", int(port))


class Router:
    """Passes requests to engines."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._prefill = itertools.cycle(options.prefill) if options.prefill else None
        self._decode = itertools.cycle(options.decode or options.engine)
        self._engines: list[EngineAddress] = options.engine or [*options.prefill, *options.decode]
        self._asks_engines = options.health == "engines"
        self._requests = self._failures = 0

    async def handle(self, request: HttpRequest, connection: HttpConnection) -> None:
        """Answer a request."""
        if request.path == "/health":
            sick = await self._find_sick() if self._asks_engines else []
            await connection.send(render_answer(503 if sick else 200, "\n".join(sick).encode(), "text/plain"))
            return
        if request.path == "/metrics":
            await connection.send(render_answer(200, await self._join_metrics(), "text/plain; version=0.0.4"))
            return
        self._requests += 1
        if self._prefill is not None and request.path in _GENERATES:
            try:
                request = await self._prefill_first(request, next(self._prefill))
            except (OSError, WireError, ValueError) as error:
                self._failures += 1
                await connection.send(render_error(502, "The prefill engine failed: " + str(error)))
                return
        await self._pass_on(request, next(self._decode), connection)

    async def _prefill_first(self, request: HttpRequest, engine: EngineAddress) -> HttpRequest:
        """Let a prefill engine read the prompt, and return the request for the decode engine."""
        body = json.loads(request.body)
        if not isinstance(body, dict):
            raise ValueError("the body must be a JSON object")
        first = {**body, "stream": False, "max_tokens": 1, "kv_transfer_params": {"do_remote_decode": True}}
        for name in ("stream_options", "min_tokens", "max_completion_tokens"):
            first.pop(name, None)
        status, answer = await _ask(engine, "POST", request.path, json.dumps(first).encode())
        if status != 200:
            raise ValueError("it answered with the status " + str(status))
        body["kv_transfer_params"] = json.loads(answer).get("kv_transfer_params")
        return request._replace(body=json.dumps(body).encode())

    async def _pass_on(self, request: HttpRequest, engine: EngineAddress, connection: HttpConnection) -> None:
        """Send a request to an engine, and its answer back as it comes."""
        has_begun = False
        try:
            upstream = await connect(engine.host, engine.port)
            try:
                await upstream.send(render_request(request.method, request.path, engine.host, request.body))
                status, headers = await read_status(upstream)
                is_stream = headers.get("transfer-encoding", "").lower() == "chunked"
                if not is_stream:
                    kind = headers.get("content-type", "application/json")
                    body = await read_body(upstream, headers)
                    has_begun = True
                    await connection.send(render_answer(status, body, kind))
                    return
                has_begun = True
                await _copy_stream(upstream, headers, connection)
            finally:
                upstream.close()
        except (OSError, WireError) as error:
            self._failures += 1
            if has_begun:
                raise OSError("the answer was cut off") from None  # so the client's connection is cut off too
            await connection.send(render_error(502, "The engine does not answer: " + str(error)))

    async def _find_sick(self) -> list[str]:
        """Return a line for each engine that is not healthy."""
        sick = []
        for engine in self._engines:
            try:
                status, _ = await _ask(engine, "GET", "/health", b"")
            except (OSError, WireError) as error:
                sick.append("{}:{}: {}".format(*engine, error))
                continue
            if status != 200:
                sick.append("{}:{}: status {}".format(*engine, status))
        return sick

    async def _join_metrics(self) -> bytes:
        """Return the metrics of all engines, each with a label for its engine, and those of the router."""
        lines = [
            "# TYPE router_requests_total counter",
            "router_requests_total " + str(self._requests),
            "# TYPE router_failures_total counter",
            "router_failures_total " + str(self._failures),
        ]
        for number, engine in enumerate(self._engines):
            try:
                _, body = await _ask(engine, "GET", "/metrics", b"")
            except (OSError, WireError):
                continue
            label = '{engine="' + str(number) + '",'
            lines += [
                line.replace("{", label, 1)
                for line in body.decode().splitlines()
                if number == 0 or line[:1] != "#"
            ]
        return ("\n".join(lines) + "\n").encode()


async def _copy_stream(upstream: HttpConnection, headers: dict[str, str], connection: HttpConnection) -> None:
    await connection.send(STREAM_HEAD)
    async for part in read_parts(upstream, headers):
        await connection.send(render_part(part))
    await connection.send(STREAM_END)


async def _ask(engine: EngineAddress, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    """Return status and body of an engine's answer. Raises OSError or WireError without one."""
    deadline = time.monotonic() + _CHECK_SECONDS if method == "GET" else None
    upstream = await connect(engine.host, engine.port, deadline)
    try:
        await upstream.send(render_request(method, path, engine.host, body))
        status, headers = await read_status(upstream)
        return status, await read_body(upstream, headers)
    finally:
        upstream.close()


def main(arguments: list[str]) -> int:
    """Run the router until a signal ends it."""
    options = parse_arguments(arguments)
    exit_on_signals()
    loop = Loop()
    router = Router(options)
    try:
        listener = listen(options.host, options.port)
    except OSError as error:
        print(f"The router cannot listen on port {options.port}: {error.strerror}", file=sys.stderr)
        return 1
    print("Listening on port", listener.getsockname()[1], file=sys.stderr, flush=True)
    return loop.run(lambda: serve(loop, listener, router.handle))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
