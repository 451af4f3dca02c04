"""`python3 row.pyz run`: run one row of a plan."""

from __future__ import annotations

import argparse
import os

from .command import run_command
from .errors import RowError
from .plan import RowTask, read_row
from .results import find_missing, find_results, gather_results
from .runner import print_error, print_line, write_output

MAX_NAMES = 20  # of gathered files that are listed


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    options = _parse(arguments)
    try:
        row = read_row(options.plan, options.id)
        return _run(row, options.directory, options.out)
    except RowError as error:
        print_error(error.message)
        return error.code


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="row.pyz", description="The runner's part of a sweep.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run one row of a plan and gather the results that it leaves")
    run.add_argument("--plan", required=True, metavar="DIR", help="folder that infx shards wrote")
    run.add_argument("--id", required=True, metavar="ID", help="the row's id: the start of its job's name")
    run.add_argument(
        "--directory", default=".", metavar="DIR", help="where the row command runs (default: .)"
    )
    run.add_argument("--out", required=True, metavar="DIR", help="folder for the results")
    return parser.parse_args(arguments)


def _run(row: RowTask, folder: str, out: str) -> int:
    """Run a row. A command that succeeds without leaving its results has failed."""
    if row.rules is not None and os.environ.get("GITHUB_RUN_ATTEMPT", "1") != "1":
        from .again import check_again  # costs more than everything else here

        check_again(row.rules)
    write_output("artifact-name", row.artifact)  # without it nothing is uploaded: the row did not start
    earlier = find_results(folder, row.gathered)
    ended = run_command(row.command, folder, row.environment, row.minutes)
    names = gather_results(folder, out, row.gathered, earlier, ended.started_at)
    if names:
        more = "" if len(names) <= MAX_NAMES else " and " + str(len(names) - MAX_NAMES) + " more"
        counted = "1 file" if len(names) == 1 else str(len(names)) + " files"
        print_line("Gathered " + counted + " in " + out + ": " + ", ".join(names[:MAX_NAMES]) + more + ".")
    missing = find_missing(names, row.required)
    if missing:
        files = " or ".join(missing)
        print_line("The row command ended with " + str(ended.code) + " and left no new " + files + ".")
    return ended.code or int(bool(missing))
