"""`process --all`: a row of every output that a multi-node row leaves, one for each concurrency."""

from __future__ import annotations

import os
import re
from typing import Any, Mapping, NamedTuple

from .clients import read_measurement
from .faults import FaultsError, RowFault
from .layout import RoleGpus, count_gpus
from .process import NAME, ProcessOptions, ProcessReport, process_one
from .values import parse_whole
from .written import write_json

_SUFFIX = re.compile(
    r"(?:_(?:c|conc|concurrency_)(?P<conc>[0-9]{1,9})(?:_req_rate_[^_]+)?)?"
    r"(?:_gpus_(?P<gpus>[0-9]{1,9})(?:_ctx_(?P<prefill>[0-9]{1,9}))?(?:_gen_(?P<decode>[0-9]{1,9}))?)?"
)
_IGNORED = ".pytorch.json"  # another form of the same numbers


class ClientOutput(NamedTuple):
    """A client's output, by its name.

    Attributes:
        path: the file.
        stem: its name without `.json`.
        conc: concurrency in the name; None if it has none.
        gpus: number of GPUs in the name; None if it has none.
        roles: GPUs of both roles in the name; None if it does not have both.
    """

    path: str
    stem: str
    conc: int | None
    gpus: int | None
    roles: RoleGpus | None


def process_all(options: ProcessOptions, environment: Mapping[str, str]) -> ProcessReport:
    """Make the rows of all outputs, and write a summary. A fault of one output does not keep back the others' rows."""
    name = environment.get(NAME, "")
    if not name:
        return process_one(options, environment, "", None)  # it lists what is missing
    outputs, ignored = find_outputs(options.result or ".", name)
    points = [(output, _process_output(options, environment, output, outputs)) for output in outputs]
    faults = _check_coverage(environment, [output.conc for output in outputs], name)
    notes = [
        path + " is not a result: its name does not end in a concurrency or a number of GPUs."
        for path in ignored
    ]
    report = ProcessReport(
        [path for _, point in points for path in point.written],
        list(dict.fromkeys([*(fault for _, point in points for fault in point.faults), *faults])),
        list(dict.fromkeys([*notes, *(note for _, point in points for note in point.notes)])),
    )
    summary = {
        "schema_version": 1,
        "points": [_render(output, point) for output, point in points],
        "ignored": ignored,
        "problems": [fault.message for fault in faults],
        "exit_code": int(bool(report.faults)),
    }
    write_json(options.out, "result_processing_" + name + ".json", summary)
    return report


def find_outputs(folder: str, name: str) -> tuple[list[ClientOutput], list[str]]:
    """Return the outputs `<name>_*.json` of a folder, and the paths of those whose names do not say enough."""
    names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    outputs, ignored = [], []
    for file in names:
        if not file.startswith(name + "_") or not file.endswith(".json") or file.endswith(_IGNORED):
            continue
        output = parse_name(os.path.join(folder, file))
        if output.gpus is None and output.conc is None:
            ignored.append(output.path)
        else:
            outputs.append(_read_conc(output))
    return outputs, ignored


def parse_name(path: str) -> ClientOutput:
    """Return what the end of an output's name says."""
    stem = os.path.basename(path)[: -len(".json")]
    match = next(found for at in range(len(stem) + 1) if (found := _SUFFIX.fullmatch(stem, at)))
    conc, gpus, prefill, decode = (
        None if match[group] is None else int(match[group]) for group in ("conc", "gpus", "prefill", "decode")
    )
    roles = RoleGpus(prefill, decode) if prefill is not None and decode is not None else None
    return ClientOutput(path, stem, conc, gpus, roles)


def _read_conc(output: ClientOutput) -> ClientOutput:
    """Return an output with the concurrency that it contains, if its name has none."""
    if output.conc is not None:
        return output
    try:
        return output._replace(conc=parse_whole(read_measurement(output.path).values.get("max_concurrency")))
    except FaultsError:  # reported where the row is made
        return output


def _process_output(
    options: ProcessOptions, environment: Mapping[str, str], output: ClientOutput, outputs: list[ClientOutput]
) -> ProcessReport:
    faults = _check_output(environment, output, outputs)
    if faults:
        return ProcessReport([], faults, [])
    return process_one(
        options._replace(result=output.path),
        environment,
        output.stem,
        _find_gpus(environment, output),
        output.conc,
    )


def _find_gpus(environment: Mapping[str, str], output: ClientOutput) -> RoleGpus | None:
    """Return the GPUs of both roles; None if the variables have them.

    Without decode workers, or without the GPUs of both roles in the name, all GPUs are prefill GPUs.
    """
    if output.gpus is None:
        return None if environment.get("PREFILL_GPUS") else count_gpus(environment)
    if output.roles is None or parse_whole(environment.get("DECODE_NUM_WORKERS")) == 0:
        return RoleGpus(output.gpus, 0)
    return output.roles


def _check_output(
    environment: Mapping[str, str], output: ClientOutput, outputs: list[ClientOutput]
) -> list[RowFault]:
    faults = []
    same = [other.path for other in outputs if other.conc == output.conc and other.conc is not None]
    if len(same) > 1:
        message = (
            "Several results have the concurrency "
            + str(output.conc)
            + ": "
            + ", ".join(same)
            + ". Keep one."
        )
        faults.append(RowFault("concurrency-repeated", message, output.path))
    if output.roles and output.gpus is not None and sum(output.roles) != output.gpus:
        message = (
            "The name has " + str(output.gpus) + " GPUs, and " + str(output.roles.prefill) + " for prefill and "
            + str(output.roles.decode) + " for decode."
        )  # fmt: skip
        faults.append(RowFault("gpu-sum-wrong", message, output.path))
    planned = _find_planned(environment)
    if planned and output.conc is not None and output.conc not in planned:
        message = (
            "The concurrency "
            + str(output.conc)
            + " is not in CONC_LIST, which is "
            + environment["CONC_LIST"]
            + "."
        )
        faults.append(RowFault("concurrency-unplanned", message, output.path))
    return faults


def _check_coverage(environment: Mapping[str, str], concs: list[int | None], name: str) -> list[RowFault]:
    """Return a fault if a planned concurrency has no output, or if there is no output at all."""
    missing = [str(conc) for conc in _find_planned(environment) if conc not in concs]
    if missing:
        message = "No result has the concurrency " + ", ".join(missing) + " of CONC_LIST."
        return [RowFault("concurrency-missing", message)]
    if not concs:
        return [RowFault("raw-file-missing", "There is no result " + name + "_*.json.")]
    return []


def _find_planned(environment: Mapping[str, str]) -> list[int]:
    numbers = [parse_whole(word) for word in environment.get("CONC_LIST", "").split()]
    return [number for number in numbers if number is not None]


def _render(output: ClientOutput, point: ProcessReport) -> dict[str, Any]:
    return {
        "file": os.path.basename(output.path),
        "concurrency": output.conc,
        "rows": [os.path.basename(path) for path in point.written],
        "problems": [fault.message for fault in point.faults],
    }
