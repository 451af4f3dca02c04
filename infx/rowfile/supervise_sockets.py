"""The sockets of this machine that listen on a port, and the processes that hold them."""

from __future__ import annotations

import os
import socket
import struct
import sys
from typing import NamedTuple

_LISTENS = "0A"  # state of a socket in /proc/net/tcp
# Constants and forms of the kernel's sock_diag(7).
_SOCK_DIAG, _BY_FAMILY, _DUMP, _DONE, _ERROR, _STATE_LISTEN = 4, 20, 0x301, 3, 2, 1 << 10
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI2s2s16s16s12s")
_SOCKET = struct.Struct("=4s2s2s16s16s12s16sI")


class Listener(NamedTuple):
    """A socket that listens.

    Attributes:
        hosts: addresses by which this machine reaches it.
    """

    inode: str
    hosts: list[str]


def find_listeners(port: int) -> list[Listener]:
    """Return the sockets that listen on a port. Raises OSError if this machine does not show them.

    The files in /proc take the kernel a hundred times longer, because they have all connections, too.
    """
    try:
        return ask_kernel(port)
    except (OSError, AttributeError):  # a kernel, a sandbox or a Python without sock_diag
        return read_files(port)


def ask_kernel(port: int) -> list[Listener]:
    """Return what sock_diag answers. Raises OSError."""
    listeners: list[Listener] = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
        kernel.settimeout(5)
        for family in (socket.AF_INET, socket.AF_INET6):
            no_address = bytes(16)
            request = _REQUEST.pack(
                family, socket.IPPROTO_TCP, 0, 0, _STATE_LISTEN,
                struct.pack("!H", port), bytes(2), no_address, no_address, bytes(4) + b"\xff" * 8,
            )  # fmt: skip
            kernel.send(_HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _DUMP, family, 0) + request)
            is_more = True
            while is_more:
                answer = kernel.recv(1 << 18)
                is_more = _parse_answer(answer, port, listeners)
    return listeners


def _parse_answer(answer: bytes, port: int, listeners: list[Listener]) -> bool:
    """Add the listeners of an answer, and return whether another answer follows. Raises OSError."""
    at = 0
    while at + _HEADER.size <= len(answer):
        length, kind = _HEADER.unpack_from(answer, at)[:2]
        if kind == _DONE:
            return False
        if kind == _ERROR or length < _HEADER.size + _SOCKET.size:
            raise OSError("sock_diag does not answer")
        head, own, _, address, _, _, _, inode = _SOCKET.unpack_from(answer, at + _HEADER.size)
        if struct.unpack("!H", own)[0] == port:
            size = 16 if head[0] == socket.AF_INET6 else 4
            listeners.append(Listener(str(inode), _find_hosts(address[:size])))
        at += (length + 3) & ~3
    return True


def read_files(port: int) -> list[Listener]:
    """Return what /proc shows. Raises OSError."""
    listeners = []
    end = ":" + format(port, "04X")
    for path in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                lines = file.read().splitlines()[1:]
        except FileNotFoundError:
            if path.endswith("6"):  # a kernel without IPv6
                continue
            raise
        listeners += [
            Listener(fields[9], _find_hosts(_parse_address(fields[1][:-5])))
            for fields in map(str.split, lines)
            if len(fields) > 9 and fields[3] == _LISTENS and fields[1].endswith(end)
        ]
    return listeners


def _parse_address(text: str) -> bytes:
    """Return an address that the kernel prints as numbers of four bytes."""
    return b"".join(int(text[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(text), 8))


def _find_hosts(address: bytes) -> list[str]:
    """Return addresses that reach a socket."""
    if any(address):
        return [socket.inet_ntop(socket.AF_INET6 if len(address) > 4 else socket.AF_INET, address)]
    return ["127.0.0.1", "::1"] if len(address) > 4 else ["127.0.0.1"]


def find_holders(inodes: set[str], pids: list[int]) -> dict[str, int]:
    """Return a process that holds each socket, as far as these processes hold them."""
    wanted = {"socket:[" + inode + "]": inode for inode in inodes}
    holders: dict[str, int] = {}
    for pid in pids:
        folder = "/proc/" + str(pid) + "/fd"
        try:
            descriptors = os.listdir(folder)
        except OSError:  # it has ended, or it is another user's
            continue
        for descriptor in descriptors:
            try:
                inode = wanted.get(os.readlink(folder + "/" + descriptor))
            except OSError:
                continue
            if inode is not None:
                holders.setdefault(inode, pid)
        if len(holders) == len(inodes):
            break
    return holders
