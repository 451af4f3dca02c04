"""What a signal does while something runs that would leave something behind."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def handled(numbers: Iterable[int], handle: Callable[[int, object], None]) -> Iterator[None]:
    """These signals are `handle`'s inside, and whose they were afterwards."""
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ended_in_order(code: int | None = None) -> Iterator[None]:
    """A `kill` and a closed terminal end what runs inside as Ctrl-C does, so that temporary folders go.

    code: of the exit; a shell's own, 128 and the signal's number, if it is None.
    """
    with handled(_ENDS, lambda number, _: sys.exit(128 + number if code is None else code)):
        yield
