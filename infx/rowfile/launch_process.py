"""Run a process of a launch: in a group of its own, with a time limit, and with the signals that arrive here."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from typing import Any

from . import launch_limits as limits
from .launch_text import Hiding, Tail, write_log

NOT_STARTED = 127  # exit code, as of a shell


class Ended:
    """How a process ended.

    Attributes:
        code: exit code; 128 and the signal's number if a signal ended it.
        is_overdue: whether its time ran out.
        is_cancelled: whether this program got a signal before the process ended.
        lines: the last lines that it wrote to the log.
        text: its output, if it was read.
    """

    def __init__(self, code: int, lines: list[str], text: str = "") -> None:
        self.code = code
        self.is_overdue = False
        self.is_cancelled = False
        self.lines = lines
        self.text = text


class Cancellation:
    """The signals that end a launch: they are passed on to the process that runs.

    Attributes:
        number: the first signal; 0 if none has arrived.
        at: when it arrived.
        wake: becomes readable when a signal arrives or a child ends.
    """

    def __init__(self) -> None:
        self.number = 0
        self.at = 0.0
        self._group = 0
        self._earlier: dict[int, Any] = {}
        self._earlier_wake = -1
        self.wake, self._written = os.pipe()
        for end in (self.wake, self._written):
            os.set_blocking(end, False)

    def listen(self) -> None:
        """Take the signals from now on."""
        self._earlier_wake = signal.set_wakeup_fd(self._written, warn_on_full_buffer=False)
        self._earlier[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._earlier[number] = signal.signal(number, self._handle)

    def stop(self) -> None:
        """Leave the signals to whatever took them before."""
        for number, handler in self._earlier.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.set_wakeup_fd(self._earlier_wake)
        os.close(self.wake)
        os.close(self._written)

    def begin(self, group: int) -> None:
        """Pass signals on to a group, also one that has already arrived."""
        self._group = group
        if self.number:
            send_signal(group, self.number)

    def end(self) -> None:
        self._group = 0

    def _handle(self, number: int, _: object) -> None:
        if not self.number:
            self.number, self.at = int(number), time.monotonic()
        if self._group:
            send_signal(self._group, number)


def send_signal(group: int, number: int) -> None:
    """Send a signal to a group, unless all its processes have ended."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass


class ProcessRunner:
    """Runs processes one after another.

    Attributes:
        cancellation: signals that end the launch.
        hidden: values that no log has.
    """

    def __init__(self, cancellation: Cancellation, hidden: list[str]) -> None:
        self.cancellation = cancellation
        self.hidden = hidden

    def run(
        self, argv: list[str], environment: dict[str, str], seconds: float, folder: str, output: str = ""
    ) -> Ended:
        """Run a step to its end; its output is written to the log.

        output: a file that gets the process's stdout.
        """
        process = _Process(argv, environment, folder, self.hidden, output)
        if process.problem:
            return Ended(NOT_STARTED, [process.problem])
        self.cancellation.begin(process.pid)
        try:
            return process.wait(seconds, limits.GRACE, self.cancellation, limits.CANCEL_GRACE)
        finally:
            self.cancellation.end()

    def ask(
        self, argv: list[str], environment: dict[str, str], seconds: float, cancel_grace: float | None = None
    ) -> Ended:
        """Run a short process and return its output.

        cancel_grace: seconds after which a signal ends it; None: never.
        """
        process = _Process(argv, environment, "/", self.hidden, is_read=True)
        if process.problem:
            return Ended(NOT_STARTED, [process.problem])
        return process.wait(seconds, 0.0, self.cancellation, cancel_grace)


class _Process:
    """A process and the pipe that it writes to."""

    def __init__(
        self,
        argv: list[str],
        environment: dict[str, str],
        folder: str,
        hidden: list[str],
        output: str = "",
        *,
        is_read: bool = False,
    ) -> None:
        self.problem = ""
        self._hiding, self._tail, self._is_read = Hiding(hidden), Tail(), is_read
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._kill_at: float | None = None
        self._gone_at: float | None = None
        self._is_overdue = False
        sink: Any = open(output, "wb") if output else None  # noqa: SIM115
        try:
            self._popen = subprocess.Popen(
                argv,
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=sink or writer,
                stderr=writer,
                start_new_session=True,
            )
            self.pid = self._popen.pid
        except OSError as error:
            os.close(self._reader)
            self.problem = argv[0] + " cannot be started: " + str(error.strerror) + "."
        finally:
            os.close(writer)
            if sink is not None:
                sink.close()

    def wait(
        self, seconds: float, grace: float, cancellation: Cancellation, cancel_grace: float | None
    ) -> Ended:
        """Wait until the process has ended, and end it if its time runs out or a signal arrives."""
        overdue_at = time.monotonic() + seconds
        watched = select.poll()
        watched.register(self._reader, select.POLLIN)
        watched.register(cancellation.wake, select.POLLIN)
        while self._popen.poll() is None:
            now = time.monotonic()
            if self._gone_at is not None and now >= self._gone_at:
                break
            if cancel_grace is not None and cancellation.number and self._kill_at is None:
                self._kill_at = cancellation.at + cancel_grace
            if now >= overdue_at and not self._is_overdue:
                self._is_overdue = True
                send_signal(self.pid, signal.SIGTERM)
                self._kill_at = min(self._kill_at or now + grace, now + grace)
            if self._kill_at is not None and now >= self._kill_at and self._gone_at is None:
                send_signal(self.pid, signal.SIGKILL)
                self._gone_at = now + limits.KILLED
            next_at = self._kill_at if self._gone_at is None else self._gone_at
            if not self._is_overdue and (next_at is None or overdue_at < next_at):
                next_at = overdue_at
            self._look(watched, cancellation.wake, next_at - now if next_at is not None else 1.0)
        self._read()
        return self._end(cancel_grace is not None and bool(cancellation.number))

    def _look(self, watched: select.poll, wake: int, seconds: float) -> None:
        """Wait for output, a signal or the end of a child. A program that left the pipe open does not matter."""
        for descriptor, event in watched.poll(max(seconds, 0.0) * 1000):
            if descriptor == wake:
                os.read(wake, 4096)
            elif not self._read() and event & select.POLLHUP:
                watched.unregister(self._reader)

    def _read(self) -> bool:
        """Pass on what there is, and return whether there was any."""
        has_read = False
        for _ in range(64):  # a program that writes without end does not keep its time limit waiting
            try:
                data = os.read(self._reader, 1 << 16)
            except BlockingIOError:
                break
            if not data:
                break
            has_read = True
            self._show(self._hiding.take(data))
        return has_read

    def _show(self, data: bytes) -> None:
        self._tail.take(data)
        if not self._is_read:
            write_log(data)

    def _end(self, is_cancelled: bool) -> Ended:
        self._show(self._hiding.end())
        os.close(self._reader)
        status = self._popen.returncode
        status = -signal.SIGKILL if status is None else status
        lines = self._tail.list_lines()
        ended = Ended(128 - status if status < 0 else status, lines, "\n".join(lines))
        ended.is_overdue, ended.is_cancelled = self._is_overdue, is_cancelled
        return ended
