"""Standard streams that may be closed, or lose their reader, without a change of how a command ends."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class LastingStream(io.FileIO):
    """The bytes of stdout or stderr. After a write that failed, whatever follows is dropped.

    That the reader of `infx … | head` has gone is not a failure. A full disk behind stdout is one: its OSError is raised.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        """Write the bytes, or drop them where nobody can read them."""
        try:
            return super().write(data)
        except OSError as error:
            _open_null(self.fileno())
            if self.fileno() == 1 and not isinstance(error, BrokenPipeError):
                raise
            return memoryview(data).nbytes


def secure_streams() -> None:
    """Replace sys.stdin, sys.stdout and sys.stderr by streams that a command can use whatever the caller closed.

    A descriptor that stays free would be given to the next file that is opened, and what is printed would end there.
    Names of files need not be UTF-8, so what cannot be encoded is escaped.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            _open_null(descriptor)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "rb", closefd=False)), encoding="utf-8")
    sys.stdout, sys.stderr = _open(1), _open(2)


def _open(descriptor: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(LastingStream(descriptor, "wb", closefd=False)),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=descriptor == 2 or os.isatty(descriptor),
    )


def _open_null(descriptor: int) -> None:
    """Let a descriptor read nothing and take everything, in this process and in those that it starts."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    if null != descriptor:
        os.close(null)
