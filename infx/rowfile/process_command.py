"""`python3 row.py process`: the command line of `process` on the row's machine."""

from __future__ import annotations

import os
import sys

from .clients import DETECT, NAMES
from .errors import RowError
from .process import ProcessOptions, ProcessReport, process
from .runner import ROW_FILE, print_error, print_line

USAGE = """\
Usage: python3 row.py process [--result FILE] [--client NAME] [--requests N] [--out DIR] [--all]

Make the result row of a client's output. The environment of the row command says what was measured.

  --result FILE   the client's output (default: $RESULT_FILENAME.json; AgentX: the folder $RESULT_DIR)
  --client NAME   the client that wrote it: {clients} (default: {default}, which detects it)
  --requests N    number of requests, if the client's output does not have it
  --out DIR       folder for agg_$RESULT_FILENAME.json (default: the current folder)
                  (AgentX: $AGENTIC_OUTPUT_DIR, if it is set, and there without agg_)
  --all           make a row of every $RESULT_FILENAME_*.json of a multi-node row, in the folder of --result
"""


def run_process(arguments: list[str]) -> int:
    """Run the command line and return the exit code. Raises RowError (2) for a wrong command line."""
    if "--help" in arguments:
        sys.stdout.write(render_usage())
        return 0
    options = parse_options(arguments)
    try:
        report = process(options, os.environ)
    except OSError as error:
        raise RowError(str(error.filename or options.out) + ": " + str(error.strerror) + ".", 2) from None
    show_report(report)
    return int(bool(report.faults))


def render_usage() -> str:
    """Return the help of the command."""
    clients = ", ".join(name for name in NAMES if name != DETECT)
    return USAGE.replace("{clients}", clients).replace("{default}", DETECT)


def parse_options(arguments: list[str]) -> ProcessOptions:
    """Return the options. Raises RowError (2) for a wrong command line."""
    given: dict[str, str] = {}
    rest = [word for word in arguments if word != "--all"]
    given.update(zip(rest[::2], rest[1::2]))
    known = {"--result", "--client", "--requests", "--out"}
    if len(rest) % 2 or not set(given) <= known:
        raise RowError("Wrong arguments. See row.py process --help.", 2)
    client = given.get("--client", DETECT)
    if client not in NAMES:
        raise RowError("No client is called " + client + ". See row.py process --help.", 2)
    requests = given.get("--requests", "")
    if requests and not (requests.isascii() and requests.isdigit() and int(requests)):
        raise RowError("--requests is " + requests + "; expected a number of 1 or more.", 2)
    return ProcessOptions(
        result=given.get("--result", ""),
        out=given.get("--out", "."),
        client=client,
        requested=int(requests) if requests else None,
        has_all="--all" in arguments,
    )


def show_report(report: ProcessReport) -> None:
    """Print a report to stderr."""
    for note in report.notes:
        print_line(note)
    for fault in report.faults:
        message = (fault.path + ": " if fault.path else "") + fault.message
        if os.environ.get(ROW_FILE):  # the runner ignores commands of a row command
            print_line("error: " + message)
        else:
            print_error(message)
    for path in report.written:
        print_line("Wrote " + path + ".")
