"""`python3 row.py`: run one row of a plan, make its result rows, or judge its scores."""

from __future__ import annotations

import os
import sys

from .command import TIMED_OUT, run_command
from .errors import RowError
from .plan import LAUNCHES, RowTask, read_row
from .record import SUPERVISED, JobRecord
from .results import find_missing, find_results, gather_results
from .runner import print_error, print_line, write_output

MAX_NAMES = 20  # of gathered files that are listed


USAGE = """\
Usage: python3 row.py run --plan DIR --id ID --out DIR [--directory DIR]

Run one row of a plan and gather the results that it leaves. If the plan has launches, the row's launch on this runner
runs; otherwise the row command. The row command makes the results with process.

  --plan DIR       folder that infx shards wrote
  --id ID          the row's id: the start of its job's name
  --out DIR        folder for the results
  --directory DIR  where the row command runs (default: the current folder)

Other commands; --help after a command explains it:

  launch           run the launch of a row, and gather nothing
  clean            remove what earlier launches of this runner left
  process          make the result row of a client's output
  check-replay     judge a client's own totals of a replay
  scores           judge the scores of an accuracy run
"""


def main() -> int:
    """Run the command line and return the exit code."""
    try:
        if sys.argv[1:2] == ["process"]:
            from .process_command import run_process  # a row's start does not pay for it

            return run_process(sys.argv[2:])
        if sys.argv[1:2] == ["check-replay"]:
            from .check_command import run_check

            return run_check(sys.argv[2:])
        if sys.argv[1:2] == ["scores"]:
            from .score_command import run_scores  # costs more than a row's start

            return run_scores(sys.argv[2:])
        if sys.argv[1:2] in (["launch"], ["clean"]):
            from .launch_command import run_launch_command

            return run_launch_command(sys.argv[1:])
        options = _parse(sys.argv[1:])
        if options is None:
            sys.stdout.write(USAGE)
            return 0
        row = read_row(options["--plan"], options["--id"])
        return _run(row, options["--plan"], options["--directory"], options["--out"])
    except RowError as error:
        print_error(error.message)
        return error.code


def _parse(arguments: list[str]) -> dict[str, str] | None:
    """Return the value of each option; None if help is asked for. Raises RowError (2) for a wrong command line.

    `argparse` does the same, but its import would be a fifth of a row's start.
    """
    if "--help" in arguments:
        return None
    options = {"--directory": "."}
    options.update(zip(arguments[1::2], arguments[2::2]))
    known = {"--plan", "--id", "--out", "--directory"}
    if arguments[:1] != ["run"] or len(arguments) % 2 != 1 or set(options) != known:
        raise RowError(
            "Wrong arguments: "
            + (" ".join(arguments) or "none")
            + ". Expected: row.py run --plan DIR --id ID --out DIR "
            "[--directory DIR]. All commands: row.py --help",
            2,
        )
    return options


def _run(row: RowTask, plan: str, folder: str, out: str) -> int:
    """Run a row. A command that succeeds without leaving its results has failed."""
    if row.rules and os.environ.get("GITHUB_RUN_ATTEMPT", "1") != "1":
        from .again import check_again  # costs more than everything else here

        check_again(row.rules)
    write_output("artifact-name", row.artifact)  # without it nothing is uploaded: the row did not start
    record = JobRecord(row.id, row.artifact, row.environment)
    try:
        return _run_stages(row, plan, folder, out, record)
    except RowError as error:
        record.fail("refused", error.message, error.code)
        raise
    finally:
        record.write(out)


def _run_stages(row: RowTask, plan: str, folder: str, out: str, record: JobRecord) -> int:
    """Run the command, gather its files, and judge the scores of an accuracy run. Return the exit code."""
    earlier = find_results(folder, row.gathered)
    code, started_at = _run_benchmark(row, plan, folder, record)
    record.begin("gather")
    names = gather_results(folder, out, row.gathered, earlier, started_at)
    record.add_files(names)
    if names:
        more = "" if len(names) <= MAX_NAMES else " and " + str(len(names) - MAX_NAMES) + " more"
        counted = "1 file" if len(names) == 1 else str(len(names)) + " files"
        print_line("Gathered " + counted + " in " + out + ": " + ", ".join(names[:MAX_NAMES]) + more + ".")
    missing = find_missing(names, row.required)
    if missing:
        files = " or ".join(missing)
        message = "The row command ended with " + str(code) + " and left no new " + files + "."
        record.fail("missing-results", message, 1, evidence=names)
        print_line(message)
    if code or missing:
        return code or 1
    return _judge_scores(row, plan, out, record) if row.is_accuracy else 0


def _run_benchmark(row: RowTask, plan: str, folder: str, record: JobRecord) -> tuple[int, float]:
    """Run the launch of a row if the plan has one, or else the row command.

    Returns: the exit code, and when the benchmark started, in seconds since 1970.
    """
    if os.path.exists(os.path.join(plan, LAUNCHES)):
        from .launch_row import run_launched  # costs more than a row's start

        launched = run_launched(row, plan, folder, record)
        if launched is not None:
            return launched
    record.begin("command")
    code, started_at = run_command(row.command, folder, row.environment, row.minutes)
    if code:
        record.fail(*_describe_end(code, row), code, retriable=code > 128)
    _take_over(record, folder, started_at, code)
    return code, started_at


def _take_over(record: JobRecord, folder: str, started_at: float, code: int) -> None:
    """Add what the supervision of the benchmark has recorded, if it was supervised."""
    if os.path.exists(os.path.join(folder, SUPERVISED)):
        from .supervised import take_over  # costs more than a row's start

        take_over(record, folder, started_at, code)


def _describe_end(code: int, row: RowTask) -> tuple[str, str]:
    """Return the class of a command's failure, and a sentence."""
    if code == TIMED_OUT:
        return "timeout", "The row command ended with 124; its limit is " + format(
            row.minutes, "g"
        ) + " minutes."
    if code > 128:
        return "signal", "Signal " + str(code - 128) + " ended the row command."
    return "exit-code", "The row command ended with " + str(code) + "."


def _judge_scores(row: RowTask, plan: str, out: str, record: JobRecord) -> int:
    """Judge the scores of an accuracy run, and return the exit code."""
    from .score_command import check_row, describe_failure, print_report  # costs more than a row's start

    record.begin("scores")
    report = check_row(row, plan, out)
    code = print_report(report)
    if code:
        record.fail("scores", describe_failure(report), code)
    return code
