"""Signal handling for commands that must clean up."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def handle_signals(numbers: Iterable[int], handle: Callable[[int, object], None]) -> Iterator[None]:
    """Call `handle` for these signals inside the context, and restore the earlier handlers afterwards."""
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def exit_on_signals(code: int | None = None) -> Iterator[None]:
    """Exit on `kill` and on a closed terminal as on Ctrl-C, so that temporary folders are removed.

    code: the exit code; None for a shell's own, which is 128 plus the signal's number.
    """
    with handle_signals(_ENDS, lambda number, _: sys.exit(128 + number if code is None else code)):
        yield
