"""`python3 row.py check-replay`: the command line of the checks of an AgentX replay on the row's machine."""

from __future__ import annotations

import os
import sys
from typing import Mapping

from .agentic_errors import LIMIT, LIMIT_VARIABLE, METRIC_VARIABLE, check_replay, parse_limit
from .errors import RowError
from .faults import FaultsError, RowFault
from .runner import print_error

USAGE = """\
Usage: python3 row.py check-replay [--result DIR] [--limit SHARE] [--metric PREFIX]

Check that an AgentX replay counts: not too many requests failed, and the server had a metric.

  --result DIR     folder of the replay's results (default: $RESULT_DIR)
  --limit SHARE    largest share of failed requests, from 0 to 1 (default: ${limit}, else {share})
  --metric PREFIX  start of a metric's name that the server must have had (default: ${metric}, else none)
"""


def run_check(arguments: list[str]) -> int:
    """Run the command line and return the exit code. Raises RowError (2) for a wrong command line."""
    if "--help" in arguments:
        usage = USAGE.replace("{limit}", LIMIT_VARIABLE).replace("{share}", LIMIT)
        sys.stdout.write(usage.replace("{metric}", METRIC_VARIABLE))
        return 0
    given = dict(zip(arguments[::2], arguments[1::2]))
    if len(arguments) % 2 or not set(given) <= {"--result", "--limit", "--metric"}:
        raise RowError("Wrong arguments. See row.py check-replay --help.", 2)
    faults = _find_faults(os.environ, given)
    for fault in faults:
        print_error((fault.path + ": " if fault.path else "") + fault.message)
    return int(bool(faults))


def _find_faults(environment: Mapping[str, str], given: Mapping[str, str]) -> list[RowFault]:
    """Return why a replay does not count. An option that is not given is read from the environment.

    Raises RowError (2) if the limit is not a number from 0 to 1, or the folder is not known.
    """
    text = given.get("--limit") or environment.get(LIMIT_VARIABLE) or LIMIT
    limit = parse_limit(text)
    if limit is None:
        raise RowError("The limit of failed requests is " + text + "; expected a number from 0 to 1.", 2)
    folder = given.get("--result") or environment.get("RESULT_DIR")
    if not folder:
        raise RowError("RESULT_DIR is not set. Name the folder of the results with --result.", 2)
    if not os.path.isdir(folder):
        raise RowError(folder + " is not a folder.", 2)
    try:
        check_replay(folder, limit, given.get("--metric") or environment.get(METRIC_VARIABLE, ""))
    except FaultsError as error:
        return error.faults
    return []
