"""Whether a supervised process answers: on its own port, by its own socket, with its own health."""

from __future__ import annotations

import os
import select
import socket
import time
from typing import NamedTuple

from .supervise_sockets import Listener, find_holders, find_listeners
from .supervise_spec import ProcessSpec
from .supervise_table import ProcessEntry, describe_pid
from .supervise_text import name_port_variable

ANSWER_SECONDS = 10.0  # for an answer of the health path
MAX_ANSWER = 4096  # bytes until the end of the first line


class Readiness(NamedTuple):
    """Whether a process is ready.

    Attributes:
        reason: why it is not, without a period; empty if it is.
        is_taken: whether another process has its port.
    """

    reason: str
    is_taken: bool = False


def judge_readiness(
    process: ProcessSpec, port: int, families: dict[str, list[ProcessEntry]], seconds: float, wake: int
) -> Readiness:
    """Return whether a process answers on its port.

    Args:
        families: the living processes, by name.
        seconds: that are left for the answer.
        wake: descriptor that becomes readable when something more important happens.
    """
    if not families.get(process.name):
        return Readiness("it has ended")
    try:
        listeners = find_listeners(port)
        owned = _judge_owner(process, port, families, listeners)
        if owned.reason or not process.path:
            return owned
        hosts = [host for listener in listeners for host in listener.hosts]
        reason = ask_health(hosts, port, process.path, min(seconds, ANSWER_SECONDS), wake)
        if reason:
            return Readiness(reason)
        # The socket that has answered must still be the process's own.
        return _judge_owner(process, port, families, find_listeners(port))
    except OSError as error:
        return Readiness("/proc does not show the sockets of this machine: " + str(error.strerror))


def _judge_owner(
    process: ProcessSpec, port: int, families: dict[str, list[ProcessEntry]], listeners: list[Listener]
) -> Readiness:
    """Return whether all sockets that listen on a port belong to the family of a process."""
    where = "port " + str(port) + " (" + process.ready_port + ")"
    inodes = {listener.inode for listener in listeners}
    if not inodes:
        variable = name_port_variable(process.ready_port)
        return Readiness("nothing listens on " + where + ", the value of " + variable)
    own = [entry.pid for entry in families.get(process.name, [])]
    others = inodes - set(find_holders(inodes, own))
    if not others:
        return Readiness("")
    for name, entries in families.items():
        holders = find_holders(others, [entry.pid for entry in entries])
        if name and holders:
            pid = next(iter(holders.values()))
            return Readiness(where + " is served by the process " + name + ", " + describe_pid(pid))
    holders = find_holders(others, [int(name) for name in os.listdir("/proc") if name.isdigit()])
    if not holders:  # another user's process, or one that has just ended
        return Readiness(where + " belongs to a process that /proc does not show")
    return Readiness(
        where + " belongs to another process: " + describe_pid(next(iter(holders.values()))), is_taken=True
    )


def ask_health(hosts: list[str], port: int, path: str, seconds: float, wake: int) -> str:
    """Ask a path for its status; return why it is not 200, and an empty text if it is."""
    ends_at = time.monotonic() + seconds
    reason = "nothing answers " + path
    for host in dict.fromkeys(hosts):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            with socket.socket(family, socket.SOCK_STREAM) as connection:
                connection.setblocking(False)
                line = _ask(connection, (host, port), path, ends_at, wake)
        except OSError as error:
            reason = path + " cannot be asked: " + str(error.strerror or error)
            continue
        words = line.split(None, 2)
        if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1] == b"200":
            return ""
        shown = line[:80].decode(errors="replace").strip()
        return path + " answers " + (repr(shown) if shown else "nothing")
    return reason


def _ask(connection: socket.socket, address: tuple[str, int], path: str, ends_at: float, wake: int) -> bytes:
    """Return the first line of the answer, or as much as arrives in time. Raises OSError."""
    host = "[" + address[0] + "]" if ":" in address[0] else address[0]
    name = host + ":" + str(address[1])
    request = "GET " + path + " HTTP/1.1\r\nHost: " + name + "\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    to_send, answer = request.encode(), b""
    connection.connect_ex(address)
    watched = select.poll()
    watched.register(wake, select.POLLIN)
    while b"\n" not in answer and len(answer) < MAX_ANSWER:
        watched.register(connection, select.POLLOUT if to_send else select.POLLIN)
        events = watched.poll(max(ends_at - time.monotonic(), 0.0) * 1000)
        if not events or any(descriptor == wake for descriptor, _ in events):
            break
        if to_send:
            number = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if number:
                raise OSError(number, os.strerror(number))
            to_send = to_send[connection.send(to_send) :]
        else:
            data = connection.recv(MAX_ANSWER)
            if not data:
                break
            answer += data
    return answer.partition(b"\n")[0]
