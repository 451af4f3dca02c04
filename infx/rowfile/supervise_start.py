"""Start supervised processes, each when those that it waits for are ready, with new ports if its ports are taken."""

from __future__ import annotations

import time

from . import supervise_codes as codes
from .failure import INFRASTRUCTURE, Failure
from .runner import print_line
from .supervise_events import Events, SuperviseError
from .supervise_evidence import Evidence, describe_end, give_up
from .supervise_ports import PortError, PortHolder
from .supervise_process import SupervisedProcess
from .supervise_ready import Readiness, judge_readiness
from .supervise_stop import Stopper
from .supervise_table import Families
from .supervise_variables import ProcessVariables

_COST = 10  # a look at a process is followed by a pause of at least this many times the look's duration


class Starter:
    """Starts processes and waits until they are ready."""

    def __init__(
        self,
        processes: list[SupervisedProcess],
        variables: ProcessVariables,
        families: Families,
        events: Events,
        evidence: Evidence,
    ) -> None:
        """Take the processes, each behind those that it waits for."""
        self.ports = PortHolder()
        self._processes = processes
        self._by_name = {process.spec.name: process for process in processes}
        self._variables = variables
        self._families = families
        self._events = events
        self._evidence = evidence

    def run(self) -> None:
        """Start everything. Raises SuperviseError."""
        self._choose([port for process in self._processes for port in process.spec.ports])
        while True:
            self._events.reaper.reap()
            self._events.check()
            failure = self._evidence.find_death(self._processes)
            if failure is not None:
                raise SuperviseError(failure)
            for process in self._processes:
                if not process.is_settled:
                    self._advance(process)
            waiting = [process for process in self._processes if not process.is_settled]
            if not waiting:
                return
            due = min((process.next_at for process in waiting if process.child is not None), default=0.0)
            self._events.wait(due - time.monotonic())

    def _choose(self, names: list[str]) -> None:
        try:
            self.ports.choose(names)
        except PortError as error:
            raise SuperviseError(Failure(codes.NO_PORTS, INFRASTRUCTURE, "ports", str(error))) from None

    def _advance(self, process: SupervisedProcess) -> None:
        """Start a process, or look at it."""
        if process.child is None:
            if all(self._by_name[name].is_settled for name in process.spec.after):
                self._start(process)
        elif process.code is not None:
            self._handle_end(process, process.code)
        elif time.monotonic() >= process.next_at:
            self._look(process)

    def _start(self, process: SupervisedProcess) -> None:
        for port in process.spec.ports:
            self.ports.release(port)
        numbers = self.ports.numbers
        process.start(
            self._variables.list_environment(process.spec, numbers), self._variables.list_values(numbers)
        )
        if process.child is None:
            self._refuse(process, codes.NOT_READY, "not-started", process.problem)
            return
        self._events.reaper.add(process.child)
        self._families.add(process.child.pid, process.spec.name)
        if not process.spec.ready_port:
            process.ready_at = time.monotonic()

    def _handle_end(self, process: SupervisedProcess, code: int) -> None:
        message = describe_end(process.spec.name, code) + " before it was ready."
        if process.has_bind_error():
            self._move(process, message + " One of its ports was taken.")
        else:
            self._refuse(process, codes.NOT_READY, "not-ready", message)

    def _look(self, process: SupervisedProcess) -> None:
        began_at = time.monotonic()
        left = process.began_at + process.spec.ready_seconds - began_at
        readiness = self._judge(process, left)
        now = time.monotonic()
        if not readiness.reason:
            process.ready_at = now
            seconds = format(now - process.began_at, ".1f")
            print_line("supervise: " + process.spec.name + " is ready after " + seconds + " s.")
        elif readiness.is_taken:
            self._move(process, "The " + readiness.reason + ".")
        elif left <= 0:
            limit = format(process.spec.ready_seconds, "g")
            message = (
                "The process "
                + process.spec.name
                + " was not ready after "
                + limit
                + " s (`ready.seconds`): "
            )
            self._refuse(process, codes.NOT_READY, "not-ready", message + readiness.reason + ".")
        else:
            pause = codes.PAUSES[min(process.looks, len(codes.PAUSES) - 1)]
            process.looks += 1
            process.next_at = now + min(max(pause, _COST * (now - began_at)), max(left, 0.0))

    def _judge(self, process: SupervisedProcess, left: float) -> Readiness:
        """Return whether a process answers, and has its workers."""
        for _ in range(2):
            wake = self._events.cancellation.wake
            port = self.ports.numbers[process.spec.ready_port]
            readiness = judge_readiness(process.spec, port, self._families.find(), max(left, 0.1), wake)
            if not readiness.is_taken:  # or else it may be a child that has started in the meantime
                break
        if not readiness.reason:
            missing = process.find_workers(self._families.find().get(process.spec.name, []))
            if missing:
                return Readiness("no child has a title like " + missing)
        return readiness

    def _refuse(self, process: SupervisedProcess, code: int, kind: str, message: str) -> None:
        """Go on without a process, or raise SuperviseError if it is required."""
        if process.spec.is_required:
            raise SuperviseError(self._evidence.blame(process, code, kind, message))
        give_up(process, message)

    def _move(self, process: SupervisedProcess, reason: str) -> None:
        """Give a process new ports, and start it again with those that see its ports."""
        process.moves += 1
        if process.moves >= codes.STARTS:
            message = reason + " This happened " + str(process.moves) + " times, with other ports each time."
            failure = self._evidence.blame(process, codes.NO_PORTS, "ports", message)
            failure.cause = INFRASTRUCTURE
            if process.spec.is_required:
                raise SuperviseError(failure)
            give_up(process, message)
            return
        print_line("supervise: " + reason + " " + process.spec.name + " gets new ports.")
        moved = self._find_dependents(process)
        stopper = Stopper(self._families, self._events)
        for other in reversed(moved):
            problem = stopper.stop([other.spec.name], other.spec.grace)
            if problem:
                raise SuperviseError(self._evidence.blame(other, codes.NO_PORTS, "ports", problem))
            other.forget()
        self._choose([port for other in moved for port in other.spec.ports])

    def _find_dependents(self, process: SupervisedProcess) -> list[SupervisedProcess]:
        """Return a process and those that have started and depend on it, in the order in which they started."""
        names, ports = {process.spec.name}, set(process.spec.ports)
        while True:
            more = {
                other.spec.name
                for other in self._processes
                if other.child is not None
                and (names & set(other.spec.after) or ports & self._variables.find_seen(other.spec))
            } - names
            if not more:
                return [other for other in self._processes if other.spec.name in names]
            names |= more
            ports |= {port for name in more for port in self._by_name[name].spec.ports}
