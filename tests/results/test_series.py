"""Decide which rows belong to one series."""

from __future__ import annotations

import re
from typing import Any

import pytest

from infx.records import replace
from infx.results.row import RowFaultError
from infx.results.series import identify_series, name_hardware
from tests.results.made import result

ROLES = {
    "is_multinode": True,
    "prefill_num_workers": 2, "prefill_tp": 4, "prefill_ep": 4, "prefill_dp_attention": "true",
    "decode_num_workers": 1, "decode_tp": 8, "decode_ep": 1, "decode_dp_attention": "false",
}  # fmt: skip


def key(**changes: Any) -> str:
    return identify_series(result(**changes)).key


def test_the_key_names_everything_but_sizes_of_one() -> None:
    assert key(hw="h200", infmax_model_prefix="gptoss", framework="vllm", precision="fp4", tp=8, pp=2) == (
        "gptoss h200 vllm fp4 none 8192-1024 tp8 pp2"
    )


def test_a_new_image_fingerprint_or_concurrency_is_not_a_new_series() -> None:
    assert key(image="other", recipe_fingerprint="0" * 64, conc=1, model="other/name") == key()


@pytest.mark.parametrize(
    "changes",
    [
        {"infmax_model_prefix": "other"}, {"hw": "other"}, {"framework": "other"}, {"precision": "other"},
        {"spec_decoding": "mtp"}, {"disagg": True}, {"isl": 1024}, {"osl": 512}, {"isl": 0, "osl": 0},
        {"tp": 4}, {"pp": 2}, {"dcp_size": 2}, {"pcp_size": 2}, {"ep": 2}, {"dp_attention": True}, ROLES,
    ],
)  # fmt: skip
def test_every_other_field_makes_a_series(changes: dict[str, Any]) -> None:
    assert key(**changes) != key()


@pytest.mark.parametrize("role", ["prefill", "decode"])
@pytest.mark.parametrize(
    "name", ["num_workers", "tp", "pp", "dcp_size", "pcp_size", "ep", "dp_attention", "hw"]
)
def test_every_field_of_a_role_makes_a_series(role: str, name: str) -> None:
    value = {"dp_attention": role == "decode", "hw": "b300"}.get(name, 3)
    assert key(**{**ROLES, f"{role}_{name}": value}) != key(**ROLES)


def test_text_and_absent_sizes_are_read_like_numbers() -> None:
    values = result(tp="8", ep=None, dp_attention="False", disagg="false")
    assert identify_series(values).key == key(tp=8, ep=1, dp_attention=False, disagg=False)


def test_names_are_compared_in_lower_case() -> None:
    assert key(infmax_model_prefix="DSR1", framework="TRT", precision="FP8") == key(
        infmax_model_prefix="dsr1", framework="trt", precision="fp8"
    )


@pytest.mark.parametrize(
    ("label", "hardware"),
    [
        ("h200-trt", "h200"),
        ("H200-TRT", "h200"),
        ("h200-disagg-trt", "h200-disagg"),  # one suffix only
        ("b200-multinode-x", "b200-multinode-x"),
    ],
)
def test_one_suffix_of_a_label_is_not_hardware(label: str, hardware: str) -> None:
    assert name_hardware(label) == hardware


def test_the_sizes_of_a_role_without_gpus_are_not_compared() -> None:
    without = {**ROLES, "decode_num_workers": 0, "decode_tp": 0, "decode_ep": 0}
    assert key(**without) == key(**{**without, "decode_num_workers": 1, "decode_dp_attention": "true"})


def test_a_role_on_the_hardware_of_the_row_need_not_name_it() -> None:
    assert key(**ROLES, hw="h200-disagg", prefill_hw="h200") == key(**ROLES, hw="h200")


def test_agentic_rows_differ_by_offloading_but_not_by_its_version() -> None:
    agentic = {"isl": 0, "osl": 0, "scenario_type": "agentic-coding", "kv_offloading": "dram"}
    one = key(**agentic, kv_offload_backend={"name": "hicache", "version": "1"})
    assert one == key(**agentic, kv_offload_backend={"name": "hicache", "version": "2"})
    assert one != key(**agentic, kv_offload_backend={"name": "mooncake"})
    assert one != key(isl=0, osl=0)


def test_every_missing_field_is_named() -> None:
    with pytest.raises(RowFaultError) as caught:
        identify_series(result(tp=None, framework=None, isl=None))
    assert caught.value.faults == ["framework is missing", "isl is missing", "tp is missing"]


HOSTILE = [
    "..",
    "../../x",
    "a b",
    "a%20b",
    "con",
    "-rf",
    "\0",
    "\ud800",
    "é" * 150,
    "a\nb",
    "%",
    "~",
    "A/B",
    "a_b",
]


def test_hostile_names_make_different_safe_file_names() -> None:
    places = ("infmax_model_prefix", "framework", "precision", "hw")
    names = [identify_series(result(**{place: name})).file_name for place in places for name in HOSTILE]
    assert len(set(names)) == len(names)
    # ASCII, no slash, no blank, not an option, not hidden, short enough for any file system
    assert [name for name in names if not re.fullmatch(r"[a-z0-9._%-][A-Za-z0-9._%-]{,200}", name)] == []
    assert [name for name in names if name.startswith((".", "-"))] == []


def test_a_series_of_another_model_has_its_own_key() -> None:
    series = identify_series(result())
    assert series.key != replace(series, model_prefix="alias").key
    assert identify_series(result(infmax_model_prefix="alias")) == replace(series, model_prefix="alias")
