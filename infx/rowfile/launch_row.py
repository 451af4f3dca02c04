"""A row of a plan by its launch: the steps, and then the result row of the client's output."""

from __future__ import annotations

import os
import sys
import time

from .command import inherit_environment
from .errors import RowError
from .failure import BENCHMARK, INFRASTRUCTURE, Failure
from .launch import Launcher, Observer
from .launch_command import run_launch
from .launch_machine import find_runner
from .launch_process import Cancellation, ProcessRunner
from .launch_programs import read_programs
from .launch_steps import RUN, LaunchForm, read_launch
from .plan import RowTask
from .record import JobRecord
from .results import find_missing, find_results
from .runner import ROW_FILE
from .supervised import take_over

PROCESS_SECONDS = 600.0
_EXPLAINED = ("exit-code", "signal")  # kinds of failures that the benchmark's own record may explain


class _Recorder(Observer):
    """Writes a launch into the record of the job. The benchmark is the stage `command`, as without a launch."""

    def __init__(self, record: JobRecord) -> None:
        self._record = record

    def begin(self, stage: str) -> None:
        self._record.begin("command" if stage == RUN else stage)

    def fail(self, failure: Failure) -> None:
        self._record.fail(
            failure.kind,
            failure.message,
            failure.code,
            cause=failure.cause,
            retriable=failure.cause == INFRASTRUCTURE or failure.kind == "signal",
            evidence=failure.evidence,
        )


def run_launched(row: RowTask, plan: str, folder: str, record: JobRecord) -> tuple[int, float] | None:
    """Run the launch of a row, and make its result row if the benchmark did not.

    Returns: the exit code, and when it started, in seconds since 1970; None if the row has no launch. Raises RowError
    if the row cannot run on this runner.
    """
    record.begin("prepare")
    try:
        runner = find_runner(os.environ)
        form = read_launch(plan, row.id, runner)
        programs = {} if form is None else read_programs(plan)
    except RowError as error:
        record.fail("refused", error.message, error.code, cause=INFRASTRUCTURE)
        raise
    return None if form is None else _run(row, form, programs, runner, folder, record)


def _run(
    row: RowTask, form: LaunchForm, programs: dict[str, bytes], runner: str, folder: str, record: JobRecord
) -> tuple[int, float]:
    started_at = time.time()
    name = row.environment.get("RESULT_FILENAME", "")
    outputs = [name + ".json", name + ".jsonl"]
    earlier = find_results(folder, [*outputs, *row.gathered])
    recorder = _Recorder(record)
    launcher = Launcher(form, runner, folder, row.environment, row.minutes, recorder, programs)
    failure, problems = run_launch(launcher)
    Cancellation().listen()  # a signal does not end the gathering of what the launch left
    record.add_leftovers(problems)
    if failure is None or (failure.cause == BENCHMARK and failure.kind in _EXPLAINED):
        take_over(record, folder, started_at, failure.code if failure else 0)
    if failure is not None:
        return failure.code, started_at
    later = find_results(folder, [*outputs, *row.gathered])
    new = [name for name, state in later.items() if state != earlier.get(name)]
    if not row.is_accuracy and find_missing(new, row.required) and any(name in outputs for name in new):
        return _process(row, runner, folder, record), started_at
    return 0, started_at


def _process(row: RowTask, runner: str, folder: str, record: JobRecord) -> int:
    """Make the result row of the client's output, as a row command does, and return the exit code."""
    record.begin("process")
    program = os.path.abspath(sys.argv[0])
    environment = {**inherit_environment(), "RUNNER_NAME": runner, **row.environment, ROW_FILE: program}
    cancellation = Cancellation()
    cancellation.listen()  # the benchmark's client has ended, and its output is small
    argv = [sys.executable, "-I", "-S", program, "process"]
    ended = ProcessRunner(cancellation, []).run(argv, environment, PROCESS_SECONDS, folder)
    if ended.code:
        message = "The client's output is not a good result: process ended with " + str(ended.code) + "."
        record.fail("process", message, ended.code, evidence=ended.lines)
    return ended.code
