"""The processes of this machine as /proc shows them: which belong together, and which listens on a port."""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import NamedTuple

MARK = "INFX_SUPERVISED"  # variable of all supervised processes; its value is a word of this run and the process's name
_LISTENS = "0A"  # state of a socket in /proc/net/tcp
MAX_TITLE, MAX_ENVIRONMENT = 200, 4_000_000


class ProcessEntry(NamedTuple):
    """A process that has not ended.

    Attributes:
        started: when it started; with the id it identifies a process, because ids are used again.
    """

    pid: int
    parent: int
    started: int


class Listener(NamedTuple):
    """A socket that listens.

    Attributes:
        hosts: addresses by which this machine reaches it.
    """

    inode: str
    hosts: list[str]


def read_entry(pid: int) -> ProcessEntry | None:
    """Return a process; None if it has ended. A zombie has ended."""
    try:
        with open("/proc/" + str(pid) + "/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) < 20 or fields[0] in (b"Z", b"X", b"x"):
        return None
    return ProcessEntry(pid, int(fields[1]), int(fields[19]))


def read_table() -> dict[int, ProcessEntry]:
    """Return all processes. Raises OSError without /proc."""
    entries = [read_entry(int(name)) for name in os.listdir("/proc") if name.isdigit()]
    return {entry.pid: entry for entry in entries if entry is not None}


def is_alive(entry: ProcessEntry) -> bool:
    current = read_entry(entry.pid)
    return current is not None and current.started == entry.started


def read_title(pid: int) -> str:
    """Return the arguments of a process, which some processes replace by a title."""
    try:
        with open("/proc/" + str(pid) + "/cmdline", "rb") as file:
            title = file.read(4096).replace(b"\0", b" ").decode(errors="replace").strip()
        if not title:
            with open("/proc/" + str(pid) + "/comm", "rb") as file:
                title = file.read(64).decode(errors="replace").strip()
    except OSError:
        return ""
    return title[:MAX_TITLE]


def describe_pid(pid: int) -> str:
    title = read_title(pid)
    return "pid " + str(pid) + (" (" + title + ")" if title else "")


def kill(entry: ProcessEntry, number: int) -> None:
    """Send a signal to a process, unless it has ended."""
    if is_alive(entry):
        try:
            os.kill(entry.pid, number)
            if number == signal.SIGTERM:
                os.kill(entry.pid, signal.SIGCONT)  # a stopped process does not notice SIGTERM
        except (ProcessLookupError, PermissionError):
            pass


class Families:
    """The processes that each supervised process started, with their children.

    A process belongs to the family of its parent, or to the one that its mark names. It stays there when its parent
    ends or when it gets a session of its own.
    """

    def __init__(self, run: str) -> None:
        """Take a word that is different for each run. Everything that lives now belongs to no family."""
        self._mark = (MARK + "=" + run + "/").encode()
        self._own_pid = os.getpid()
        # By id and start: the family's name; empty for an orphan without a name; None for all other processes.
        self._owners: dict[tuple[int, int], str | None] = {
            (entry.pid, entry.started): None for entry in read_table().values()
        }

    def add(self, pid: int, name: str) -> None:
        """Add the first process of a family."""
        entry = read_entry(pid)
        if entry is not None:
            self._owners[entry.pid, entry.started] = name

    def find(self) -> dict[str, list[ProcessEntry]]:
        """Return the living processes of each family, the oldest first. Raises OSError without /proc.

        The family with an empty name has orphans that this program inherited from processes that it cannot name.
        """
        table = read_table()
        living = {(entry.pid, entry.started) for entry in table.values()}
        self._owners = {key: owner for key, owner in self._owners.items() if key in living}
        families: dict[str, list[ProcessEntry]] = {}
        for entry in sorted(table.values(), key=lambda entry: entry.started):
            owner = self._find_owner(entry, table)
            if owner is not None:
                families.setdefault(owner, []).append(entry)
        return families

    def _find_owner(self, entry: ProcessEntry, table: dict[int, ProcessEntry]) -> str | None:
        """Return the family of a process; None if it has none."""
        unknown: list[ProcessEntry] = []  # the process and its ancestors
        owner: str | None = None
        current: ProcessEntry | None = entry
        while current is not None and current not in unknown:
            if (current.pid, current.started) in self._owners:
                owner = self._owners[current.pid, current.started]
                break
            unknown.append(current)
            current = table.get(current.parent)
        for member in reversed(unknown):
            if not owner:
                owner = self._read_mark(member.pid) or ("" if member.parent == self._own_pid else owner)
            self._owners[member.pid, member.started] = owner
        return owner

    def _read_mark(self, pid: int) -> str:
        """Return the family that a process's environment names; empty if it names none, or cannot be read."""
        try:
            with open("/proc/" + str(pid) + "/environ", "rb") as file:
                variables = file.read(MAX_ENVIRONMENT).split(b"\0")
        except OSError:
            return ""
        marks = [variable[len(self._mark) :] for variable in variables if variable.startswith(self._mark)]
        return marks[0].decode(errors="replace") if marks else ""


def find_listeners(port: int) -> list[Listener]:
    """Return the sockets that listen on a port. Raises OSError without /proc."""
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
            Listener(fields[9], _find_hosts(fields[1][:-5]))
            for fields in map(str.split, lines)
            if len(fields) > 9 and fields[3] == _LISTENS and fields[1].endswith(end)
        ]
    return listeners


def _find_hosts(local: str) -> list[str]:
    """Return addresses that reach a listening socket.

    local: its address, in groups of four bytes that the kernel prints as numbers.
    """
    groups = [int(local[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(local), 8)]
    address = b"".join(groups)
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
