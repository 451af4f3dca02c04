"""The processes of this machine as /proc shows them, and which of them belong together."""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

MARK = "INFX_SUPERVISED"  # variable of all supervised processes; its value is a word of this run and the process's name
MAX_TITLE, MAX_ENVIRONMENT = 200, 4_000_000


class ProcessEntry(NamedTuple):
    """A process that has not ended.

    Attributes:
        started: when it started; with the id it identifies a process, because ids are used again.
    """

    pid: int
    parent: int
    started: int


def read_entry(pid: int) -> ProcessEntry | None:
    """Return a process; None if it has ended. A zombie has ended."""
    try:
        descriptor = os.open(
            "/proc/" + str(pid) + "/stat", os.O_RDONLY
        )  # faster than open(), for thousands of processes
        try:
            fields = os.read(descriptor, 4096).rpartition(b")")[2].split()
        finally:
            os.close(descriptor)
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
