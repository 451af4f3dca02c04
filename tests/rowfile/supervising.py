"""Runs of supervise.py with small servers. One process imports the packed program, and forks for each run.

A fork costs a tenth of a start, and scenes run many times.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infx.matrix.row_file import pack_supervise
from infx.rowfile.record import SUPERVISED

PATIENCE = 120.0  # seconds until a run has failed that does not end, on a loaded machine too
_LIMITS = {"CLIENT_GRACE": 0.3, "GPU_PAUSES": (0.05,), "SETTLE": 0.2}  # where a scene waits in any case
_FORKING = """\
import json, os, select, signal, sys

space = {"__name__": "supervise"}
with open(sys.argv[1], encoding="utf-8") as file:
    exec(compile(file.read(), sys.argv[1], "exec"), space)
sys.meta_path.insert(0, space["Loader"]())
from rowfile import supervise, supervise_codes, supervise_run

wake, written = os.pipe()
os.set_blocking(wake, False)
os.set_blocking(written, False)
signal.set_wakeup_fd(written)
signal.signal(signal.SIGCHLD, lambda *_: None)
numbers = {}


def run(request):
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for target, name in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, target)
        os.close(opened)
    sys.argv[1:] = request["arguments"]
    vars(supervise_codes).update(request["limits"])
    code = supervise.main()
    sys.stdout.flush()
    os._exit(code)


def answer(**values):
    os.write(1, (json.dumps(values) + "\\n").encode())


pending = b""
while True:
    readable = select.select([0, wake], [], [])[0]
    if wake in readable:
        os.read(wake, 4096)
    if 0 in readable:
        data = os.read(0, 65536)
        if not data:
            break
        *lines, pending = (pending + data).split(b"\\n")
        for request in map(json.loads, lines):
            pid = os.fork()
            if not pid:
                run(request)
            numbers[pid] = request["number"]
            answer(number=request["number"], pid=pid)
    while numbers:
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if not pid:
            break
        code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        answer(number=numbers.pop(pid), code=code, memory=usage.ru_maxrss)
"""
# A server, by its arguments: the port, a name, and words for what it does.
SERVER = """\
import _signal, _socket, os, sys, time

port, name, *words = sys.argv[1:]
values = dict(word.partition("=")[::2] for word in words)


def wait_for(path):
    ends_at = time.monotonic() + 100
    while not os.path.exists(path) and time.monotonic() < ends_at:
        time.sleep(0.005)


def write(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


print(name, "begins on", port, flush=True)
if "own-session" in values and os.fork():
    os.wait()
    os._exit(9)
if "own-session" in values:
    os.setsid()
is_blocked = "never" in values and not os.path.exists(values["never"])
if "tell" in values:  # from now on, the test may make the file of `never`
    write(values["tell"], port)
if "await" in values:
    wait_for(values["await"])
if "say" in values:
    print(values["say"], flush=True)
if "exit" in values:
    os._exit(int(values["exit"]))
if is_blocked:
    write(name + ".pid", str(os.getpid()))
    time.sleep(1000)
if "large" in values:
    os.ftruncate(1, int(values["large"]))
    os.lseek(1, 0, os.SEEK_END)
    os.write(1, b"\\nthe last words\\n")
if "deaf-worker" in values:
    _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)
if "worker" in values or "deaf-worker" in values:
    title = ["VLLM::Worker_TP0", "1000"]
    worker = os.posix_spawn("/bin/sleep", title, dict(os.environ), setsid=True)
    write("worker.pid", str(worker))
if "deaf" not in values:
    _signal.signal(_signal.SIGTERM, _signal.SIG_DFL)
server = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
server.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", int(port)))
server.listen(16)
write(name + ".pid", str(os.getpid()))
busy = int(values.get("busy", 0))
while True:
    connection = server._accept()[0]
    os.read(connection, 4096)
    os.write(connection, b"HTTP/1.1 503 Busy\\r\\n\\r\\n" if busy else b"HTTP/1.1 200 OK\\r\\n\\r\\n" + name.encode())
    os.close(connection)
    busy = max(busy - 1, 0)
"""


@dataclass(frozen=True, kw_only=True)
class Supervised:
    """The outcome of a run, with the folder where it ran."""

    folder: Path
    code: int
    out: str
    err: str
    memory: int  # bytes that the program used at most
    record: dict[str, Any]

    @property
    def error(self) -> dict[str, Any]:
        error = self.record["error"]
        assert isinstance(error, dict), self.err
        return error


class SupervisedRun:
    """A run that may not have ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.began: Future[int] = Future()  # the program's id
        self.ended: Future[dict[str, Any]] = Future()

    def wait_for(self, name: str) -> str:
        """Wait for a file of the run, and return its text."""
        path = self.folder / name
        ends_at = time.monotonic() + PATIENCE
        while not path.exists():
            assert time.monotonic() < ends_at, f"no {name}: {self.read('err')}"
            assert not self.ended.done(), f"ended without {name}: {self.read('err')}"
            time.sleep(0.005)
        return path.read_text()

    def send(self, number: int) -> None:
        os.kill(self.began.result(PATIENCE), number)

    def read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def finish(self) -> Supervised:
        """Wait for the end; nothing that the run started may live."""
        values = self.ended.result(PATIENCE)
        assert find_living(self.folder) == [], self.read("err")
        text = self.read(SUPERVISED)
        return Supervised(
            folder=self.folder,
            code=values["code"],
            out=self.read("out"),
            err=self.read("err"),
            memory=values["memory"] * 1024,
            record=json.loads(text) if text else {},
        )


class SuperviseStage:
    """Runs the packed program."""

    def __init__(self, folder: Path) -> None:
        (folder / "supervise.py").write_text(pack_supervise())
        (folder / "forking.py").write_text(_FORKING)
        (folder / "server.py").write_text(SERVER)
        self.folder = folder
        self._lock = threading.Lock()
        self._runs: list[SupervisedRun] = []
        argv = [sys.executable, "-I", "-S", str(folder / "forking.py"), str(folder / "supervise.py")]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            values = json.loads(line)
            run = self._runs[values["number"]]
            if "pid" in values:
                run.began.set_result(values["pid"])
            else:
                run.ended.set_result(values)

    def start(
        self,
        name: str,
        spec: Mapping[str, Any],
        client: Sequence[str],
        variables: Mapping[str, str] | None = None,
        limits: Mapping[str, object] | None = None,
        out: str = "out",
    ) -> SupervisedRun:
        """Start a run in a folder of its own."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "spec.json").write_text(json.dumps(spec))
        run = SupervisedRun(folder)
        environment = {**os.environ, "SERVER": str(self.folder / "server.py"), "PYTHON": sys.executable}
        request = {
            "folder": str(folder),
            "arguments": ["spec.json", "--", *client],
            "environment": {**environment, **(variables or {})},
            "limits": {**_LIMITS, **(limits or {})},
            "out": out,
            "err": "err",
        }
        assert self._process.stdin is not None
        with self._lock:
            self._runs.append(run)
            line = json.dumps({**request, "number": len(self._runs) - 1}) + "\n"
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        return run

    def repeat(self, count: int, scene: Callable[[str], None]) -> None:
        """Play a scene several times, ten at the same time; it gets a name for its folder."""
        with ThreadPoolExecutor(10) as pool:
            names = [f"{scene.__name__}-{number}" for number in range(count)]
            for _ in pool.map(scene, names):
                pass
        for name in names:
            shutil.rmtree(self.folder / name)

    def stop(self) -> None:
        """End everything, also runs of a test that has failed."""
        for run in self._runs:
            if not run.ended.done():
                run.send(signal.SIGTERM)
                run.ended.result(PATIENCE)
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.stdout is not None
        self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self._process.stdout.close()


def find_living(folder: Path) -> list[str]:
    """Return the processes that run in a folder."""
    living = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder):
                living.append(f"{process.name} {(process / 'cmdline').read_bytes()!r}")
        except OSError:
            continue
    return living


def server(name: str, *words: str, port: str = "", **fields: object) -> dict[str, Any]:
    """Return a process of a spec: a small server; see `SERVER` for the words."""
    variable = "${PORT_" + (port or name).upper() + "}"
    return {
        "argv": ["${PYTHON}", "-I", "-S", "${SERVER}", variable, name, *words],
        "ports": [name],
        "ready": {"path": "/health", "seconds": PATIENCE},
        "grace": PATIENCE,
        **fields,
    }


def spec(*servers: dict[str, Any], **fields: object) -> dict[str, Any]:
    """Return a spec; a process is called like its first port."""
    return {"processes": {process["ports"][0]: process for process in servers}, **fields}


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


@contextmanager
def load() -> Iterator[None]:
    """Keep all processors busy."""
    argv = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    processes = [subprocess.Popen(argv) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
