"""Fields of an AgentX aggregate that come from the environment."""

from __future__ import annotations

from typing import Any

import pytest

from infx.rowfile.agentic_deployment import AgenticVariables, describe_deployment
from infx.rowfile.faults import FaultsError

ROLES = {
    "KV_OFFLOADING": "none",
    "IS_MULTINODE": "1",
    "PREFILL_NUM_WORKERS": "3",
    "PREFILL_TP": "4",
    "PREFILL_PP_SIZE": "2",
    "PREFILL_PCP_SIZE": "2",
    "PREFILL_DCP_SIZE": "4",
    "PREFILL_EP": "4",
    "DECODE_NUM_WORKERS": "2",
    "DECODE_TP": "8",
    "DECODE_EP": "8",
    "DECODE_DP_ATTN": "true",
}
BACKEND = {"KV_OFFLOADING": "dram", "KV_OFFLOAD_BACKEND": "lmcache"}


def describe(**environment: str) -> tuple[dict[str, Any], int]:
    variables = AgenticVariables(environment)
    described = describe_deployment(variables)
    if faults := variables.find_faults():
        raise FaultsError(faults)
    return described


def refuse(**environment: str) -> str:
    with pytest.raises(FaultsError) as caught:
        describe(**environment)
    return str(caught.value)


def test_only_offloading_is_required() -> None:
    fields, gpus = describe(KV_OFFLOADING="none")
    assert (fields["hw"], fields["conc"], fields["spec_decoding"], fields["disagg"]) == ("", 0, "none", False)
    assert (fields["pp"], fields["dp_attention"], fields["kv_offload_backend"]) == (1, "false", None)
    assert gpus == 0
    assert "router" not in fields


def test_gpus_of_one_engine_are_its_sizes_without_those_that_share() -> None:
    """Ranks of decode context parallelism and of experts share the GPUs of tensor parallelism."""
    _, gpus = describe(KV_OFFLOADING="none", TP="4", PP_SIZE="2", PCP_SIZE="2", DCP_SIZE="4", EP_SIZE="16")
    assert gpus == 16


def test_gpus_of_roles_come_from_their_sizes() -> None:
    """3 workers of 4 x 2 x 2, and 2 workers of 8; the planned numbers of GPUs are not read."""
    fields, gpus = describe(**ROLES, PREFILL_GPUS="1", DECODE_GPUS="1")
    assert (fields["num_prefill_gpu"], fields["num_decode_gpu"], gpus) == (48, 16, 64)
    assert (fields["tp"], fields["ep"], fields["dp_attention"]) == (12, 8, "true")
    assert not {"pp", "dcp_size", "pcp_size"} & set(fields)
    assert (fields["prefill_dcp_size"], fields["decode_dcp_size"]) == (4, 1)


def test_a_role_without_gpus_has_no_sizes() -> None:
    fields, gpus = describe(**{**ROLES, "DECODE_NUM_WORKERS": "0", "DECODE_PP_SIZE": "2"})
    assert (fields["decode_tp"], fields["decode_ep"], fields["decode_pp"]) == (0, 0, 1)
    assert fields["decode_dp_attention"] == "true"
    assert (fields["tp"], fields["ep"], gpus) == (4, 4, 48)


@pytest.mark.parametrize("word", ["1", "true", "TRUE", "Yes", "on"])
def test_words_that_are_true(word: str) -> None:
    assert describe(KV_OFFLOADING="none", DISAGG=word)[0]["disagg"] is True


@pytest.mark.parametrize("word", ["0", "no", "t", "2"])
def test_every_other_word_is_false(word: str) -> None:
    assert describe(KV_OFFLOADING="none", DISAGG=word)[0]["disagg"] is False


@pytest.mark.parametrize(
    ("metadata", "backend"),
    [
        ('{"name":"lmcache"}', {"name": "lmcache"}),
        ('{"name":"lmcache","version":"0.3"}', {"name": "lmcache", "version": "0.3"}),
    ],
)
def test_a_backend_has_a_name_and_maybe_a_version(metadata: str, backend: dict[str, str]) -> None:
    fields, _ = describe(**BACKEND, KV_OFFLOAD_BACKEND_METADATA=metadata)
    assert (fields["kv_offloading"], fields["kv_offload_backend"]) == ("dram", backend)


@pytest.mark.parametrize(
    "metadata",
    [
        '{"name":""}',
        '{"name":"lmcache","version":3}',
        '{"version":"1"}',
        '{"name":"lmcache","x":"y"}',
        "[]",
        "{",
    ],
)
def test_metadata_of_another_form_is_refused(metadata: str) -> None:
    message = refuse(**BACKEND, KV_OFFLOAD_BACKEND_METADATA=metadata)
    assert message.startswith("KV_OFFLOAD_BACKEND_METADATA is")
    assert "expected an object with name and maybe version" in message
    assert "must describe" not in message  # one fault of it is enough


def test_metadata_of_another_backend_is_refused() -> None:
    message = refuse(**BACKEND, KV_OFFLOAD_BACKEND_METADATA='{"name":"mooncake"}')
    assert "KV_OFFLOAD_BACKEND is lmcache, and KV_OFFLOAD_BACKEND_METADATA names mooncake" in message


@pytest.mark.parametrize("backend", ["", "none"])
def test_offloading_needs_a_backend(backend: str) -> None:
    assert "must name a backend" in refuse(KV_OFFLOADING="dram", KV_OFFLOAD_BACKEND=backend)


def test_offloading_needs_metadata() -> None:
    assert "KV_OFFLOAD_BACKEND_METADATA must describe" in refuse(**BACKEND)


@pytest.mark.parametrize("name", ["KV_OFFLOAD_BACKEND", "KV_OFFLOAD_BACKEND_METADATA"])
def test_without_offloading_there_must_be_no_backend(name: str) -> None:
    message = refuse(**{"KV_OFFLOADING": "none", name: '{"name":"lmcache"}'})
    assert "must not be set" in message


def test_a_router_has_name_and_version() -> None:
    metadata = '{"name":"vllm-router","version":"0.1"}'
    fields, _ = describe(KV_OFFLOADING="none", ROUTER_METADATA=metadata, KV_P2P_TRANSFER="mooncake")
    assert fields["router"] == {"name": "vllm-router", "version": "0.1"}
    assert fields["kv_p2p_transfer"] == "mooncake"
    assert "router" not in describe(KV_OFFLOADING="none", ROUTER_METADATA="null")[0]
    assert "exactly name and version" in refuse(
        KV_OFFLOADING="none", ROUTER_METADATA='{"name":"vllm-router"}'
    )


def test_two_kinds_of_hardware_are_given_together() -> None:
    fields, _ = describe(**ROLES, PREFILL_HARDWARE="b200", DECODE_HARDWARE="h100")
    assert (fields["prefill_hw"], fields["decode_hw"]) == ("b200", "h100")
    assert "must both be set" in refuse(**ROLES, PREFILL_HARDWARE="b200")
    assert "must both be set" in refuse(**ROLES, DECODE_HARDWARE="b200")


def test_every_problem_is_named_at_once() -> None:
    message = refuse(TP="four", PP_SIZE="0", CONC="-1", ROUTER_METADATA="{}")
    for part in (
        "not set: KV_OFFLOADING.",
        "TP is 'four'",
        "PP_SIZE is '0'",
        "CONC is '-1'",
        "ROUTER_METADATA is",
    ):
        assert part in message
