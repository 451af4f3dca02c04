"""A supervised process: its start, its log, and its end."""

from __future__ import annotations

import ctypes
import fnmatch
import os
import shutil
import signal
import subprocess
import time
from typing import Any

from .launch_text import Tail
from .supervise_spec import ProcessSpec
from .supervise_table import ProcessEntry, is_alive, read_title
from .supervise_text import fill_variables, find_variables

SEARCHED = 65_536  # bytes at the end of a log that are searched for the words of a bind error
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_BIND_ERRORS = (
    b"address already in use", b"eaddrinuse", b"errno 98", b"errno: 98", b"os error 98", b"port is already in use",
    b"port already in use", b"address in use",
)  # fmt: skip


def _find_prctl() -> Any:
    """Return the function of Linux; None elsewhere."""
    try:
        return ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends, where that is possible. Marks find them elsewhere."""
    prctl = _find_prctl()
    if prctl is not None:
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def start(argv: list[str], environment: dict[str, str], out: Any, err: Any) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, which ends if this program is killed. Raises OSError."""
    prctl = _find_prctl()
    return subprocess.Popen(
        argv,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        start_new_session=True,
        preexec_fn=None if prctl is None else lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0),  # noqa: PLW1509
    )


class SupervisedProcess:
    """A process of the spec.

    Attributes:
        child: None until it has started.
        problem: why it could not be started, as a sentence.
        ready_at: when it became ready; None until then.
        next_at: when its readiness is looked at again.
        starts: how often it was started.
        workers: its children that must live.
        is_given_up: whether a process that is not required has ended.
        moves: how often it got new ports.
        looks: how often its readiness was looked at since its start.
    """

    def __init__(self, spec: ProcessSpec, folder: str) -> None:
        self.spec = spec
        self.log = os.path.join(folder, "supervise-" + spec.name + ".log")
        self.child: subprocess.Popen[bytes] | None = None
        self.problem = ""
        self.began_at = 0.0
        self.ready_at: float | None = None
        self.next_at = 0.0
        self.starts = 0
        self.moves = self.looks = 0
        self.workers: list[tuple[ProcessEntry, str]] = []
        self.is_given_up = False
        self._offset = 0

    def start(self, environment: dict[str, str], values: dict[str, str]) -> None:
        """Start the process; `problem` says if that is impossible.

        environment: its variables. values: of variables in its arguments.
        """
        argv = [fill_variables(text, values) for text in self.spec.argv]
        self.starts += 1
        self.began_at = self.next_at = time.monotonic()
        self.ready_at, self.problem, self.workers, self.looks = None, "", [], 0
        try:
            with open(self.log, "wb" if self.starts == 1 else "ab") as file:
                self._offset = file.tell()
                self.child = start(argv, environment, file, file)
        except OSError as error:
            name = str(error.filename or argv[0])
            self.problem = (
                "The process "
                + self.spec.name
                + " cannot be started: "
                + name
                + ": "
                + str(error.strerror)
                + "."
            )

    def forget(self) -> None:
        """Return to the state before the start; the process has been stopped."""
        self.child, self.ready_at, self.workers = None, None, []

    @property
    def is_settled(self) -> bool:
        """Whether nothing waits for the process."""
        return self.ready_at is not None or self.is_given_up

    @property
    def code(self) -> int | None:
        """The exit code, as of a shell; None while the process lives or before it starts."""
        return None if self.child is None else find_code(self.child)

    def read_log(self, size: int) -> bytes:
        """Return the end of what the process has written since its start."""
        try:
            with open(self.log, "rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(self._offset, end - size))
                return file.read(size)
        except OSError:
            return b""

    def list_last_lines(self) -> list[str]:
        tail = Tail()
        tail.take(self.read_log(SEARCHED))
        return tail.list_lines()

    def has_bind_error(self) -> bool:
        text = self.read_log(SEARCHED).lower()
        return any(words in text for words in _BIND_ERRORS)

    def find_workers(self, family: list[ProcessEntry]) -> str:
        """Note the children that must live, and return the pattern of one that is missing; empty if none is."""
        children = [(entry, read_title(entry.pid)) for entry in family if not self._is_first(entry)]
        self.workers = [
            (entry, title)
            for entry, title in children
            if any(fnmatch.fnmatchcase(title, pattern) for pattern in self.spec.workers)
        ]
        titles = [title for _, title in self.workers]
        missing = [pattern for pattern in self.spec.workers if not fnmatch.filter(titles, pattern)]
        return missing[0] if self.spec.is_each_needed and missing else ""

    def _is_first(self, entry: ProcessEntry) -> bool:
        return self.child is not None and entry.pid == self.child.pid

    def find_dead_worker(self) -> str:
        """Return a worker that has ended, in words; empty if all live."""
        dead = [(entry, title) for entry, title in self.workers if not is_alive(entry)]
        return "pid " + str(dead[0][0].pid) + " (" + dead[0][1] + ")" if dead else ""


def has_program(program: str, path: str | None) -> bool:
    """Return whether a program can be started. A name with a variable counts, because ports are not known yet."""
    return bool(find_variables(program)) or shutil.which(program, path=path) is not None


def describe_missing(who: str, program: str) -> str:
    where = "it is not a file that may run" if "/" in program else "no folder of PATH has it"
    return "The " + who + " cannot be started: " + program + ": " + where + "; nothing was started."


def find_code(child: subprocess.Popen[bytes]) -> int | None:
    code = child.returncode
    return 128 - code if code is not None and code < 0 else code
