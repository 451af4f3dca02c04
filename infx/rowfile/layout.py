"""The parallelism of a row, from its environment: its columns, and the numbers of GPUs that its throughput is divided by."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

from .values import Variables, is_true

ROLES = ("prefill", "decode")
SIZES = ("pp", "dcp_size", "pcp_size")
_SIZE_VARIABLES = ("PP_SIZE", "DCP_SIZE", "PCP_SIZE")  # in the order of SIZES


class Gpus(NamedTuple):
    """The GPUs of a measurement."""

    total: int
    input: int  # that read the input
    output: int  # that write the output


class Layout(NamedTuple):
    """The parallelism of a row.

    Attributes:
        fields: the row's columns that describe it, before the throughput.
        hardware: the row's columns with the hardware of both roles; empty if both have the same.
        gpus: the numbers of GPUs.
    """

    fields: dict[str, Any]
    hardware: dict[str, str]
    gpus: Gpus


class RoleGpus(NamedTuple):
    """The GPUs of both roles, as the name of a client's output has them."""

    prefill: int
    decode: int


def parse_layout(variables: Variables, role_gpus: RoleGpus | None = None) -> Layout:
    """Return the layout that the environment describes; faults are noted in `variables`.

    role_gpus: replaces the variables with the GPUs of both roles.
    """
    if not is_true(variables.find("IS_MULTINODE")):
        return _parse_single(variables)
    return _parse_roles(variables, role_gpus)


def _parse_single(variables: Variables) -> Layout:
    if is_true(variables.find("DISAGG")):
        message = (
            "DISAGG is true and IS_MULTINODE is not; prefill and decode are separate only on several nodes."
        )
        variables.refuse("disagg-needs-multinode", message)
    tp = variables.require_whole("TP")
    sizes = [variables.find_size(name) for name in _SIZE_VARIABLES]
    fields: dict[str, Any] = {"is_multinode": False, "tp": tp, **dict(zip(SIZES, sizes))}
    fields["ep"] = variables.require_whole("EP_SIZE")
    fields["dp_attention"] = variables.require("DP_ATTENTION")
    pp, _, pcp = sizes  # the ranks of dcp share GPUs
    total = tp * pp * pcp
    if not tp and "TP" not in variables.missing and not variables.faults:
        variables.refuse("no-gpu", "TP is 0, so the row has no GPU.")
    return Layout(fields, {}, Gpus(total, total, total))


def _parse_roles(variables: Variables, role_gpus: RoleGpus | None) -> Layout:
    gpus = _parse_gpus(variables) if role_gpus is None else role_gpus
    if role_gpus is not None:
        check_gpus(variables, role_gpus)
    fields: dict[str, Any] = {"is_multinode": True}
    for role in ROLES:
        fields.update(_parse_role(variables, role))
    if not gpus.decode:
        fields.update(decode_tp=0, decode_ep=0, **{"decode_" + name: 1 for name in SIZES})
    fields.update(num_prefill_gpu=gpus.prefill, num_decode_gpu=gpus.decode)
    if variables.is_set("AGGREGATE_GPUS"):
        fields["num_aggregate_gpu"] = gpus.prefill
    total = gpus.prefill + gpus.decode
    hardware = find_hardware(variables)
    return Layout(fields, hardware, Gpus(total, gpus.prefill, gpus.decode or total))


def _parse_role(variables: Variables, role: str) -> dict[str, Any]:
    start, prefix = role + "_", role.upper() + "_"
    workers = variables.require_whole(prefix + "NUM_WORKERS")
    fields: dict[str, Any] = {start + "tp": variables.require_whole(prefix + "TP")}
    for name, variable in zip(SIZES, _SIZE_VARIABLES):
        fields[start + name] = variables.find_size(prefix + variable)
    fields[start + "ep"] = variables.require_whole(prefix + "EP")
    fields[start + "dp_attention"] = variables.require(prefix + "DP_ATTN")
    fields[start + "num_workers"] = workers
    return fields


def _parse_gpus(variables: Variables) -> RoleGpus:
    rule = "gpu-count-not-integer"
    if variables.is_set("AGGREGATE_GPUS"):
        return _parse_aggregate(variables, rule)
    before = len(variables.faults) + len(variables.missing)
    gpus = RoleGpus(
        variables.require_whole("PREFILL_GPUS", rule), variables.require_whole("DECODE_GPUS", rule)
    )
    if len(variables.faults) + len(variables.missing) == before:
        check_gpus(variables, gpus)
    return gpus


def count_gpus(environment: Mapping[str, str]) -> RoleGpus | None:
    """Return the GPUs of both roles by their workers; None if a number is missing or wrong."""
    counts = []
    for role in ROLES:
        variables, prefix = Variables(environment), role.upper() + "_"
        workers, tp = (variables.require_whole(prefix + name) for name in ("NUM_WORKERS", "TP"))
        pp, pcp = (variables.find_size(prefix + name) for name in ("PP_SIZE", "PCP_SIZE"))
        if variables.find_faults():
            return None
        counts.append(workers * tp * pp * pcp)
    return RoleGpus(*counts)


def check_gpus(variables: Variables, gpus: RoleGpus) -> None:
    """Note a fault if nothing can be divided by the GPUs."""
    if gpus.prefill + gpus.decode <= 0:
        variables.refuse("no-gpu", "The row has no GPU: PREFILL_GPUS and DECODE_GPUS are 0.")
    elif gpus.prefill <= 0:
        message = (
            "PREFILL_GPUS is 0. Without separate decode GPUs, all GPUs are prefill GPUs and DECODE_GPUS is 0."
        )
        variables.refuse("no-prefill-gpu", message)


def _parse_aggregate(variables: Variables, rule: str) -> RoleGpus:
    """Return the GPUs of engines that do both: they count as prefill GPUs."""
    total = variables.require_whole("AGGREGATE_GPUS", rule)
    others = [name for name in ("PREFILL_GPUS", "DECODE_GPUS") if variables.find(name) not in ("", "0")]
    if others or is_true(variables.find("DISAGG")):
        message = "AGGREGATE_GPUS is set, so PREFILL_GPUS and DECODE_GPUS must be 0 and DISAGG must be false."
        variables.refuse("aggregate-gpus-with-roles", message)
    elif not variables.faults:
        check_gpus(variables, RoleGpus(total, 0))
    return RoleGpus(total, 0)


def find_hardware(variables: Variables) -> dict[str, str]:
    """Return the columns with the hardware of both roles; empty if both have the same. One without the other is noted."""
    hardware = {role + "_hw": variables.find(role.upper() + "_HARDWARE") for role in ROLES}
    named = [name for name in hardware.values() if name]
    if len(named) == 1:
        message = "PREFILL_HARDWARE and DECODE_HARDWARE must both be set, or neither."
        variables.refuse("hardware-pair-incomplete", message)
    return hardware if named else {}
