"""What the supervision waits for, and the failure that ends it."""

from __future__ import annotations

import os
import select
import subprocess

from .failure import CANCELLED, Failure
from .launch_process import Cancellation
from .supervise_relay import Relay


class Reaper:
    """Takes the exit codes of all children, also of orphans."""

    def __init__(self) -> None:
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    def add(self, child: subprocess.Popen[bytes]) -> None:
        self._children[child.pid] = child

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self._children.pop(pid, None)
            if child is not None:
                child.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class SuperviseError(Exception):
    """The failure that ends the supervision."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Events:
    """What the supervision waits for: signals, ends of children, and output of the client.

    Attributes:
        cancellation: the signals that end everything.
        relays: of the client's output.
    """

    def __init__(self) -> None:
        self.cancellation = Cancellation()
        self.relays: list[Relay] = []
        self.reaper = Reaper()

    def wait(self, seconds: float) -> None:
        """Wait until something happens, at most for a time; take the exit codes of children, and pass on output."""
        watched = select.poll()
        watched.register(self.cancellation.wake, select.POLLIN)
        for relay in self.relays:
            relay.register(watched)
        for descriptor, _ in watched.poll(max(seconds, 0.0) * 1000):
            if descriptor == self.cancellation.wake:
                os.read(descriptor, 4096)
        for relay in self.relays:
            relay.move()
        self.reaper.reap()

    def check(self) -> None:
        """Raise SuperviseError if a signal has arrived."""
        number = self.cancellation.number
        if number:
            message = "Signal " + str(number) + " ended the supervision."
            raise SuperviseError(Failure(128 + number, CANCELLED, "cancelled", message))
