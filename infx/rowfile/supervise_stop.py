"""Stop processes and all that they started."""

from __future__ import annotations

import signal
import time

from . import supervise_codes as codes
from .supervise_events import Events
from .supervise_table import Families, ProcessEntry, describe_pid, kill


class Stopper:
    """Stops processes and all that they started."""

    def __init__(self, families: Families, events: Events) -> None:
        self._families = families
        self._events = events

    def stop(self, names: list[str], grace: float) -> str:
        """Stop families: SIGTERM, SIGKILL after the grace. Return what is left, as a sentence; empty if nothing is."""
        began_at, looks = time.monotonic(), 0
        asked: set[ProcessEntry] = set()
        while True:
            self._events.reaper.reap()
            families = self._families.find()
            living = [entry for name in names for entry in families.get(name, [])]
            if not living:
                return ""
            kill_at, gone_at = self._find_limits(began_at, grace)
            now = time.monotonic()
            if now >= gone_at:
                return (
                    "SIGKILL did not end " + ", ".join(describe_pid(entry.pid) for entry in living[:8]) + "."
                )
            for entry in living:
                if now >= kill_at or entry not in asked:
                    kill(entry, signal.SIGKILL if now >= kill_at else signal.SIGTERM)
                    asked.add(entry)
            pause = codes.PAUSES[min(looks, len(codes.PAUSES) - 1)]
            self._events.wait(min(pause, max(kill_at - now, 0.0) if now < kill_at else gone_at - now))
            looks += 1

    def _find_limits(self, began_at: float, grace: float) -> tuple[float, float]:
        """Return when SIGKILL is sent, and when nothing may be left; a signal makes both earlier."""
        kill_at = began_at + grace
        gone_at = kill_at + codes.KILLED
        if self._events.cancellation.number:
            kill_at = min(kill_at, self._events.cancellation.at + codes.CANCEL_GRACE)
            gone_at = min(gone_at, kill_at + codes.CANCEL_KILLED)
        return kill_at, gone_at
