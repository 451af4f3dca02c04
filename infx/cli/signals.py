"""What ends a command that would leave something behind."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def ended_in_order(code: int | None = None) -> Iterator[None]:
    """A `kill` and a closed terminal end what runs inside as Ctrl-C does, so that temporary folders go.

    code: of the exit; a shell's own, 128 and the signal's number, if it is None.
    """
    before = {
        number: signal.signal(number, lambda got, _: sys.exit(128 + got if code is None else code))
        for number in _ENDS
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
