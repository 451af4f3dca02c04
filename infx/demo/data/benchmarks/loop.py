"""A small event loop: coroutines that wait for sockets and for time.

The import of asyncio would take longer than an engine may take to start.
"""

from __future__ import annotations

import heapq
import selectors
import socket
import sys
import time
import types
from collections import deque
from typing import Any, Callable, Coroutine, Generator, NamedTuple, Union

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class _SocketWait(NamedTuple):
    """A request to the loop: wake the task when a socket is ready, or at a deadline with a TimeoutError."""

    socket: socket.socket
    event: int
    deadline: float | None


class _TimeWait(NamedTuple):
    """A request to the loop: wake the task at a time."""

    moment: float


class Signal:
    """A thing that tasks wait for until another task sends it."""

    def __init__(self) -> None:
        self.waiting: list[_Task] = []
        self.is_sent = False


_Wait = Union[_SocketWait, _TimeWait, Signal]


class _Task:
    """A coroutine and what it waits for.

    Attributes:
        turn: number of the current wait, by which a timer of an earlier wait is recognized.
        wait: the current wait; None while the task runs.
    """

    __slots__ = ("coroutine", "turn", "wait")

    def __init__(self, coroutine: Coroutine[_Wait, None, Any]) -> None:
        self.coroutine = coroutine
        self.turn = 0
        self.wait: _Wait | None = None


@types.coroutine
def _wait(request: _Wait) -> Generator[_Wait, None, None]:
    yield request


async def sleep_until(moment: float) -> None:
    """Wait until a time of `time.monotonic`."""
    await _wait(_TimeWait(moment))


async def wait_readable(sock: socket.socket, deadline: float | None = None) -> None:
    """Wait until a socket can be read. Raises TimeoutError at the deadline."""
    await _wait(_SocketWait(sock, READ, deadline))


async def wait_writable(sock: socket.socket, deadline: float | None = None) -> None:
    """Wait until a socket can be written. Raises TimeoutError at the deadline."""
    await _wait(_SocketWait(sock, WRITE, deadline))


async def wait_for(signal: Signal) -> None:
    """Wait until a signal is sent."""
    if not signal.is_sent:
        await _wait(signal)


class Loop:
    """Runs tasks, one at a time, until the first of them has ended."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._ready: deque[tuple[_Task, BaseException | None]] = deque()
        self._timers: list[tuple[float, int, int, _Task]] = []
        self._count = 0

    def spawn(self, coroutine: Coroutine[_Wait, None, Any]) -> _Task:
        """Start a task. Its error is printed and ends nothing else."""
        task = _Task(coroutine)
        self._ready.append((task, None))
        return task

    def send(self, signal: Signal) -> None:
        """Wake all tasks that wait for a signal."""
        signal.is_sent = True
        for task in signal.waiting:
            self._wake(task, None)
        signal.waiting = []

    def run(self, main: Callable[[], Coroutine[_Wait, None, int]]) -> int:
        """Run until the coroutine of `main` has ended, and return its result; its error is raised."""
        results: list[int] = []

        async def finish() -> None:
            results.append(await main())

        first = self.spawn(finish())
        while not results:
            while self._ready:
                task, error = self._ready.popleft()
                self._step(task, error, task is first)
            if not results:
                self._poll()
        return results[0]

    def _step(self, task: _Task, error: BaseException | None, is_first: bool) -> None:
        task.wait = None
        try:
            request = task.coroutine.throw(error) if error else task.coroutine.send(None)
        except StopIteration:
            return
        except Exception:
            if is_first:
                raise
            import traceback  # costs a tenth of the start

            traceback.print_exc(file=sys.stderr)
            return
        task.turn += 1
        task.wait = request
        if isinstance(request, Signal):
            request.waiting.append(task)
            return
        if isinstance(request, _TimeWait):
            self._add_timer(request.moment, task)
            return
        self._selector.register(request.socket, request.event, task)
        if request.deadline is not None:
            self._add_timer(request.deadline, task)

    def _add_timer(self, moment: float, task: _Task) -> None:
        self._count += 1  # makes every item different, so that tasks are not compared
        heapq.heappush(self._timers, (moment, self._count, task.turn, task))

    def _wake(self, task: _Task, error: BaseException | None) -> None:
        if isinstance(task.wait, _SocketWait):
            self._selector.unregister(task.wait.socket)
        task.wait = None
        self._ready.append((task, error))

    def _poll(self) -> None:
        """Wait for the next socket or timer, and wake the tasks."""
        timeout = max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None
        for key, _ in self._selector.select(timeout):
            self._wake(key.data, None)
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            _, _, turn, task = heapq.heappop(self._timers)
            if task.wait is not None and task.turn == turn:
                error = TimeoutError("no answer in time") if isinstance(task.wait, _SocketWait) else None
                self._wake(task, error)
