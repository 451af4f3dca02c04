"""Start the demo's engine, router and client, and ask servers over plain HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

BENCHMARKS = ROOT / "infx/demo/data/benchmarks"
MODEL = "acme/m1"
LISTENS = "Listening on port "
SECONDS = 60.0  # for an answer or an end, on a machine that is very busy


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server that listens."""

    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, body: Any = None, *, method: str = "") -> tuple[int, str]:
        """Return the status and the text of an answer. body: JSON, or bytes as they are."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body)
            connection.request(method or ("GET" if body is None else "POST"), path, data)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def generate(self, *, path: str = "/v1/completions", **fields: Any) -> dict[str, Any]:
        """Return the answer to a prompt, at once."""
        status, text = self.ask(path, {"model": MODEL, **fields})
        assert status == 200, text
        answer: dict[str, Any] = json.loads(text)
        return answer

    def stream(self, *, path: str = "/v1/completions", **fields: Any) -> list[dict[str, Any]]:
        """Return the events of an answer without the last, which must be `[DONE]`."""
        body = {
            "model": MODEL,
            "stream": True,
            "stream_options": {"include_usage": True},
            "ignore_eos": True,
            **fields,
        }
        status, text = self.ask(path, body)
        assert status == 200, text
        *events, done, rest = text.split("\n\n")
        assert (done, rest) == ("data: [DONE]", "")
        return [json.loads(event.removeprefix("data: ")) for event in events]

    def read_metrics(self) -> dict[str, float]:
        """Return the metrics by name, with the label `engine` of a router."""
        status, text = self.ask("/metrics")
        assert status == 200
        lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return {name.replace(f'model_name="{MODEL}"', ""): float(value) for name, _, value in lines}


@contextmanager
def start(program: str, *arguments: str, python: str = sys.executable) -> Iterator[Server]:
    """Start a server on a free port, wait until it listens, and end it."""
    command = [python, "-S", str(BENCHMARKS / program), *arguments, "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if line.startswith(LISTENS):
                break
        else:
            raise AssertionError(f"{program} does not listen: {''.join(lines)}")
        yield Server(process=process, port=int(lines[-1].removeprefix(LISTENS)))
    finally:
        process.terminate()
        try:
            process.wait(SECONDS)
        finally:
            process.kill()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


def start_engine(*arguments: str, scale: float = 1000, python: str = sys.executable) -> Any:
    """Start an engine that is quick enough for tests."""
    return start("engine.py", MODEL, "--time-scale", str(scale), *arguments, python=python)


def run_client(
    server: Server | str, folder: Path, *arguments: str, python: str = sys.executable, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the client to its end."""
    url = server if isinstance(server, str) else server.url
    return subprocess.run(
        [python, "-S", str(BENCHMARKS / "client.py"), *arguments],
        cwd=folder,
        env={**os.environ, "MODEL": MODEL, "BASE_URL": url, "RESULT_FILENAME": "r", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def is_cut_off(server: Server, body: dict[str, Any]) -> bool:
    """Return whether an answer ends before its end."""
    try:
        server.ask("/v1/completions", body)
    except (HTTPException, OSError):
        return True
    return False
