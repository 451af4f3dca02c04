"""Process an AgentX replay: read what the client left, and write the aggregate with its power and its outcome."""

from __future__ import annotations

import os
from typing import Mapping, NamedTuple

from .agentic import ReplayFiles, make_aggregate
from .agentic_deployment import AgenticVariables, describe_deployment
from .agentic_errors import LIMIT, LIMIT_VARIABLE, parse_limit
from .agentic_outcome import describe_outcome, judge_replay
from .agentic_power import find_replay_power
from .faults import FaultsError, RowFault
from .power import add_power
from .power_source import check_power
from .values import show_value
from .written import remove_file, write_json

NAME = "RESULT_FILENAME"  # the variable with the name that all files of a row share
RESULTS = "RESULT_DIR"  # the variable with the folder in which the client's folder is
OUTPUT = "AGENTIC_OUTPUT_DIR"  # the variable with the folder of aggregates whose names have no prefix


class ReplayReport(NamedTuple):
    """What was done.

    Attributes:
        path: of the aggregate.
        faults: why its job fails although there is an aggregate.
        notes: sentences about things that are not faults.
    """

    path: str
    faults: list[RowFault]
    notes: list[str]


def process_agentic(environment: Mapping[str, str], result: str = "", out: str = "") -> ReplayReport:
    """Write the aggregate of a replay, after an earlier one was removed.

    result: the folder of results, instead of the variable. out: a folder for `agg_<name>.json`, instead of the variable
    with the folder for `<name>.json`. Raises FaultsError if there is no aggregate. One without a good record is written,
    because it says why; it has a fault.
    """
    variables = AgenticVariables(environment)
    results = result or _find_results(variables)
    name = _find_name(variables)
    is_bare = not out and variables.is_set(OUTPUT)
    folder = variables.find(OUTPUT) if is_bare else out or "."
    target = ("" if is_bare else "agg_") + name + ".json"
    sidecar = "power_validation_" + name + ".json"
    for earlier in (target, sidecar):
        remove_file(os.path.join(folder, earlier))
    limit = _find_limit(variables)
    fields, gpus = describe_deployment(variables)
    if faults := variables.find_faults():
        raise FaultsError(faults)
    files = ReplayFiles(results)
    aggregate = make_aggregate(fields, gpus, files, results, environment.get("HF_HUB_CACHE", ""))
    power = find_replay_power(environment, files, results, fields["is_multinode"], gpus)
    outcome = judge_replay(files.replay, limit)
    write_json(folder, sidecar, power.sidecar)
    write_json(folder, target, {**add_power(aggregate, power), "benchmark_outcome": outcome})
    faults = [*_check_records(files), *check_power(environment, power)]
    return ReplayReport(os.path.join(folder, target), faults, describe_outcome(outcome))


def refuse_all() -> None:
    """Raise FaultsError for the option --all."""
    message = "A replay makes one row, so there is nothing to do for --all. Leave it out."
    raise FaultsError([RowFault("replay-with-all", message)])


def _find_results(variables: AgenticVariables) -> str:
    if not variables.is_set(RESULTS):
        message = (
            RESULTS + " is not set. Set it to the folder in which the client's folder is, or use --result."
        )
        variables.refuse("missing-environment", message)
    return variables.find(RESULTS)


def _find_name(variables: AgenticVariables) -> str:
    name = variables.demand(NAME)
    if os.path.basename(name) == name:
        return name
    variables.refuse("result-name-invalid", NAME + " is " + name + "; expected a file name without a folder.")
    return os.path.basename(name)


def _find_limit(variables: AgenticVariables) -> float:
    text = variables.find(LIMIT_VARIABLE) or LIMIT
    limit = parse_limit(text)
    if limit is None:
        message = LIMIT_VARIABLE + " is " + show_value(text) + "; expected a number from 0 to 1."
        variables.refuse("limit-invalid", message)
    return 0.0 if limit is None else limit


def _check_records(files: ReplayFiles) -> list[RowFault]:
    """Return a fault if no record counts; such an aggregate is written nevertheless."""
    if files.replay.good:
        return []
    message = (
        "None of " + str(files.replay.total) + " requests was measured and answered. The row has no figures."
    )
    return [RowFault("no-good-record", message, files.folder)]
