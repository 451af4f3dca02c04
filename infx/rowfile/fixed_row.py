"""The row of a measurement with fixed lengths: a client's numbers and the row's environment, as one JSON object."""

from __future__ import annotations

import math
import re
from typing import Any, Mapping

from .clients import TOTAL, Measurement
from .components import parse_component
from .faults import FaultsError, RowFault
from .layout import Layout
from .values import Variables, is_true, parse_number, parse_whole, show_value

_TEXTS = (  # column, variable
    ("hw", "RUNNER_TYPE"), ("image", "IMAGE"), ("infmax_model_prefix", "MODEL_PREFIX"), ("framework", "FRAMEWORK"),
    ("precision", "PRECISION"), ("spec_decoding", "SPEC_DECODING"),
)  # fmt: skip
_TOKEN_TIME = re.compile(r"([^_]+)_tpot_ms")
_SPREAD = "std"  # the reciprocal of a spread has no meaning


def parse_identity(variables: Variables) -> dict[str, Any]:
    """Return the columns that the environment decides, except the layout; faults are noted in `variables`."""
    columns: dict[str, Any] = {column: variables.require(name) for column, name in _TEXTS}
    columns["disagg"] = is_true(variables.require("DISAGG"))
    columns["recipe_fingerprint"] = variables.find("RECIPE_FINGERPRINT")
    for name in ("ISL", "OSL"):
        columns[name.lower()] = variables.require_whole(name)
    router = parse_component(variables, "ROUTER_METADATA")
    if router is not None:
        columns["router"] = router
    if variables.is_set("KV_P2P_TRANSFER"):
        columns["kv_p2p_transfer"] = variables.find("KV_P2P_TRANSFER")
    return columns


def make_row(
    identity: Mapping[str, Any], layout: Layout, measurement: Measurement, model: str
) -> dict[str, Any]:
    """Return a row without power and outcome. Raises FaultsError with all faults of the measurement.

    model: name of the model for a client that does not write it.
    """
    reader = _Reader(measurement)
    first = {
        "hw": identity["hw"],
        "conc": reader.read_conc(),
        "image": identity["image"],
        "model": reader.read_model(model),
    }
    row = {**first, **identity, **layout.fields, **reader.read_throughput(layout), **layout.hardware}
    # A time named like a column of the identity must not replace it.
    row = {**row, **{name: value for name, value in reader.read_times().items() if name not in row}}
    if reader.faults:
        raise FaultsError(reader.faults)
    return row


class _Reader:
    """Reads columns from a measurement and keeps a fault for each that is missing or wrong."""

    def __init__(self, measurement: Measurement) -> None:
        self._values = measurement.values
        self._client = measurement.client
        self._path = measurement.path
        self.faults: list[RowFault] = []

    def read_conc(self) -> int:
        value = self._values.get("max_concurrency")
        if value is None:
            message = (
                "The client's output has no concurrency. Run the client with a limit (--max-concurrency)."
            )
            return self._refuse("max-concurrency-null", message)
        conc = parse_whole(value)
        if conc is None or conc < 1:
            return self._refuse(
                "max-concurrency-invalid", "max_concurrency is " + show_value(value) + "; expected 1 or more."
            )
        return conc

    def read_model(self, fallback: str) -> str:
        model = self._values.get("model_id") or ("" if self._client.has_model else fallback)
        if isinstance(model, str) and model:
            return model
        place = "model_id" if self._client.has_model else "The variable MODEL"
        self._refuse("model-id-missing", place + " is missing; it names the model.")
        return ""

    def read_throughput(self, layout: Layout) -> dict[str, float]:
        """Return tokens per second and GPU; a value that is not finite is left out."""
        total, output = self._read_rate(TOTAL), self._read_rate("output_throughput")
        columns = {
            "tput_per_gpu": _divide(total, layout.gpus.total),
            "output_tput_per_gpu": _divide(output, layout.gpus.output),
            "input_tput_per_gpu": _divide(total - output, layout.gpus.input),
        }
        return {name: value for name, value in columns.items() if math.isfinite(value)}

    def read_times(self) -> dict[str, float]:
        """Return times in seconds, and the interactivity of each time per token; only keys in `_ms` are times."""
        columns = {}
        for key, value in self._values.items():
            if not key.endswith("_ms") or value is None:
                continue
            number = parse_number(value)
            if number is None:
                self._refuse("not-a-number", key + " is " + show_value(value) + "; expected a number.")
                continue
            if not math.isfinite(number):
                continue
            columns[key.replace("_ms", "")] = number / 1000
            match = _TOKEN_TIME.fullmatch(key)
            if match and match[1] != _SPREAD and number > 0:
                columns[match[1] + "_intvty"] = 1000 / number
        return columns

    def _read_rate(self, name: str) -> float:
        value = self._values.get(name)
        number = parse_number(value)
        if number is None:
            self._refuse(
                "throughput-missing", name + " is " + show_value(value) + "; expected tokens per second."
            )
            return math.nan
        if name == TOTAL and not math.isfinite(number):  # without it, a row has not measured anything
            self._refuse("throughput-not-finite", name + " is not a finite number.")
        return number

    def _refuse(self, rule: str, message: str) -> int:
        self.faults.append(RowFault(rule, message, self._path))
        return 0


def _divide(rate: float, gpus: int) -> float:
    return rate / gpus if gpus else math.nan
