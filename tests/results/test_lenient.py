"""Results of one measurement get one identity, in whichever form a tool wrote them."""

from __future__ import annotations

from typing import Any

import pytest

from infx.results.lenient import ResultKind, find_metrics, identify_eval, identify_point, is_result
from infx.results.row import MAX_METRICS, RowFaultError

FIXED: dict[str, Any] = {
    "hw": "h100", "infmax_model_prefix": "m1", "framework": "vllm", "precision": "fp8", "spec_decoding": "none",
    "disagg": False, "isl": 1024, "osl": 1024, "tp": 8, "ep": 1, "pp": 1, "dcp_size": 1, "pcp_size": 1,
    "dp_attention": False, "conc": 16, "is_multinode": False,
}  # fmt: skip
MULTI: dict[str, Any] = {
    **FIXED, "tp": None, "ep": None, "dp_attention": None, "is_multinode": True, "disagg": True,
    **{f"{role}_{name}": 8 for role in ("prefill", "decode") for name in ("tp", "ep", "num_workers")},
    "prefill_dp_attention": True, "decode_dp_attention": False,
}  # fmt: skip
AGENTIC: dict[str, Any] = {
    **FIXED, "isl": 0, "osl": 0, "scenario_type": "agentic-coding",
    "kv_offloading": "dram", "kv_offload_backend": {"name": "lmcache"},
}  # fmt: skip


@pytest.mark.parametrize(
    "form",
    [
        {"conc": "16", "tp": "8"},
        {"conc": 16.0},
        {"disagg": "false", "dp_attention": "False", "is_multinode": "false"},
        {"pp": None, "dcp_size": "", "spec_decoding": None},
        {"pp": "1", "disagg": None},
        {"hw": " h100 "},
        {"tput_per_gpu": 3.5, "source": "x", "prefill_tp": 8, "scenario_type": "fixed-seq-len"},
    ],
)
def test_forms_of_the_same_result_have_the_same_identity(form: dict[str, Any]) -> None:
    assert identify_point({**FIXED, **form}) == identify_point(FIXED)


def test_what_is_left_out_has_its_default() -> None:
    short = {
        key: value for key, value in FIXED.items() if key not in {"pp", "dcp_size", "pcp_size", "disagg"}
    }
    assert identify_point(short) == identify_point(FIXED)
    assert identify_eval(short) != identify_point(short)
    repeated = {**FIXED, "prefill_tp": 8, "decode_tp": 8, "is_multinode": None}  # one engine, in both roles
    assert identify_point(repeated) == identify_point(FIXED)


@pytest.mark.parametrize("base", [FIXED, MULTI, AGENTIC], ids=["fixed", "multi-node", "AgentX"])
@pytest.mark.parametrize(
    "change",
    [
        {"hw": "h200"}, {"infmax_model_prefix": "m2"}, {"framework": "sglang"}, {"precision": "fp4"},
        {"spec_decoding": "mtp"}, {"conc": 32}, {"recipe_fingerprint": "f" * 64}, {"disagg": None},
    ],
)  # fmt: skip
def test_other_results_have_another_identity(base: dict[str, Any], change: dict[str, Any]) -> None:
    if change == {"disagg": None}:
        change = {"disagg": not base["disagg"]}
    assert identify_point({**base, **change}) != identify_point(base)
    assert identify_eval({**base, **change}) != identify_eval(base)


@pytest.mark.parametrize(
    ("base", "names"),
    [
        (FIXED, ("isl", "osl", "tp", "ep", "pp", "dcp_size", "pcp_size")),
        (MULTI, ("prefill_tp", "decode_pp", "prefill_num_workers", "decode_num_workers", "decode_ep")),
    ],
    ids=["one engine", "roles"],
)
def test_every_size_belongs_to_the_identity(base: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        assert identify_point({**base, name: 2}) != identify_point(base), name


def test_sizes_of_one_engine_mean_nothing_where_there_are_roles() -> None:
    """The existing collector fills them in for a multi-node row."""
    filled = {**MULTI, "tp": 8, "ep": 8, "dp_attention": "true"}
    assert identify_eval(filled) == identify_eval(MULTI)
    implied = {key: value for key, value in MULTI.items() if key != "is_multinode"}
    assert identify_point(implied) == identify_point(MULTI) == identify_point({**MULTI, "is_multinode": None})


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({"kv_offload_backend": "lmcache"}, True),
        ({"kv_offload_backend": {"name": "lmcache", "version": "2"}}, False),
        ({"kv_offloading": "ssd"}, False),
        ({"kv_offloading": None}, False),
        ({"isl": 5, "osl": 6}, True),
    ],
)
def test_offloading_of_agentx(change: dict[str, Any], is_same: bool) -> None:
    assert (identify_point({**AGENTIC, **change}) == identify_point(AGENTIC)) is is_same


def test_without_offloading_the_backend_does_not_matter() -> None:
    """An older result has `offloading` only, where none is the same as no key."""
    none = {**AGENTIC, "kv_offloading": "none"}
    older = {key: value for key, value in AGENTIC.items() if not key.startswith("kv_")}
    same = [none, {**none, "kv_offload_backend": None}, {**AGENTIC, "kv_offloading": None}, older]
    same += [{**older, "offloading": "none"}]
    assert len({identify_point(values) for values in same}) == 1
    assert identify_point({**older, "offloading": "cpu"}) != identify_point(older)


def test_the_aggregate_of_accuracy_results_changes_names_and_their_case() -> None:
    meta = {**FIXED, "hw": "h100-x", "framework": "VLLM", "precision": "FP8", "isl": 8192}
    row = {**meta, "hw": "H100-X", "framework": "vllm", "precision": "fp8", "model_prefix": "m1", "isl": None}
    del row["infmax_model_prefix"]
    assert identify_eval(row) == identify_eval(meta)
    assert dict(identify_eval({}).fields)["isl"] == 8192


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"conc": True}, "conc is true, expected a whole number"),
        ({"conc": [16]}, "conc is a list, expected a whole number"),
        ({"conc": 1.5}, "conc is 1.5, expected a whole number"),
        ({"conc": "9" * 5000}, "expected a whole number"),
        ({"tp": {"a": 1}}, "tp is a mapping, expected a whole number"),
        ({"disagg": "maybe"}, "disagg is maybe, expected true or false"),
        ({"dp_attention": 1}, "dp_attention is 1, expected true or false"),
        ({"hw": 5}, "hw is 5, expected text of at most 200 characters"),
        ({"hw": "x" * 201}, "expected text of at most 200 characters"),
    ],
)
def test_an_unreadable_field_is_a_fault(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(RowFaultError) as caught:
        identify_point({**FIXED, **change, "precision": False})
    assert fault in str(caught.value)
    assert len(str(caught.value)) < 500
    assert "precision is false" in str(caught.value)  # every fault at once


def test_words_of_an_identity_leave_out_what_is_usual() -> None:
    assert str(identify_point(FIXED)) == "h100 m1 vllm fp8 isl 1024 osl 1024 tp 8 ep 1 conc 16"
    assert str(identify_eval({**FIXED, "pp": 2})).endswith("tp 8 ep 1 pp 2 conc 16")
    assert identify_point(FIXED).kind is ResultKind.FIXED
    assert identify_point({**FIXED, "hw": None, "conc": None}).find_absent() == ["hw", "conc"]


def test_metrics_are_the_numbers_that_do_not_identify() -> None:
    values = {**FIXED, "tput_per_gpu": 2.5, "median_ttft": 1, "ok": True, "text": "x"}
    assert find_metrics(values) == (("median_ttft", 1), ("tput_per_gpu", 2.5))
    with pytest.raises(RowFaultError):
        find_metrics({f"m{number}": number for number in range(MAX_METRICS + 1)})


@pytest.mark.parametrize(
    ("value", "expected"),
    [(FIXED, True), ({"conc": 1}, True), ({"power": 1}, False), ([], False), (None, False)],
)
def test_a_sidecar_file_is_not_a_result(value: object, expected: bool) -> None:
    assert is_result(value) is expected
