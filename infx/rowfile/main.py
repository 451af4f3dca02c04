"""`python3 row.py`: run one row of a plan, or make its result rows."""

from __future__ import annotations

import os
import sys

from .command import run_command
from .errors import RowError
from .plan import RowTask, read_row
from .results import find_missing, find_results, gather_results
from .runner import print_error, print_line, write_output

MAX_NAMES = 20  # of gathered files that are listed


USAGE = """\
Usage: python3 row.py run --plan DIR --id ID --out DIR [--directory DIR]

       python3 row.py process --help
       python3 row.py check-replay --help

Run one row of a plan and gather the results that it leaves. The row command makes them with process.

  --plan DIR       folder that infx shards wrote
  --id ID          the row's id: the start of its job's name
  --out DIR        folder for the results
  --directory DIR  where the row command runs (default: the current folder)
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
        options = _parse(sys.argv[1:])
        if options is None:
            sys.stdout.write(USAGE)
            return 0
        row = read_row(options["--plan"], options["--id"])
        return _run(row, options["--directory"], options["--out"])
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
            "Wrong arguments. Expected: row.py run --plan DIR --id ID --out DIR [--directory DIR]", 2
        )
    return options


def _run(row: RowTask, folder: str, out: str) -> int:
    """Run a row. A command that succeeds without leaving its results has failed."""
    if row.rules and os.environ.get("GITHUB_RUN_ATTEMPT", "1") != "1":
        from .again import check_again  # costs more than everything else here

        check_again(row.rules)
    write_output("artifact-name", row.artifact)  # without it nothing is uploaded: the row did not start
    earlier = find_results(folder, row.gathered)
    code, started_at = run_command(row.command, folder, row.environment, row.minutes)
    names = gather_results(folder, out, row.gathered, earlier, started_at)
    if names:
        more = "" if len(names) <= MAX_NAMES else " and " + str(len(names) - MAX_NAMES) + " more"
        counted = "1 file" if len(names) == 1 else str(len(names)) + " files"
        print_line("Gathered " + counted + " in " + out + ": " + ", ".join(names[:MAX_NAMES]) + more + ".")
    missing = find_missing(names, row.required)
    if missing:
        files = " or ".join(missing)
        print_line("The row command ended with " + str(code) + " and left no new " + files + ".")
    return code or int(bool(missing))
