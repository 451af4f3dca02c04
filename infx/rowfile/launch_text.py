"""The output of steps: on its way to the log it loses secrets, and its end is kept for the job's record."""

from __future__ import annotations

import sys

SHORTEST = 6  # bytes; hiding shorter texts would hide words
HIDDEN = b"***"
MAX_LINES, MAX_BYTES = 200, 20_000  # of the end that is kept


class Hiding:
    """Replaces values in a stream of bytes. A value may arrive in several parts."""

    def __init__(self, values: list[str]) -> None:
        encoded = {value.encode(errors="surrogateescape") for value in values}
        # The longest first: one may contain another.
        self._values = sorted((value for value in encoded if len(value) >= SHORTEST), key=len, reverse=True)
        self._held = b""

    def take(self, data: bytes) -> bytes:
        """Return what can be shown; the beginning of a value is held back until more arrives."""
        text = self._held + data
        for value in self._values:
            text = text.replace(value, HIDDEN)
        held = max((_count_begun(text, value) for value in self._values), default=0)
        cut = len(text) - held
        self._held = text[cut:]
        return text[:cut]

    def end(self) -> bytes:
        """Return what is held back at the end of the stream."""
        held, self._held = self._held, b""
        return held


def _count_begun(text: bytes, value: bytes) -> int:
    """Return how many of the last bytes are the beginning of a value."""
    longest = min(len(value) - 1, len(text))
    return next((count for count in range(longest, 0, -1) if text.endswith(value[:count])), 0)


class Tail:
    """The last lines of a stream."""

    def __init__(self) -> None:
        self._data = b""

    def take(self, data: bytes) -> None:
        self._data = (self._data + data)[-MAX_BYTES:]

    def list_lines(self) -> list[str]:
        lines = self._data.decode(errors="replace").replace("\r", "\n").split("\n")
        return [line.rstrip() for line in lines if line.strip()][-MAX_LINES:]


def write_log(data: bytes) -> None:
    """Write to the log. A log that is closed does not end a launch, which has to release what it took."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except (OSError, ValueError):
        pass
