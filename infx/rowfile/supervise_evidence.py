"""The failures of supervised processes, with the last lines of a log as evidence."""

from __future__ import annotations

from typing import Mapping

from . import supervise_codes as codes
from .failure import BENCHMARK, Failure
from .launch_text import Hiding
from .record import MAX_TEXT
from .runner import print_line
from .supervise_process import SupervisedProcess

MAX_LINES = 20  # of a log
_SECRET_ENDS = ("TOKEN", "SECRET", "PASSWORD", "API_KEY", "ACCESS_KEY", "CREDENTIALS")


class Evidence:
    """Makes failures. Values of secrets are not in their lines, because the record of a job is public."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._hidden = [value for name, value in environment.items() if name.upper().endswith(_SECRET_ENDS)]

    def hide(self, lines: list[str]) -> list[str]:
        """Return the last lines without secrets."""
        hiding = Hiding(self._hidden)
        text = hiding.take("\n".join(lines[-MAX_LINES:]).encode(errors="replace")) + hiding.end()
        shown = text.decode(errors="replace").replace("\0", "").split("\n")
        return [line[:MAX_TEXT] for line in shown if line]

    def blame(self, process: SupervisedProcess, code: int, kind: str, message: str) -> Failure:
        """Return a failure of a process, and print the end of its log."""
        lines = self.hide(process.list_last_lines())
        if lines:
            print_line("supervise: the last lines of " + process.log + ":")
        else:
            print_line("supervise: " + process.log + " is empty.")
        for line in lines:
            print_line("  " + line)
        return Failure(code, BENCHMARK, kind, message, lines)

    def find_death(self, processes: list[SupervisedProcess]) -> Failure | None:
        """Return the failure of the first required process that has ended, or that has lost a worker."""
        for process in processes:
            if process.ready_at is None or process.is_given_up:
                continue
            if process.code is not None:
                message = describe_end(process.spec.name, process.code) + " before the client ended."
                if process.spec.is_required:
                    return self.blame(process, codes.DIED, "process-ended", message)
                give_up(process, message)
            elif process.spec.is_required and process.workers:
                worker = process.find_dead_worker()
                if worker:
                    message = "A worker of " + process.spec.name + " ended before the client: " + worker + "."
                    return self.blame(process, codes.DIED, "worker-ended", message)
        return None


def describe_end(name: str, code: int) -> str:
    """Return how a process ended, as the beginning of a sentence."""
    if code > 128:
        return "Signal " + str(code - 128) + " ended the process " + name
    return "The process " + name + " ended with " + str(code)


def give_up(process: SupervisedProcess, message: str) -> None:
    """Go on without a process that is not required."""
    process.is_given_up = True
    print_line("supervise: " + message + " It is not required.")
