"""The output of benchmark clients: which client wrote a file, and its numbers under common names.

The common names are those of vLLM's client. A client with names of its own is an entry of CLIENTS.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .faults import FaultsError, RowFault
from .values import parse_number

TOTAL = "total_token_throughput"
DETECT = "auto"  # the value of --client that detects the client
AIPERF = "aiperf"  # the value of --client for AgentX, whose client writes a folder


class Client(NamedTuple):
    """A benchmark client, by the names in its output.

    Attributes:
        name: the value of --client.
        marks: keys that all its outputs have, and that no earlier entry's outputs have.
        renamed: pairs of a common name and the client's name, where they differ.
        times: pairs of the client's word for a time and the common word; keys are `<statistic>_<word>_ms`.
        has_model: whether the output names the model; if not, the variable MODEL does.
    """

    name: str
    marks: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    times: tuple[tuple[str, str], ...] = ()
    has_model: bool = True


CLIENTS = (
    Client(
        name="sglang",  # python3 -m sglang.bench_serving --output-file
        marks=("input_throughput", "mean_e2e_latency_ms"),
        renamed=((TOTAL, "total_throughput"),),
        times=(("e2e_latency", "e2el"),),
        has_model=False,
    ),
    Client(
        name="vllm",  # vllm bench serve --save-result, and clients that are derived from it
        marks=(TOTAL, "output_throughput"),
    ),
)
NAMES = (DETECT, *(client.name for client in CLIENTS), AIPERF)  # every value of --client


class Measurement(NamedTuple):
    """The output of a client.

    Attributes:
        path: the file.
        client: the client that wrote it.
        values: its numbers and texts under common names.
    """

    path: str
    client: Client
    values: dict[str, Any]


def read_measurement(path: str, client: str = DETECT) -> Measurement:
    """Read a client's output. client: name of an entry of CLIENTS, or DETECT.

    Raises FaultsError if the file cannot be read, or no client is known that writes such files.
    """
    values = _parse(_read(path), path)
    chosen = _find_client(values, path, client)
    return Measurement(path, chosen, _rename(values, chosen))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        message = "The client's output does not exist. Write it there, or name it with --result."
        raise FaultsError([RowFault("raw-file-missing", message, path)]) from None
    except OSError as error:
        message = "The client's output cannot be read: " + str(error.strerror) + "."
        raise FaultsError([RowFault("raw-file-unreadable", message, path)]) from None


def _parse(data: bytes, path: str) -> dict[str, Any]:
    """Return the object of a JSON file, or of a file of JSON lines that has one line."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        lines = data.splitlines()
        if _are_objects(lines):
            message = (
                "The file has "
                + str(len(lines))
                + " results, expected one. Clients append to such a file; give each measurement a file of its own."
            )
            raise FaultsError([RowFault("several-results", message, path)]) from None
        message = "The client's output is not JSON: " + str(error) + "."
        raise FaultsError([RowFault("raw-file-not-json", message, path)]) from None
    if not isinstance(values, dict):
        message = "The client's output is not a JSON object."
        raise FaultsError([RowFault("raw-file-not-json", message, path)])
    return values


def _are_objects(lines: list[bytes]) -> bool:
    try:
        return len(lines) > 1 and all(isinstance(json.loads(line), dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def _find_client(values: dict[str, Any], path: str, name: str) -> Client:
    for client in CLIENTS:
        if client.name == name or (name == DETECT and all(mark in values for mark in client.marks)):
            return client
    known = "; ".join(client.name + " (" + ", ".join(client.marks) + ")" for client in CLIENTS)
    message = (
        "It is not known which client wrote this file. Known clients and the keys of their files: "
        + known
        + ". Name the client with --client."
    )
    raise FaultsError([RowFault("client-unknown", message, path)])


def _rename(values: dict[str, Any], client: Client) -> dict[str, Any]:
    """Return the values under common names, and the total throughput where only its two parts are there."""
    common = {_rename_time(key, client.times): value for key, value in values.items()}
    for name, own in client.renamed:
        if own in values:
            common[name] = values[own]
    parts = [parse_number(common.get(name)) for name in ("input_throughput", "output_throughput")]
    if common.get(TOTAL) is None and None not in parts:
        common[TOTAL] = sum(part for part in parts if part is not None)
    return common


def _rename_time(key: str, times: tuple[tuple[str, str], ...]) -> str:
    for own, word in times:
        if key.endswith("_" + own + "_ms"):
            return key[: -len(own + "_ms")] + word + "_ms"
    return key
