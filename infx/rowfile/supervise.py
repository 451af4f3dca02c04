"""`python3 supervise.py`: run a client against processes that are started, watched and stopped."""

from __future__ import annotations

import os
import sys

from . import supervise_codes as codes
from .runner import print_line
from .supervise_spec import MAX_BYTES, SuperviseSpec, check_variables, parse_spec

OUT = "INFX_SUPERVISE_OUT"  # variable with the folder for logs and the record
USAGE = """\
Usage: python3 supervise.py SPEC -- COMMAND...
       python3 supervise.py --check SPEC [-- COMMAND...]

Start the processes that the file SPEC (JSON) describes, wait until each answers, and run the command, the client,
with PORT and BASE_URL. Stop everything when the client or a required process ends. --check reports all faults of
the file and starts nothing.

Logs and the record supervise.json are written to $INFX_SUPERVISE_OUT (default: the current folder).

Exit codes: the client's own; 128 and the number of a signal that ended the supervision; and
"""


def main() -> int:
    """Run the command line and return the exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["--help"], ["-h"]):
        sys.stdout.write(
            USAGE + "".join("  " + str(code) + "  " + text + "\n" for code, text in codes.CODES.items())
        )
        return 0
    is_check = arguments[:1] == ["--check"]
    options, _, command = _split(arguments[1:] if is_check else arguments)
    if len(options) != 1 or not (command or is_check):
        problem = "there is no command after --" if len(options) == 1 else "expected one SPEC before --"
        sys.stderr.write("error: wrong arguments: " + problem + ".\n" + USAGE.partition("\n\n")[0] + "\n")
        return codes.WRONG_SPEC
    spec = _read(options[0], command)
    if spec is None:
        return codes.WRONG_SPEC
    if is_check:
        counted = str(len(spec.processes)) + " processes, " + str(len(spec.list_ports())) + " ports"
        print_line(options[0] + " is valid: " + counted + ".")
        return 0
    from .supervise_run import Supervisor  # not needed for a check

    return Supervisor(spec, command, os.environ.get(OUT) or ".", dict(os.environ)).run()


def _split(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    """Return the arguments before and after `--`."""
    if "--" not in arguments:
        return arguments, "", []
    at = arguments.index("--")
    return arguments[:at], "--", arguments[at + 1 :]


def _read(path: str, command: list[str]) -> SuperviseSpec | None:
    """Return the spec; print all faults and return None if it has some."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        print_line("error: " + path + " cannot be read: " + str(error.strerror) + ".")
        return None
    if len(data) > MAX_BYTES:
        print_line("error: " + path + " is larger than " + str(MAX_BYTES) + " bytes.")
        return None
    spec, faults = parse_spec(data)
    if spec is not None:
        faults += check_variables(spec, command, os.environ)
    for fault in faults:
        print_line("error: " + path + ": " + fault)
    return None if faults else spec
