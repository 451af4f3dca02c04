"""Run the steps of a launch, and release what they took on every path.

The first failure decides the exit code. Problems of the cleaning are reported in addition, and change no code.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import time
from typing import Callable

from . import launch_limits as limits
from .command import TIMED_OUT, inherit_environment
from .errors import RowError
from .failure import BENCHMARK, CANCELLED, INFRASTRUCTURE, MAX_EVIDENCE, Failure
from .launch_drivers import (
    DockerDriver,
    DriverError,
    LaunchDriver,
    LocalDriver,
    SlurmDriver,
    ask_checked,
    sweep,
)
from .launch_machine import describe_machine, find_foreign, make_environments, path_exists
from .launch_process import Cancellation, Ended, ProcessRunner
from .launch_programs import name_programs, place_programs
from .launch_steps import CLEANING, RUN, LaunchForm, StepForm, parse_job
from .launch_values import choose_path, compute_port, fill_all, fill_map, fill_text
from .runner import print_line


class MachineError(Exception):
    """A machine that cannot run the row now, but maybe later, or another machine can."""


class Observer:
    """Is called when something happens to a launch; this one does nothing."""

    def begin(self, stage: str) -> None:
        """Take the name of a stage that begins."""

    def fail(self, failure: Failure) -> None:
        """Take the first failure, when it happens."""


class Launcher:
    """A launch on this machine. programs: content by name, see `launch_programs`.

    Attributes:
        failure: the first one; None if there is none so far.
        problems: sentences about what could not be cleaned.
    """

    def __init__(
        self,
        form: LaunchForm,
        runner: str,
        folder: str,
        row: dict[str, str],
        minutes: float,
        observer: Observer,
        programs: dict[str, bytes],
    ) -> None:
        self.failure: Failure | None = None
        self.problems: list[str] = []
        self._form = form
        self._observer = observer
        self._programs = programs
        self._scratch = tempfile.mkdtemp(prefix="infx-launch-")
        self._values = describe_machine(runner, folder, self._scratch)
        inherited = inherit_environment()
        self._benchmark, self._tools = make_environments(inherited, row, form.secrets, form.row_names, runner)
        withheld = [
            name
            for name in os.environ
            if name in form.secrets or (name not in inherited and name.endswith("TOKEN"))
        ]
        self._cancellation = Cancellation()
        self._processes = ProcessRunner(self._cancellation, [os.environ[name] for name in withheld])
        self._ends_at = time.monotonic() + minutes * 60
        has_more = any(step.is_always_run for step in form.steps)
        self._reserve = min(limits.AFTER, minutes * 60 * limits.AFTER_SHARE) if has_more else 0.0
        self._minutes = minutes
        self._begun: list[StepForm] = []
        self._drivers = make_drivers(form.driver, form.job_name, self._values, self._ask)

    def run(self) -> None:
        """Run the launch to its end, with everything released."""
        self._cancellation.listen()
        try:
            self._observer.begin("clean")
            self._prepare()
            for step in self._form.steps:
                if self.failure is None or (step.is_always_run and self.failure.cause != CANCELLED):
                    self._observer.begin(step.name)
                    self._run_step(step)
        except MachineError as error:
            self._fail(Failure(1, INFRASTRUCTURE, "machine", str(error)))
        except RowError as error:
            self._fail(Failure(error.code, BENCHMARK, "refused", error.message))
        finally:
            self._observer.begin("release")
            self._release()
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._cancellation.stop()

    def _fail(self, failure: Failure) -> None:
        """Note a failure. What a cancellation brings about is not a failure of its own."""
        if self._cancellation.number and failure.cause != CANCELLED:
            failure = self._describe_cancellation()
        if self.failure is None:
            self.failure = failure
            self._observer.fail(failure)
        else:
            self.problems.append(failure.message)

    def _prepare(self) -> None:
        """Make sure that nothing of an earlier launch is left, and choose what the launch leaves open.

        Raises MachineError if this machine is not clean, and RowError if it does not have what the row needs.
        """
        for driver in self._drivers:
            problem = sweep(driver, limits.SWEEP, self._find_end)
            if problem:
                raise MachineError("This machine is not clean. " + problem)
        foreign = find_foreign(self._values["workspace"])
        if foreign:
            message = foreign + " belongs to another user, so the next checkout cannot remove it"
            raise MachineError(
                message + ". Give it back: sudo chown -R " + self._values["user"] + " " + foreign
            )
        workspace = self._values["workspace"]
        try:
            place_programs(self._programs, workspace)
        except OSError as error:
            message = str(error.filename) + " cannot be written: " + str(error.strerror) + "."
            raise MachineError(message) from None
        for choice in self._form.choices:
            path = choose_path(choice, lambda path, holds: path_exists(workspace, path, holds))
            if choice.get("create") and not os.path.exists(path):
                os.makedirs(path, exist_ok=True)
            self._values[choice["name"]] = path

    def _run_step(self, step: StepForm) -> None:
        """Run a step and note its failure. Raises RowError if a value is not known, and MachineError without a job."""
        if self._cancellation.number:
            self._fail(self._describe_cancellation())
            return
        if "port" not in self._values and (self._form.port.get("plus") != "job" or "job" in self._values):
            self._values["port"] = compute_port(self._form.port, self._values)
        environment = self._tools
        if step.name == RUN:
            environment = {**self._benchmark, **name_programs(fill_text(self._form.checkout, self._values))}
        environment = {**environment, **fill_map(step.environment, self._values)}
        argv = fill_all(step.argv, self._values)
        output = fill_text(step.output, self._values)
        left = self._ends_at - time.monotonic() - (0.0 if step.is_always_run else self._reserve)
        self._begun.append(step)
        ended = self._processes.run(
            argv, environment, max(min(step.seconds, left), 0.0), self._values["workspace"], output
        )
        if step.grants_job:
            self._take_job(step, ended)
        failure = self._judge(step, ended, left)
        if failure is not None and step.name in CLEANING:
            self.problems.append(failure.message)
        elif failure is not None:
            self._fail(failure)

    def _take_job(self, step: StepForm, ended: Ended) -> None:
        """Keep the id of the allocation, also if the step failed after the grant."""
        job = parse_job(ended.lines)
        if job:
            self._values["job"] = job
        elif not ended.code and not ended.is_cancelled:
            message = "The step " + step.name + " does not say which job it granted"
            raise MachineError(message + "; expected: Granted job allocation <id>. It is released by name.")

    def _judge(self, step: StepForm, ended: Ended, left: float) -> Failure | None:
        """Return why a step failed; None if it did not."""
        if ended.is_cancelled:
            return self._describe_cancellation()
        name = "The benchmark" if step.name == RUN else "The step " + step.name
        cause = BENCHMARK if step.name == RUN else INFRASTRUCTURE
        evidence = [] if step.name == RUN else ended.lines[-MAX_EVIDENCE:]
        if ended.is_overdue:
            minutes = self._minutes if left <= step.seconds else step.seconds / 60
            limit = "the row's limit is " if left <= step.seconds else "its limit is "
            message = name + " took too long and was stopped; " + limit + format(minutes, "g") + " minutes."
            return Failure(TIMED_OUT, cause, "timeout", message, evidence)
        if not ended.code:
            return None
        reason = self._explain(ended) if step.name == RUN else ""
        if reason:
            return Failure(ended.code, INFRASTRUCTURE, "machine", reason)
        if ended.code > 128:
            message = "Signal " + str(ended.code - 128) + " ended " + name.replace("The", "the", 1) + "."
            return Failure(ended.code, cause, "signal", message, evidence)
        message = name + " ended with " + str(ended.code) + "."
        return Failure(ended.code, cause, "exit-code" if step.name == RUN else "step", message, evidence)

    def _explain(self, ended: Ended) -> str:
        reasons = [driver.explain(ended, self._values.get("job", "")) for driver in self._drivers]
        return next((reason for reason in reasons if reason), "")

    def _describe_cancellation(self) -> Failure:
        number = self._cancellation.number
        message = "The launch was cancelled by signal " + str(number) + "."
        return Failure(128 + number, CANCELLED, "cancelled", message)

    def _release(self) -> None:
        """Release what the steps took, in reverse; then look for what is left, and remove it."""
        if self._cancellation.number and self.failure is None:
            self._fail(self._describe_cancellation())
        for step in reversed(self._begun):
            if not step.release:
                continue
            try:
                argv = fill_all(step.release, self._values)
            except RowError:
                continue  # what it names was never known; the driver finds it by name
            try:
                ask_checked(self._ask, argv)
            except DriverError as error:
                self.problems.append("The step " + step.name + " was not released: " + error.message)
        for driver in self._drivers if self._begun else []:
            problem = sweep(driver, limits.SWEEP, self._find_end)
            if problem:
                self.problems.append(problem)
        for problem in self.problems:
            print_line("Cleaning up: " + problem)

    def _ask(self, argv: list[str]) -> Ended:
        """Run a short program within the time that is left."""
        return self._processes.ask(argv, self._tools, self._limit(limits.ASK))

    def _limit(self, seconds: float) -> float:
        """Return a limit in seconds."""
        return min(seconds, max(self._find_end() - time.monotonic(), 0.5))

    def _find_end(self) -> float:
        """Return when everything must have ended: a cancelled launch ends before the runner kills it."""
        cancellation = self._cancellation
        if not cancellation.number:
            return math.inf
        return cancellation.at + limits.CANCEL_GRACE + limits.CANCEL_RELEASE


def make_drivers(
    driver: str, job_name: str, values: dict[str, str], ask: Callable[[list[str]], Ended]
) -> list[LaunchDriver]:
    """Return what may be left on a machine, in the order in which it is removed.

    Programs that talk to docker or Slurm are processes of this machine, so every launch looks for those too.
    """
    local = LocalDriver(values["runner"])
    if driver == "slurm":
        return [SlurmDriver(values["user"], fill_text(job_name, values), ask), local]
    if driver == "docker":
        return [DockerDriver(values["runner"], ask), local]
    return [local]
