"""The fields of an AgentX aggregate that say what was measured, from the environment of the row."""

from __future__ import annotations

import json
from typing import Any, Mapping

from .errors import RowError

_TRUE = ("1", "true", "yes", "on")
_NONE = "none"
_NULL = "null"  # as text: the same as a variable that is not set


class EnvironmentReader:
    """Reads variables, and keeps a sentence for each that is wrong, so that one run names them all.

    Attributes:
        problems: sentences.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        self._environment = environment

    def text(self, name: str, default: str = "") -> str:
        return self._environment.get(name) or default

    def required(self, name: str) -> str:
        value = self.text(name)
        if not value:
            self.problems.append(name + " is not set.")
        return value

    def flag(self, name: str) -> bool:
        return self.text(name).strip().lower() in _TRUE

    def number(self, name: str, default: int, least: int = 0) -> int:
        value = self.text(name).strip()
        number = int(value) if value.isascii() and value.isdigit() else None
        if not value:
            return default
        if number is None or number < least:
            self.problems.append(
                name + " is " + value + ". It must be a whole number of at least " + str(least) + "."
            )
        return default if number is None else number

    def component(self, name: str, required: tuple[str, ...]) -> dict[str, str] | None:
        """Return an object with a name and a version; None if the variable is empty.

        required: the fields that it must have.
        """
        text = self.text(name).strip()
        if text in ("", _NULL):
            return None
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if (
            isinstance(value, dict)
            and set(required) <= set(value) <= {"name", "version"}
            and all(isinstance(part, str) and part for part in value.values())
        ):
            return value
        fields = " and ".join(required) if len(required) > 1 else "name, and at most also version,"
        self.problems.append(name + " must be a JSON object with " + fields + " as texts that are not empty.")
        return None


def describe_deployment(reader: EnvironmentReader) -> tuple[dict[str, Any], int]:
    """Return the fields of the deployment, and its number of GPUs; problems are kept in the reader."""
    router = reader.component("ROUTER_METADATA", ("name", "version"))
    transfer = reader.text("KV_P2P_TRANSFER")
    is_multinode = reader.flag("IS_MULTINODE")
    layout, gpus = _describe_roles(reader) if is_multinode else _describe_engine(reader)
    fields: dict[str, Any] = {
        "hw": reader.text("RUNNER_TYPE"),
        "conc": reader.number("CONC", 0),
        "image": reader.text("IMAGE"),
        "recipe_fingerprint": reader.text("RECIPE_FINGERPRINT"),
        "model": reader.text("MODEL"),
        "infmax_model_prefix": reader.text("MODEL_PREFIX"),
        "framework": reader.text("FRAMEWORK"),
        "precision": reader.text("PRECISION"),
        "spec_decoding": reader.text("SPEC_DECODING", _NONE),
        "disagg": reader.flag("DISAGG"),
        "scenario_type": "agentic-coding",
        "is_multinode": is_multinode,
        **layout,
        **_describe_offload(reader),
        "allocated_cpu_dram_gb": reader.number("TOTAL_CPU_DRAM_GB", 0),
    }
    if router is not None:
        fields["router"] = router
    if transfer:
        fields["kv_p2p_transfer"] = transfer
    return fields, gpus


def _describe_offload(reader: EnvironmentReader) -> dict[str, Any]:
    """Return where the KV cache may go. Without offloading there must be no backend, and with it there must be one."""
    mode = reader.required("KV_OFFLOADING")
    backend = reader.text("KV_OFFLOAD_BACKEND")
    metadata = reader.component("KV_OFFLOAD_BACKEND_METADATA", ("name",))
    if mode == _NONE:
        given = [
            name
            for name in ("KV_OFFLOAD_BACKEND", "KV_OFFLOAD_BACKEND_METADATA")
            if reader.text(name).strip() not in ("", _NULL)
        ]
        reader.problems += [name + " is set, although KV_OFFLOADING is none. Unset it." for name in given]
    elif mode and backend in ("", _NONE):
        reader.problems.append("KV_OFFLOADING is " + mode + ", so KV_OFFLOAD_BACKEND must name a backend.")
    elif mode and metadata is None:
        reader.problems.append(
            "KV_OFFLOADING is " + mode + ", so KV_OFFLOAD_BACKEND_METADATA must describe the backend."
        )
    elif mode and metadata is not None and metadata["name"] != backend:
        reader.problems.append(
            "KV_OFFLOAD_BACKEND is "
            + backend
            + ", and KV_OFFLOAD_BACKEND_METADATA names "
            + metadata["name"]
            + "."
        )
    return {"kv_offloading": mode, "kv_offload_backend": None if mode == _NONE else metadata}


def _describe_engine(reader: EnvironmentReader) -> tuple[dict[str, Any], int]:
    tp = reader.number("TP", 0)
    sizes = {
        "pp": reader.number("PP_SIZE", 1, least=1),
        "dcp_size": reader.number("DCP_SIZE", 1, least=1),
        "pcp_size": reader.number("PCP_SIZE", 1, least=1),
    }
    fields = {
        "tp": tp,
        "ep": reader.number("EP_SIZE", 1),
        "dp_attention": reader.text("DP_ATTENTION", "false"),
        **sizes,
    }
    return fields, tp * sizes["pp"] * sizes["pcp_size"]


def _describe_roles(reader: EnvironmentReader) -> tuple[dict[str, Any], int]:
    """Return the fields of both roles, and single values for readers that know one engine only."""
    prefill, prefill_gpus = _describe_role(reader, "prefill")
    decode, decode_gpus = _describe_role(reader, "decode")
    if not decode_gpus:  # the sizes of a role without GPUs have no meaning
        decode.update({"decode_tp": 0, "decode_ep": 0})
        decode.update({"decode_pp": 1, "decode_dcp_size": 1, "decode_pcp_size": 1})
    attention = [role[name].strip().lower() in _TRUE for role, name in (
        (prefill, "prefill_dp_attention"), (decode, "decode_dp_attention")
    )]  # fmt: skip
    fields = {
        "tp": prefill["prefill_tp"] + decode["decode_tp"],
        "ep": max(prefill["prefill_ep"], decode["decode_ep"]),
        "dp_attention": "true" if any(attention) else "false",
        **prefill,
        "num_prefill_gpu": prefill_gpus,
        **decode,
        "num_decode_gpu": decode_gpus,
        **_describe_hardware(reader),
    }
    return fields, prefill_gpus + decode_gpus


def _describe_role(reader: EnvironmentReader, role: str) -> tuple[dict[str, Any], int]:
    prefix, workers = role.upper() + "_", reader.number(role.upper() + "_NUM_WORKERS", 0)
    tp = reader.number(prefix + "TP", 0)
    pp, pcp = reader.number(prefix + "PP_SIZE", 1, least=1), reader.number(prefix + "PCP_SIZE", 1, least=1)
    fields = {
        role + "_num_workers": workers,
        role + "_tp": tp,
        role + "_pp": pp,
        role + "_dcp_size": reader.number(prefix + "DCP_SIZE", 1, least=1),
        role + "_pcp_size": pcp,
        role + "_ep": reader.number(prefix + "EP", 1),
        role + "_dp_attention": reader.text(prefix + "DP_ATTN", "false"),
    }
    return fields, workers * tp * pp * pcp


def _describe_hardware(reader: EnvironmentReader) -> dict[str, str]:
    """Return the hardware of both roles if it is given. Both or none must be."""
    names = ("PREFILL_HARDWARE", "DECODE_HARDWARE")
    values = [reader.text(name) for name in names]
    if all(values):
        return {"prefill_hw": values[0], "decode_hw": values[1]}
    if any(values):
        missing = names[values.index("")]
        reader.problems.append(
            missing + " is not set, although the other role's hardware is. Set both or none."
        )
    return {}


def raise_problems(reader: EnvironmentReader) -> None:
    """Raise RowError with every problem that the reader has kept; do nothing without problems."""
    if reader.problems:
        raise RowError("The environment does not describe the row. " + " ".join(reader.problems))
