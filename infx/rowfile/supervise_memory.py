"""Wait until the memory of the GPUs is free, before the processes start and after they have ended."""

from __future__ import annotations

import time
from typing import Callable

from . import supervise_codes as codes
from .failure import INFRASTRUCTURE, Failure
from .launch_process import ProcessRunner
from .runner import print_line
from .supervise_events import Events, SuperviseError
from .supervise_gpu import ASK_SECONDS, GpuError, GpuTool, GpuUse, describe_uses, find_dirty, find_held


class GpuMemory:
    """The memory of this machine's GPUs.

    Processes that have ended may still hold it: drivers free it late, and engines leave workers behind.
    """

    def __init__(self, environment: dict[str, str], seconds: float | None, events: Events) -> None:
        runner = ProcessRunner(events.cancellation, [])
        self._tool = GpuTool(
            lambda argv: runner.ask(argv, environment, ASK_SECONDS, cancel_grace=0.0), environment
        )
        self._seconds = seconds
        self._events = events
        self._before: list[GpuUse] = []
        self._is_known = False

    def wait_clean(self) -> None:
        """Wait until the GPUs are free. Raises SuperviseError."""
        if self._seconds is None or not self._tool.name:
            return
        reason = self._wait(self._seconds, find_dirty)
        self._events.check()
        if reason:
            message = (
                "The memory of the GPUs was not free after "
                + format(self._seconds, "g")
                + " s: "
                + reason
                + "."
            )
            raise SuperviseError(Failure(codes.GPU_MEMORY, INFRASTRUCTURE, "gpu-memory", message))

    def wait_back(self) -> str:
        """Wait until the memory is back. Return what is missing, as a sentence; empty if nothing is."""
        if self._seconds is None or not self._is_known or self._events.cancellation.number:
            return ""
        reason = self._wait(self._seconds, lambda uses: find_held(uses, self._before))
        return "The memory of the GPUs did not come back: " + reason + "." if reason else ""

    def _wait(self, seconds: float, find: Callable[[list[GpuUse]], list[GpuUse]]) -> str:
        """Wait until no GPU is found, or a signal arrives. Return which is found, without a period."""
        ends_at, looks = time.monotonic() + seconds, 0
        while True:
            reason = self._look(find)
            left = ends_at - time.monotonic()
            if not reason or left <= 0 or self._events.cancellation.number:
                return reason
            self._events.wait(min(codes.GPU_PAUSES[min(looks, len(codes.GPU_PAUSES) - 1)], left))
            looks += 1

    def _look(self, find: Callable[[list[GpuUse]], list[GpuUse]]) -> str:
        try:
            uses = self._tool.read()
        except GpuError as error:
            if not error.is_final:
                return error.message.rstrip(".")
            print_line("supervise: the memory of the GPUs is not watched: " + error.message)
            return ""
        found = find(uses)
        if not self._is_known and not found:
            self._before, self._is_known = uses, True
        return describe_uses(found, self._tool.list_holders(found)) if found else ""
