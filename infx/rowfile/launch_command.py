"""`row.py launch` and `row.py clean`: run the launch of a row, and remove what launches of this runner left."""

from __future__ import annotations

import os

from . import launch_limits as limits
from .command import inherit_environment
from .errors import RowError
from .failure import Failure
from .launch import Launcher, Observer, make_drivers
from .launch_drivers import MARK, make_mark, sweep
from .launch_machine import describe_machine, find_runner
from .launch_process import Cancellation, ProcessRunner
from .launch_programs import read_programs
from .launch_steps import find_driver, has_launches, read_launch
from .plan import read_row
from .runner import print_error, print_line, stop_commands

USAGE = """\
Usage: python3 row.py launch --plan DIR --id ID [--runner NAME] [--directory DIR]
       python3 row.py clean --plan DIR [--runner NAME]

launch runs the steps of a row on this machine, and releases what they took. clean removes processes, containers and
Slurm jobs that earlier launches of this runner left. Nothing of another runner is touched.

  --plan DIR       folder that infx shards wrote
  --id ID          the row's id: the start of its job's name
  --runner NAME    this runner's name (default: $RUNNER_NAME)
  --directory DIR  checkout that is measured (default: the current folder)
"""


def run_launch_command(arguments: list[str]) -> int:
    """Run the command line and return the exit code. Raises RowError."""
    if "--help" in arguments:
        print(USAGE, end="")  # noqa: T201
        return 0
    options = _parse(arguments)
    if arguments[0] == "clean" and not has_launches(options["--plan"]):
        return 0
    runner = options.get("--runner") or find_runner(os.environ)
    if arguments[0] == "clean":
        driver, job_name = find_driver(options["--plan"], runner)
        return clean(runner, driver, job_name)
    row = read_row(options["--plan"], options["--id"])
    form = read_launch(options["--plan"], row.id, runner)
    if form is None:
        raise RowError("The row " + row.id + " has no launch in this plan; run it with: row.py run.")
    folder = options.get("--directory", ".")
    programs = read_programs(options["--plan"])
    launcher = Launcher(form, runner, folder, row.environment, row.minutes, Observer(), programs)
    failure, _ = run_launch(launcher)
    return failure.code if failure else 0


def _parse(arguments: list[str]) -> dict[str, str]:
    """Return the value of each option. Raises RowError (2) for a wrong command line."""
    options = dict(zip(arguments[1::2], arguments[2::2]))
    needed = {"--plan", "--id"} if arguments[0] == "launch" else {"--plan"}
    known = {*needed, "--runner", "--directory"} if arguments[0] == "launch" else {*needed, "--runner"}
    if len(arguments) % 2 != 1 or not needed <= set(options) <= known:
        raise RowError("Wrong arguments. " + USAGE.partition("\n\n")[0], 2)
    return options


def run_launch(launcher: Launcher) -> tuple[Failure | None, list[str]]:
    """Run a launch, and return its failure and the problems of cleaning up."""
    stop_commands()
    launcher.run()
    if launcher.failure is not None:
        print_error(launcher.failure.message)
    return launcher.failure, launcher.problems


def clean(runner: str, driver: str, job_name: str) -> int:
    """Remove what launches of a runner left on this machine, and return the exit code: 1 if something is left."""
    cancellation = Cancellation()
    cancellation.listen()
    tools = {**inherit_environment(), MARK: make_mark(runner)}
    processes = ProcessRunner(cancellation, [])
    values = describe_machine(runner, ".", "")
    drivers = make_drivers(driver, job_name, values, lambda argv: processes.ask(argv, tools, limits.ASK))
    problems = [problem for problem in (sweep(driver, limits.SWEEP) for driver in drivers) if problem]
    cancellation.stop()
    for problem in problems:
        print_error(problem)
    if not problems:
        print_line("Nothing of the runner " + runner + " is left on this machine.")
    return 1 if problems else 0
