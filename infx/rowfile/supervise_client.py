"""The client: it runs when all processes are ready, and is stopped when one ends or nothing happens."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from . import supervise_codes as codes
from .failure import BENCHMARK, Failure
from .launch_text import Tail
from .supervise_events import Events, SuperviseError
from .supervise_evidence import Evidence
from .supervise_process import SupervisedProcess, find_code, start
from .supervise_relay import Relay
from .supervise_spec import CLIENT
from .supervise_table import Families


class SupervisedClient:
    """The command that measures."""

    def __init__(self, events: Events, families: Families, evidence: Evidence) -> None:
        self._events = events
        self._families = families
        self._evidence = evidence
        self._tail = Tail()
        self._began_at = self._moved_at = 0.0
        self._count = 0

    def run(
        self,
        argv: list[str],
        environment: dict[str, str],
        limits: dict[str, float | None],
        processes: list[SupervisedProcess],
    ) -> None:
        """Run to the end of the client. Raises SuperviseError unless it ended with 0 and all processes live."""
        child = self._start(argv, environment)
        next_at = 0.0  # of a look at the processes
        while child.returncode is None:
            self._events.check()
            now = time.monotonic()
            self._check_limits(now, limits)
            if now >= next_at or any(process.code is not None for process in processes):
                self._check(processes)
                next_at = now + codes.WORKER_PAUSE
            ends = [next_at, *self._list_ends(limits)]
            self._events.wait(min(ends) - time.monotonic())
        self._drain()
        self._check(processes)
        code = find_code(child) or 0
        if code:
            self._settle(processes)
            if code > 128:
                raise SuperviseError(
                    self._describe(code, "signal", "Signal " + str(code - 128) + " ended the client.")
                )
            raise SuperviseError(
                self._describe(code, "exit-code", "The client ended with " + str(code) + ".")
            )

    def _start(self, argv: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        try:
            child = start(argv, environment, subprocess.PIPE, subprocess.PIPE)
        except OSError as error:
            message = "The client " + argv[0] + " cannot be started: " + str(error.strerror) + "."
            raise SuperviseError(Failure(codes.NOT_STARTED, BENCHMARK, "not-started", message)) from None
        self._events.reaper.add(child)
        self._families.add(child.pid, CLIENT)
        for pipe, stream in ((child.stdout, sys.__stdout__), (child.stderr, sys.__stderr__)):
            if pipe is not None and stream is not None:
                self._events.relays.append(Relay(os.dup(pipe.fileno()), stream.fileno(), self._tail))
                pipe.close()
        self._began_at = self._moved_at = time.monotonic()
        return child

    def _list_ends(self, limits: dict[str, float | None]) -> list[float]:
        starts = {"client": self._began_at, "progress": self._moved_at}
        return [
            starts[name] + seconds
            for name, seconds in limits.items()
            if name in starts and seconds is not None
        ]

    def _check_limits(self, now: float, limits: dict[str, float | None]) -> None:
        """Raise SuperviseError if the client takes too long, or has written nothing for too long."""
        count = sum(relay.count for relay in self._events.relays)
        if count != self._count:
            self._count, self._moved_at = count, now
        progress, whole = limits["progress"], limits["client"]
        if progress is not None and now - self._moved_at >= progress:
            message = (
                "The client wrote nothing for "
                + format(progress, "g")
                + " s (`limits.progress`) and was stopped."
            )
            raise SuperviseError(self._describe(codes.NO_PROGRESS, "no-progress", message))
        if whole is not None and now - self._began_at >= whole:
            message = (
                "The client took longer than " + format(whole, "g") + " s (`limits.client`) and was stopped."
            )
            raise SuperviseError(self._describe(codes.TOO_LONG, "timeout", message))

    def _check(self, processes: list[SupervisedProcess]) -> None:
        failure = self._evidence.find_death(processes)
        if failure is not None:
            raise SuperviseError(failure)

    def _settle(self, processes: list[SupervisedProcess]) -> None:
        """Give a process the time to end that has made the client fail."""
        ends_at = time.monotonic() + codes.SETTLE
        while time.monotonic() < ends_at:
            self._events.check()
            self._events.wait(min(0.05, ends_at - time.monotonic()))
            self._check(processes)

    def _drain(self) -> None:
        """Pass on what the client has left in its pipes; its children may keep them open."""
        ends_at = time.monotonic() + codes.DRAIN
        while time.monotonic() < ends_at and not self._events.cancellation.number:
            for relay in self._events.relays:
                relay.move()
            if not any(relay.is_pending for relay in self._events.relays):
                return
            self._events.wait(0.1)

    def _describe(self, code: int, kind: str, message: str) -> Failure:
        return Failure(code, BENCHMARK, kind, message, self._evidence.hide(self._tail.list_lines()))
