"""Supervise processes while a client measures them: start, watch, stop, and say whose failure it was."""

from __future__ import annotations

import os
import traceback

from . import supervise_codes as codes
from .failure import BENCHMARK, INFRASTRUCTURE, Failure
from .runner import print_line
from .supervise_client import SupervisedClient
from .supervise_events import Events, SuperviseError
from .supervise_evidence import Evidence
from .supervise_memory import GpuMemory
from .supervise_process import SupervisedProcess, adopt_orphans, describe_missing, has_program
from .supervise_record import SuperviseRecord
from .supervise_spec import CLIENT, SuperviseSpec
from .supervise_start import Starter
from .supervise_stop import Stopper
from .supervise_table import Families
from .supervise_text import fill_variables
from .supervise_variables import ProcessVariables


class Supervisor:
    """Supervised processes on this machine, and their client."""

    def __init__(
        self, spec: SuperviseSpec, command: list[str], folder: str, environment: dict[str, str]
    ) -> None:
        """Take a spec without faults.

        folder: for logs and the record. environment: variables of all processes, and of the texts.
        """
        self._spec = spec
        self._command = command
        self._folder = folder
        self._environment = environment
        self._run = os.urandom(8).hex()  # the mark of this run's processes
        self._events = Events()
        self._record = SuperviseRecord(folder)
        self._processes = [SupervisedProcess(process, folder) for process in spec.processes]

    def run(self) -> int:
        """Run to the end, with everything stopped, and return the exit code."""
        self._events.cancellation.listen()
        ports: dict[str, int] = {}
        try:
            self._record.begin("check")
            try:
                families = self._prepare()
                evidence = Evidence(self._environment)
            except OSError as error:
                message = str(error.filename) + " cannot be used: " + str(error.strerror) + "."
                raise SuperviseError(Failure(codes.MACHINE, INFRASTRUCTURE, "machine", message)) from None
            ports = self._run_stages(families, evidence)
        except SuperviseError as error:
            self._fail(error.failure)
        except Exception as error:  # everything is stopped; the record must say why
            traceback.print_exc()
            message = "supervise has failed itself: " + repr(error)
            self._fail(Failure(codes.MACHINE, INFRASTRUCTURE, "internal", message))
        code = self._record.failure.code if self._record.failure else 0
        self._record.write(self._processes, ports, code)
        self._events.cancellation.stop()
        return code

    def _prepare(self) -> Families:
        """Make sure that the machine has what is needed. Raises OSError."""
        os.makedirs(self._folder, exist_ok=True)
        self._record.clear()
        adopt_orphans()
        return Families(self._run)

    def _run_stages(self, families: Families, evidence: Evidence) -> dict[str, int]:
        """Run the client between the start and the end of the processes. Return the ports."""
        memory = GpuMemory(self._environment, self._spec.limits["gpu-memory"], self._events)
        variables = ProcessVariables(self._spec, self._environment, self._run)
        starter = Starter(self._processes, variables, families, self._events, evidence)
        try:
            self._check_programs(variables)
            self._record.begin("gpu-memory")
            memory.wait_clean()
            self._record.begin("start")
            starter.run()
            self._record.begin(CLIENT)
            values = variables.list_values(starter.ports.numbers)
            command = [fill_variables(text, values) for text in self._command]
            environment = variables.list_client_environment(starter.ports.numbers)
            SupervisedClient(self._events, families, evidence).run(
                command, environment, self._spec.limits, self._processes
            )
        except SuperviseError as error:
            self._fail(error.failure)
        finally:
            starter.ports.release_all()
            self._stop(families, memory)
        return starter.ports.numbers

    def _check_programs(self, variables: ProcessVariables) -> None:
        """Raise SuperviseError if a program does not exist: a server may take half an hour until the next one starts."""
        for process in self._processes:
            program, path = process.spec.argv[0], variables.find_path(process.spec)
            if process.spec.is_required and not has_program(program, path):
                message = describe_missing("process " + process.spec.name, program)
                raise SuperviseError(Failure(codes.NOT_READY, BENCHMARK, "not-started", message))
        if not has_program(self._command[0], self._environment.get("PATH")):
            message = describe_missing("client", self._command[0])
            raise SuperviseError(Failure(codes.NOT_STARTED, BENCHMARK, "not-started", message))

    def _fail(self, failure: Failure) -> None:
        print_line("supervise: " + failure.message)
        self._record.fail(failure)

    def _stop(self, families: Families, memory: GpuMemory) -> None:
        """Stop the client and then the processes, in reverse; then wait for the memory of the GPUs."""
        self._record.begin("stop")
        stopper = Stopper(families, self._events)
        graces = {CLIENT: codes.CLIENT_GRACE}
        graces.update({process.spec.name: process.spec.grace for process in reversed(self._processes)})
        for name, grace in graces.items():
            names = [*graces, ""] if self._events.cancellation.number else [name]  # no time to do it in order
            self._report(stopper.stop(names, grace))
        self._report(stopper.stop([""], codes.CLIENT_GRACE))
        self._record.begin("gpu-memory-back")
        self._report(memory.wait_back())
        try:
            self._events.check()
        except SuperviseError as error:
            if self._record.failure is None:
                self._fail(error.failure)

    def _report(self, problem: str) -> None:
        if problem:
            self._record.add_leftover(problem)
