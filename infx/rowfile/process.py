"""`process`: make result rows from a client's output and the environment of the row.

The same code runs on the row's machine (`python3 row.py process`) and as `infx results process`.
"""

from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple

from .clients import AIPERF, DETECT, read_measurement
from .faults import FaultsError, RowFault
from .fixed_row import make_row, parse_identity
from .layout import RoleGpus, parse_layout
from .outcome import Outcome, judge_outcome
from .power import PowerReport, add_power
from .power_source import check_power, find_power
from .values import Variables
from .written import remove_file, write_json

_UNKNOWN = (
    "The client's output does not say how many requests were sent, so failed requests are not known. "
    "Name the number with --requests."
)
NAME = "RESULT_FILENAME"  # the variable with the name that all files of a row share


class ProcessOptions(NamedTuple):
    """The command line of `process`.

    Attributes:
        result: file with the client's output, or folder of all outputs; empty for `<RESULT_FILENAME>.json`.
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
    if _is_replay(options, environment):
        return _process_replay(options, environment)
    if options.has_all:
        from .batch import process_all

        return process_all(options, environment)
    return process_one(options, environment, environment.get(NAME, ""), None)


def _is_replay(options: ProcessOptions, environment: Mapping[str, str]) -> bool:
    """Return whether the client's output is that of an AgentX replay: by the option, else by the environment."""
    if options.client != DETECT:
        return options.client == AIPERF
    scenario, folder = environment.get("SCENARIO_TYPE"), environment.get("AGENTIC_OUTPUT_DIR")
    if options.has_all or (options.result and not os.path.isdir(options.result)):
        return False
    return scenario == "agentic-coding" if scenario else bool(folder)


def _process_replay(options: ProcessOptions, environment: Mapping[str, str]) -> ProcessReport:
    from .agentic_process import process_agentic, refuse_all

    out = "" if options.out == "." else options.out
    try:
        if options.has_all:
            refuse_all()
        done = process_agentic(environment, options.result, out)
    except FaultsError as error:
        return ProcessReport([], error.faults, [])
    return ProcessReport([done.path], done.faults, done.notes)


def process_one(
    options: ProcessOptions,
    environment: Mapping[str, str],
    name: str,
    role_gpus: RoleGpus | None,
    conc: int | None = None,
) -> ProcessReport:
    """Make the row of one client's output and write it as `agg_<name>.json`; an earlier row is removed first.

    conc: the concurrency that the output must have, if it is known.
    """
    variables = Variables(environment)
    variables.require(NAME)
    if os.path.basename(name) != name:
        variables.refuse(
            "result-name-invalid", NAME + " is " + name + "; expected a file name without a folder."
        )
    else:
        remove_file(os.path.join(options.out, "agg_" + name + ".json"))
        remove_file(os.path.join(options.out, "power_validation_" + name + ".json"))
    identity, layout = parse_identity(variables), parse_layout(variables, role_gpus)
    faults = variables.find_faults()
    try:
        measurement = read_measurement(options.result or find_output(name), options.client)
        row = make_row(identity, layout, measurement, environment.get("MODEL", ""))
    except FaultsError as error:
        return ProcessReport([], [*faults, *error.faults], [])
    if conc is not None and row["conc"] != conc:
        message = "max_concurrency is " + str(row["conc"]) + ", and the name has " + str(conc) + "."
        faults = [*faults, RowFault("concurrency-mismatch", message, measurement.path)]
    outcome = judge_outcome(measurement.values, options.requested, measurement.path)
    if outcome.values is None:
        faults = [*faults, *outcome.faults]  # the numbers of requests contradict each other
    if faults:
        return ProcessReport([], faults, [])
    power = find_power(environment, layout, measurement)
    target = "agg_" + name + ".json"
    write_json(options.out, "power_validation_" + name + ".json", power.sidecar)
    write_json(options.out, target, _complete(row, power, outcome))
    faults = [*outcome.faults, *check_power(environment, power)]
    return ProcessReport([os.path.join(options.out, target)], faults, [] if outcome.is_known else [_UNKNOWN])


def find_output(name: str) -> str:
    """Return the name of a client's output: `<name>.json`, or `<name>.jsonl` if only that exists."""
    lines = name + ".jsonl"
    return lines if os.path.exists(lines) and not os.path.exists(name + ".json") else name + ".json"


def _complete(row: dict[str, Any], power: PowerReport, outcome: Outcome) -> dict[str, Any]:
    if outcome.values is None:
        return add_power(row, power)
    return {**add_power(row, power), "benchmark_outcome": outcome.values}
