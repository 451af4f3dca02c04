"""The fields of an AgentX aggregate that say what was measured, from the environment of the row."""

from __future__ import annotations

from typing import Any

from .components import parse_component
from .layout import find_hardware
from .values import Variables, parse_whole, show_value

_TRUE = ("1", "true", "yes", "on")
_NONE = "none"


class AgenticVariables(Variables):
    """Reads variables of an AgentX row: most have a default, and an empty one is not set."""

    def text(self, name: str, default: str = "") -> str:
        return self.find(name) or default

    def demand(self, name: str) -> str:
        """Return a variable that must not be empty; one that is not set is noted."""
        if not self.is_set(name):
            self.missing.append(name)
        return self.find(name)

    def flag(self, name: str) -> bool:
        return self.find(name).strip().lower() in _TRUE

    def number(self, name: str, default: int, least: int = 0) -> int:
        """Return a whole number; one that is too small or not a number is noted, and read as the default."""
        if not self.find(name).strip():
            return default
        number = parse_whole(self.find(name))
        if number is None or number < least:
            rule = (
                "not-a-whole-number" if number is None else "size-not-positive" if least else "size-negative"
            )
            expected = "a whole number" if number is None else str(least) + " or more"
            self.refuse(rule, name + " is " + show_value(self.find(name)) + "; expected " + expected + ".")
            return default
        return number


def describe_deployment(variables: AgenticVariables) -> tuple[dict[str, Any], int]:
    """Return the fields of the deployment, and its number of GPUs; problems are kept in the variables."""
    router = parse_component(variables, "ROUTER_METADATA")
    transfer = variables.text("KV_P2P_TRANSFER")
    is_multinode = variables.flag("IS_MULTINODE")
    layout, gpus = _describe_roles(variables) if is_multinode else _describe_engine(variables)
    fields: dict[str, Any] = {
        "hw": variables.text("RUNNER_TYPE"),
        "conc": variables.number("CONC", 0),
        "image": variables.text("IMAGE"),
        "recipe_fingerprint": variables.text("RECIPE_FINGERPRINT"),
        "model": variables.text("MODEL"),
        "infmax_model_prefix": variables.text("MODEL_PREFIX"),
        "framework": variables.text("FRAMEWORK"),
        "precision": variables.text("PRECISION"),
        "spec_decoding": variables.text("SPEC_DECODING", _NONE),
        "disagg": variables.flag("DISAGG"),
        "scenario_type": "agentic-coding",
        "is_multinode": is_multinode,
        **layout,
        **_describe_offload(variables),
        "allocated_cpu_dram_gb": variables.number("TOTAL_CPU_DRAM_GB", 0),
    }
    if router is not None:
        fields["router"] = router
    if transfer:
        fields["kv_p2p_transfer"] = transfer
    return fields, gpus


def _describe_offload(variables: AgenticVariables) -> dict[str, Any]:
    """Return where the KV cache may go. Without offloading there must be no backend, and with it there must be one."""
    mode, name = variables.demand("KV_OFFLOADING"), variables.find("KV_OFFLOAD_BACKEND")
    faults = len(variables.faults)
    backend = parse_component(variables, "KV_OFFLOAD_BACKEND_METADATA", ("name",))
    is_readable = faults == len(variables.faults)
    start = "KV_OFFLOADING is " + mode + ", "
    if not mode:
        return {}  # which is a fault of its own
    if mode == _NONE:
        if name or backend:
            message = start + "so KV_OFFLOAD_BACKEND and KV_OFFLOAD_BACKEND_METADATA must not be set."
            variables.refuse("offload-backend-unexpected", message)
        backend = None
    elif name in ("", _NONE):
        variables.refuse("offload-backend-missing", start + "so KV_OFFLOAD_BACKEND must name a backend.")
    elif backend is None and is_readable:
        message = start + "so KV_OFFLOAD_BACKEND_METADATA must describe the backend."
        variables.refuse("offload-backend-missing", message)
    elif backend is not None and backend["name"] != name:
        message = (
            "KV_OFFLOAD_BACKEND is "
            + name
            + ", and KV_OFFLOAD_BACKEND_METADATA names "
            + backend["name"]
            + "."
        )
        variables.refuse("offload-backend-mismatch", message)
    return {"kv_offloading": mode, "kv_offload_backend": backend}


def _describe_engine(variables: AgenticVariables) -> tuple[dict[str, Any], int]:
    tp = variables.number("TP", 0)
    sizes = {
        "pp": variables.number("PP_SIZE", 1, least=1),
        "dcp_size": variables.number("DCP_SIZE", 1, least=1),
        "pcp_size": variables.number("PCP_SIZE", 1, least=1),
    }
    fields = {
        "tp": tp,
        "ep": variables.number("EP_SIZE", 1),
        "dp_attention": variables.text("DP_ATTENTION", "false"),
        **sizes,
    }
    return fields, tp * sizes["pp"] * sizes["pcp_size"]


def _describe_roles(variables: AgenticVariables) -> tuple[dict[str, Any], int]:
    """Return the fields of both roles, and single values for readers that know one engine only."""
    prefill, prefill_gpus = _describe_role(variables, "prefill")
    decode, decode_gpus = _describe_role(variables, "decode")
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
        **find_hardware(variables),
    }
    return fields, prefill_gpus + decode_gpus


def _describe_role(variables: AgenticVariables, role: str) -> tuple[dict[str, Any], int]:
    prefix, workers = role.upper() + "_", variables.number(role.upper() + "_NUM_WORKERS", 0)
    tp = variables.number(prefix + "TP", 0)
    pp, pcp = (
        variables.number(prefix + "PP_SIZE", 1, least=1),
        variables.number(prefix + "PCP_SIZE", 1, least=1),
    )
    fields = {
        role + "_num_workers": workers,
        role + "_tp": tp,
        role + "_pp": pp,
        role + "_dcp_size": variables.number(prefix + "DCP_SIZE", 1, least=1),
        role + "_pcp_size": pcp,
        role + "_ep": variables.number(prefix + "EP", 1),
        role + "_dp_attention": variables.text(prefix + "DP_ATTN", "false"),
    }
    return fields, workers * tp * pp * pcp
