"""The client: its output goes through, without waiting for whoever reads it."""

from __future__ import annotations

import os
import select
import stat

from .launch_text import Tail

_PART = 65_536
_SAFE = 4_096  # bytes that a pipe takes at once when it takes any


class Relay:
    """Passes on what arrives on a descriptor.

    Attributes:
        is_open: whether more may arrive.
        count: bytes that arrived.
    """

    def __init__(self, source: int, target: int, tail: Tail) -> None:
        os.set_blocking(source, False)
        self.is_open = True
        self.count = 0
        self._source, self._target, self._tail = source, target, tail
        self._pending = memoryview(b"")
        try:
            is_file = stat.S_ISREG(os.fstat(target).st_mode)
        except OSError:
            is_file = False
        self._part = _PART if is_file else _SAFE

    @property
    def is_pending(self) -> bool:
        """Whether output waits for its reader."""
        return bool(self._pending)

    def register(self, watched: select.poll) -> None:
        if self._pending:
            watched.register(self._target, select.POLLOUT)
        elif self.is_open:
            watched.register(self._source, select.POLLIN)

    def move(self) -> None:
        """Pass on what there is, as far as its reader takes it; at most a few megabytes at once."""
        for _ in range(64):
            if not self._pending and not self._read():
                return
            if not self._write():
                return

    def _read(self) -> bool:
        if not self.is_open:
            return False
        try:
            data = os.read(self._source, _PART)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.close()
            return False
        self.count += len(data)
        self._tail.take(data)
        self._pending = memoryview(data)
        return True

    def _write(self) -> bool:
        """Write until nothing is pending, and return whether that was possible. Output without a reader is dropped."""
        watched = select.poll()
        watched.register(self._target, select.POLLOUT)
        while self._pending:
            if not watched.poll(0):
                return False
            try:
                self._pending = self._pending[
                    os.write(self._target, self._pending[: self._part]) :
                ]  # no copy
            except BlockingIOError:
                return False
            except OSError:
                self._pending = memoryview(b"")
        return True

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            os.close(self._source)
