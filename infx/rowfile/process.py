"""`process`: make result rows from a client's output and the environment of the row.

The same code runs on the row's machine (`python3 row.py process`) and as `infx results process`.
"""

from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple

from .clients import DETECT, Measurement, read_measurement
from .faults import FaultsError, RowFault
from .fixed_row import make_row, parse_identity
from .layout import RoleGpus, parse_layout
from .outcome import judge_outcome
from .values import Variables
from .written import remove_file, write_json

NAME = "RESULT_FILENAME"  # the variable with the name that all files of a row share


class ProcessOptions(NamedTuple):
    """The command line of `process`.

    Attributes:
        result: file with the client's output; empty for `<RESULT_FILENAME>.json`.
        out: folder for the rows.
        client: the client that wrote the file, or DETECT.
        requested: number of requests that the client was to send, if its output does not have it.
        has_all: whether every `<RESULT_FILENAME>_*.json` becomes a row.
    """

    result: str = ""
    out: str = "."
    client: str = DETECT
    requested: int | None = None
    has_all: bool = False


class ProcessReport(NamedTuple):
    """What was done.

    Attributes:
        written: paths of the written rows.
        faults: all faults; if there is one, the exit code is 1.
        notes: sentences about things that are not faults.
    """

    written: list[str]
    faults: list[RowFault]
    notes: list[str]


def process(options: ProcessOptions, environment: Mapping[str, str]) -> ProcessReport:
    """Make rows of the clients' outputs, and write them as `agg_*.json`."""
    if options.has_all:
        from .batch import process_all

        return process_all(options, environment)
    return process_one(options, environment, environment.get(NAME, ""), None)


def process_one(
    options: ProcessOptions, environment: Mapping[str, str], name: str, role_gpus: RoleGpus | None
) -> ProcessReport:
    """Make the row of one client's output and write it as `agg_<name>.json`; an earlier row is removed first."""
    target = "agg_" + name + ".json"
    variables = Variables(environment)
    variables.require(NAME)
    if os.path.basename(name) != name:
        variables.refuse(
            "result-name-invalid", NAME + " is " + name + "; expected a file name without a folder."
        )
    else:
        remove_file(os.path.join(options.out, target))
    identity, layout = parse_identity(variables), parse_layout(variables, role_gpus)
    faults = variables.find_faults()
    try:
        measurement = read_measurement(options.result or find_output(name), options.client)
        row = make_row(identity, layout, measurement, environment.get("MODEL", ""))
    except FaultsError as error:
        return ProcessReport([], [*faults, *error.faults], [])
    if faults:
        return ProcessReport([], faults, [])
    return _write(options, target, row, measurement)


def find_output(name: str) -> str:
    """Return the name of a client's output: `<name>.json`, or `<name>.jsonl` if only that exists."""
    lines = name + ".jsonl"
    return lines if os.path.exists(lines) and not os.path.exists(name + ".json") else name + ".json"


def _write(
    options: ProcessOptions, target: str, row: dict[str, Any], measurement: Measurement
) -> ProcessReport:
    outcome = judge_outcome(measurement.values, options.requested, measurement.path)
    if outcome.values is not None:
        row["benchmark_outcome"] = outcome.values
    elif outcome.faults:  # the numbers of requests contradict each other
        return ProcessReport([], outcome.faults, [])
    notes = []
    if not outcome.is_known:
        notes.append(
            measurement.path + " does not say how many requests were sent, so failed requests are not known. "
            "Name the number with --requests."
        )
    write_json(options.out, target, row)
    return ProcessReport([os.path.join(options.out, target)], outcome.faults, notes)
