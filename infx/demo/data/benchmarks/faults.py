"""What can go wrong in the engine, by `--fail KIND` or `--fail KIND=NUMBER`."""

from __future__ import annotations

import os
import signal
import sys

KINDS = {  # kind → whether it has a number, and what happens
    "never-ready": (False, "/health answers 503 for ever"),
    "wrong-port": (False, "the server listens on a port of its own choice"),
    "die-at-start": (False, "the process ends with exit code 1 before it listens"),
    "die-after": (True, "the process kills itself after so many answers"),
    "out-of-memory-at": (True, "the process ends with exit code 1 if so many sessions are active"),
    "hang-after": (True, "the server accepts requests and answers none, after so many answers"),
    "drop-after": (True, "every stream ends without a word after so many tokens"),
    "error-every": (True, "one of so many requests gets the status 500"),
    "worker-dies-after": (True, "a worker process dies after so many answers; the server goes on"),
    "workers-outlive": (False, "workers ignore SIGTERM and the end of the server"),
    "ignore-term": (False, "the server ignores SIGTERM"),
}
MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.45 GiB"


def render_kinds() -> str:
    """Return the help of the option."""
    return "; ".join(kind + ("=N: " if KINDS[kind][0] else ": ") + KINDS[kind][1] for kind in KINDS)


class Faults:
    """The faults of an engine, and how much of it was used."""

    def __init__(self, options: list[str], workers: list[int]) -> None:
        """Take the values of the option. Raises ValueError for an unknown kind or a missing number."""
        self._numbers: dict[str, int] = {}
        self._workers = workers
        self._answers = 0
        self._requests = 0
        for option in options:
            kind, _, number = option.partition("=")
            if kind not in KINDS or KINDS[kind][0] != bool(number) or (number and not number.isdigit()):
                raise ValueError("--fail " + option + " is not a fault. Known are: " + render_kinds())
            self._numbers[kind] = int(number or 1)

    def has(self, kind: str) -> bool:
        return kind in self._numbers

    def find_drop(self) -> int | None:
        """Return the number of tokens after which a stream is cut off."""
        return self._numbers.get("drop-after")

    def begin_request(self, sessions: int) -> bool:
        """Return whether a request fails. sessions: number of active ones, with this request."""
        self._requests += 1
        if sessions >= self._numbers.get("out-of-memory-at", sessions + 1):
            print(MEMORY, file=sys.stderr, flush=True)
            sys.exit(1)
        every = self._numbers.get("error-every", 0)
        return bool(every) and self._requests % every == 0

    def hangs(self) -> bool:
        return self._answers >= self._numbers.get("hang-after", self._answers + 1)

    def end_request(self) -> None:
        """Count an answer, and end what dies after it."""
        self._answers += 1
        if self._answers == self._numbers.get("die-after"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self._answers == self._numbers.get("worker-dies-after") and self._workers:
            os.kill(self._workers[0], signal.SIGKILL)
