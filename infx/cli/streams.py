"""Standard streams that may be closed, or lose their reader, without an effect on a command's exit code."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class LastingStream(io.FileIO):
    """The bytes of stdout or stderr. After a write has failed, all further bytes are dropped.

    A reader that has gone, as of `infx … | head`, is not an error. A full disk behind stdout raises OSError.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        """Write the bytes, or drop them if they cannot be written."""
        try:
            return super().write(data)
        except OSError as error:
            _open_null(self.fileno())
            if self.fileno() == 1 and not isinstance(error, BrokenPipeError):
                raise
            return memoryview(data).nbytes


def secure_streams() -> None:
    """Replace the standard streams by streams that work even if the caller closed their descriptors.

    A free descriptor would be given to the next file that is opened, and output would be written into that file.
    Text that UTF-8 cannot encode, such as some file names, is escaped.
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
    """Connect a descriptor to the null device, in this process and in processes that it starts."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    if null != descriptor:
        os.close(null)
