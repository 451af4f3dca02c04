"""Ports: how they are chosen and held, and who listens on them."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infx.rowfile import supervise_ports, supervise_ready, supervise_sockets
from infx.rowfile.supervise_ports import PortError, PortHolder, find_candidates
from infx.rowfile.supervise_ready import ask_health, judge_readiness
from infx.rowfile.supervise_sockets import Listener, ask_kernel, find_listeners, read_files
from infx.rowfile.supervise_spec import ProcessSpec
from infx.rowfile.supervise_table import ProcessEntry, read_entry

NAMES = [f"p{number}" for number in range(50)]


@pytest.fixture
def wake() -> Iterator[int]:
    reader, writer = os.pipe()
    yield reader
    os.close(reader)
    os.close(writer)


def test_ports_are_different_and_held() -> None:
    holder = PortHolder()
    holder.choose(NAMES)
    try:
        assert len(set(holder.numbers.values())) == len(NAMES)
        for address in ("127.0.0.1", "0.0.0.0"):
            with socket.socket() as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                with pytest.raises(OSError):
                    other.bind((address, holder.numbers["p0"]))
        holder.release("p0")
        with socket.socket() as server:
            server.bind(("127.0.0.1", holder.numbers["p0"]))
    finally:
        holder.release_all()


def test_new_ports_differ_from_the_old_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    holder = PortHolder()
    holder.choose(["a", "b"])
    earlier = dict(holder.numbers)
    holder.release_all()
    monkeypatch.setattr(supervise_ports, "find_candidates", lambda _: sorted(earlier.values()))
    holder.choose(["a"])  # only the kernel can choose another one
    holder.release_all()
    assert holder.numbers["a"] not in earlier.values()
    assert holder.numbers["b"] == earlier["b"]


def test_ports_of_connections_are_avoided() -> None:
    candidates = find_candidates((32768, 60999))
    assert (candidates[0], candidates[-1]) == (10_000, 65_535)
    assert not set(candidates) & set(range(32768, 61000))
    assert find_candidates((1024, 65535)) == []


def test_no_port_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(port: int) -> socket.socket:
        raise OSError(98, f"{port} is in use")

    monkeypatch.setattr(supervise_ports, "_bind", refuse)
    with pytest.raises(PortError):
        PortHolder().choose(["a"])


@contextmanager
def serve(answer: bytes, host: str = "127.0.0.1") -> Iterator[int]:
    """Answer each connection, and yield the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        stop, stopping = os.pipe()

        def work() -> None:
            while True:
                if stop in select.select([server.fileno(), stop], [], [])[0]:
                    return
                connection = server.accept()[0]
                with connection:
                    connection.recv(1000)
                    connection.sendall(answer)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            os.close(stopping)
            thread.join()
            os.close(stop)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", ""),
        (b"HTTP/1.0 200\r\n", ""),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", "/h answers 'HTTP/1.1 503 Service Unavailable'"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "/h answers 'HTTP/1.1 204 No Content'"),
        (b"SSH-2.0 200 OK\r\n", "/h answers 'SSH-2.0 200 OK'"),
        (b"", "/h answers nothing"),
        (b"x" * 100_000, f"/h answers {'x' * 80!r}"),
    ],
)
def test_only_200_is_healthy(answer: bytes, reason: str, wake: int) -> None:
    with serve(answer) as port:
        assert ask_health(["127.0.0.1"], port, "/h", 60, wake) == reason


def test_an_answer_is_not_waited_for_when_something_happens(wake: int) -> None:
    reader, writer = os.pipe()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert ask_health(["127.0.0.1"], port, "/h", 0.05, wake) == "/h answers nothing"
        os.write(writer, b"x")
        assert ask_health(["127.0.0.1"], port, "/h", 1000, reader) == "/h answers nothing"
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize(
    ("host", "hosts"),
    [
        ("127.0.0.1", ["127.0.0.1"]),
        ("127.0.0.2", ["127.0.0.2"]),
        ("0.0.0.0", ["127.0.0.1"]),
        ("::1", ["::1"]),
        ("::", ["127.0.0.1", "::1"]),
    ],
)
def test_listeners_are_reached(host: str, hosts: list[str], wake: int) -> None:
    try:
        with serve(b"HTTP/1.1 200 OK\r\n\r\n", host) as port:
            [listener] = find_listeners(port)
            assert read_files(port) == [listener]
            assert ask_kernel(port) == [listener]
            assert listener.hosts == hosts
            assert ask_health(listener.hosts, port, "/h", 60, wake) == ""
    except OSError as error:
        if ":" not in host:
            raise
        pytest.skip(f"This machine has no IPv6: {error}")


def test_a_listener_must_belong_to_the_process(wake: int) -> None:
    """This test is the server: as a process of the family, as one of another family, and as a stranger."""
    process = ProcessSpec("a", {"argv": ["a"], "ports": ["p"], "ready": {"path": "/h"}})
    own = read_entry(os.getpid())
    parent = read_entry(os.getppid())
    assert own is not None
    assert parent is not None
    with serve(b"HTTP/1.1 200 OK\r\n\r\n") as port:

        def judge(**families: list[ProcessEntry]) -> tuple[str, bool]:
            reason, is_taken = judge_readiness(process, port, families, 60, wake)
            return reason.partition(sys.executable)[0], is_taken

        where = f"port {port} (p)"
        assert judge(a=[parent, own]) == ("", False)
        assert judge(b=[own]) == ("it has ended", False)
        reason, is_taken = judge(a=[parent], b=[own])
        assert reason.startswith(f"{where} is served by the process b, pid {own.pid} (")
        assert not is_taken
        reason, is_taken = judge(a=[parent])
        assert reason.startswith(f"{where} belongs to another process: pid {own.pid} (")
        assert is_taken
    assert judge(a=[own]) == (f"nothing listens on {where}, the value of PORT_P", False)


def test_a_socket_that_no_process_seems_to_hold_is_not_ready(
    wake: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process may be another user's. Its port is not changed, because it may belong to a child that has just ended."""
    process = ProcessSpec("a", {"argv": ["a"], "ports": ["p"], "ready": {"tcp": True}})
    own = read_entry(os.getpid())
    assert own is not None
    with serve(b"") as port:
        assert judge_readiness(process, port, {"a": [own]}, 60, wake) == ("", False)
        monkeypatch.setattr(supervise_ready, "find_holders", lambda *_: {})
        where = f"port {port} (p)"
        reason = f"{where} belongs to a process that /proc does not show"
        assert judge_readiness(process, port, {"a": [own]}, 60, wake) == (reason, False)

        def fail(_: int) -> list[Listener]:
            raise OSError(2, "No such file or directory")

        monkeypatch.setattr(supervise_ready, "find_listeners", fail)
        reason = "/proc does not show the sockets of this machine: No such file or directory"
        assert judge_readiness(process, port, {"a": [own]}, 60, wake) == (reason, False)


def test_sockets_are_found_without_sock_diag(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> list[Listener]:
        raise OSError(93, "Protocol not supported")

    monkeypatch.setattr(supervise_sockets, "ask_kernel", fail)
    with serve(b"") as port:
        assert [listener.hosts for listener in find_listeners(port)] == [["127.0.0.1"]]


def test_a_zombie_has_ended() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{child.pid}/stat").exists()
    assert read_entry(child.pid) is None
    child.wait()
