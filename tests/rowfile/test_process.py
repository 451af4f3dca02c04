"""A client's output and a row's environment become a row, or are refused with every reason."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.clients import CLIENTS
from infx.rowfile.process import ProcessOptions, ProcessReport, process
from tests.calling import call
from tests.rowfile.outputs import ENVIRONMENT, MULTI_NODE, SGLANG, VLLM, read_row, write_output

# The times of both clients' outputs in seconds; 1000/20, 1000/25 and 1000/50 tokens per second for each user.
TIMES = {
    "mean_ttft": 0.2, "median_ttft": 0.15, "std_ttft": 0.04, "p99_ttft": 0.4, "mean_tpot": 0.02, "median_tpot": 0.025,
    "std_tpot": 0.004, "p99_tpot": 0.05, "mean_intvty": 50.0, "median_intvty": 40.0, "p99_intvty": 20.0,
    "mean_itl": 0.02, "median_itl": 0.025, "std_itl": 0.004, "p99_itl": 0.06, "mean_e2el": 9.0, "median_e2el": 8.0,
    "std_e2el": 0.7, "p99_e2el": 12.0,
}  # fmt: skip
ROW = {
    "hw": "cluster:h200-a", "conc": 8, "image": "vllm/vllm-openai:v1", "model": "acme/m1", "infmax_model_prefix": "m1",
    "framework": "vllm", "precision": "fp8", "spec_decoding": "none", "disagg": False, "recipe_fingerprint": "",
    "isl": 1024, "osl": 512, "is_multinode": False, "tp": 4, "pp": 1, "dcp_size": 1, "pcp_size": 1, "ep": 1,
    "dp_attention": "false", "tput_per_gpu": 750.0, "output_tput_per_gpu": 250.0, "input_tput_per_gpu": 500.0,
    "power_metric_schema_version": 2, "power_valid": 0, **TIMES,
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(output: dict[str, Any], environment: dict[str, str] = ENVIRONMENT, **options: Any) -> ProcessReport:
    write_output("r.json", output)
    return process(ProcessOptions(**options), environment)


def find_rules(report: ProcessReport) -> list[str]:
    return [fault.rule for fault in report.faults]


def test_vllms_output() -> None:
    report = run(VLLM)
    assert (report.faults, report.notes, report.written) == ([], [], ["./agg_r.json"])
    assert read_row() == ROW


def test_sglangs_output() -> None:
    """It has other names, neither a model nor a total, and more percentiles of one time."""
    write_output("r.jsonl", SGLANG)
    report = process(ProcessOptions(requested=100), ENVIRONMENT)
    assert (report.faults, report.notes) == ([], [])
    assert read_row() == {**ROW, "p95_itl": 0.055}


def test_sglangs_total_is_used_where_it_is_there() -> None:
    run({**SGLANG, "total_throughput": 3200.0})
    assert read_row()["tput_per_gpu"] == 800.0


def test_an_output_without_a_number_of_requests_is_noted() -> None:
    [note] = run(SGLANG).notes
    assert "Name the number with --requests." in note


def test_the_details_of_sglangs_output_count_its_requests() -> None:
    """There is an entry in `errors` for each request; 6 of 106 are 5.66 %."""
    report = run({**SGLANG, "errors": [*[""] * 100, *["timeout"] * 6]})
    assert find_rules(report) == ["too-many-failed-requests"]
    assert read_row()["benchmark_outcome"]["failed"] == 6


@pytest.mark.parametrize(
    ("failed", "status"),
    [(5, "passed"), (6, "failed")],  # of 100; 5 % are allowed
)
def test_failed_requests_mark_the_row(failed: int, status: str) -> None:
    report = run({**VLLM, "completed": 100 - failed, "failed": failed})
    assert find_rules(report) == ([] if status == "passed" else ["too-many-failed-requests"])
    assert read_row()["benchmark_outcome"] == {
        "requested": 100,
        "completed": 100 - failed,
        "failed": failed,
        "max_failure_rate": 0.05,
        "status": status,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"failed": 1},
        {"completed": 101},
        {"benchmark_outcome": {"requested": 100, "completed": 99, "failed": 1, "status": "passed"}},
        {"benchmark_outcome": "passed"},
    ],
)
def test_numbers_of_requests_that_contradict_each_other_are_refused(wrong: dict[str, Any]) -> None:
    report = run({**VLLM, **wrong})
    assert set(find_rules(report)) == {"request-counts-disagree"}
    assert not Path("agg_r.json").exists()


def test_a_client_may_fail_its_own_measurement() -> None:
    outcome = {"requested": 100, "completed": 100, "failed": 0, "max_failure_rate": 0.01, "status": "failed"}
    report = run({**VLLM, "benchmark_outcome": outcome})
    assert find_rules(report) == ["too-many-failed-requests"]
    assert read_row()["benchmark_outcome"] == outcome


def test_a_client_cannot_allow_more_failed_requests() -> None:
    outcome = {"requested": 100, "completed": 90, "failed": 10, "max_failure_rate": 0.5, "status": "passed"}
    report = run({**VLLM, "completed": 90, "failed": 10, "benchmark_outcome": outcome})
    assert find_rules(report) == ["too-many-failed-requests"]
    assert read_row()["benchmark_outcome"]["max_failure_rate"] == 0.05


def test_all_faults_are_reported_in_one_go() -> None:
    environment = {**ENVIRONMENT, "PP_SIZE": "0", "TP": "four", "DISAGG": "True", "ROUTER_METADATA": "{}"}
    del environment["IMAGE"], environment["OSL"]
    report = run({**VLLM, "model_id": None, "max_concurrency": None, "mean_ttft_ms": "fast"}, environment)
    assert find_rules(report) == [
        "missing-environment", "component-metadata-shape", "disagg-needs-multinode", "not-a-whole-number",
        "size-not-positive", "max-concurrency-null", "model-id-missing", "not-a-number",
    ]  # fmt: skip
    assert not Path("agg_r.json").exists()


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "raw-file-not-json"),
        (b"{", "raw-file-not-json"),
        (b"[]", "raw-file-not-json"),
        (b"\xff", "raw-file-not-json"),
        (b"[" * 100_000, "raw-file-not-json"),
        (b'{"a": 1}\n{"a": 2}\n', "several-results"),
        (b"{}", "client-unknown"),
    ],
)
def test_files_that_are_not_outputs(data: bytes, rule: str) -> None:
    Path("r.json").write_bytes(data)
    [fault] = process(ProcessOptions(), ENVIRONMENT).faults
    assert (fault.rule, fault.path) == (rule, "r.json")


def test_an_unknown_output_names_the_known_clients() -> None:
    Path("r.json").write_text('{"throughput": 1}')
    [fault] = process(ProcessOptions(), ENVIRONMENT).faults
    assert all(f"{client.name} (" in fault.message for client in CLIENTS)


def test_a_named_client_is_not_detected() -> None:
    """The output is read as vLLM's, which must name its model."""
    report = run(SGLANG, client="vllm")
    assert find_rules(report) == ["model-id-missing"]


def test_numbers_that_are_not_finite_are_left_out() -> None:
    run({**VLLM, "p99_ttft_ms": math.nan, "mean_itl_ms": math.inf, "p99_tpot_ms": "NaN"})
    left_out = ("p99_ttft", "mean_itl", "p99_tpot", "p99_intvty")
    assert read_row() == {name: value for name, value in ROW.items() if name not in left_out}


@pytest.mark.parametrize("total", [math.inf, None, "fast", True])
def test_without_a_throughput_there_is_no_row(total: object) -> None:
    report = run({**VLLM, "total_token_throughput": total})
    assert find_rules(report) in (["throughput-missing"], ["throughput-not-finite"])


def test_times_cannot_replace_columns() -> None:
    run({**VLLM, "tp_ms": 1.0, "hw_ms": 2.0, "tput_per_gpu_ms": 3.0})
    assert read_row() == ROW


def test_two_kinds_of_hardware() -> None:
    run(VLLM, {**MULTI_NODE, "PREFILL_HARDWARE": "h100", "DECODE_HARDWARE": "h200"})
    row = read_row()
    assert (row["prefill_hw"], row["decode_hw"]) == ("h100", "h200")
    # 3,000 tokens of all 32 GPUs; 1,000 that 16 decode GPUs wrote, 2,000 that 16 prefill GPUs read
    assert [row[f"{kind}tput_per_gpu"] for kind in ("", "output_", "input_")] == [93.75, 62.5, 125.0]


def test_engines_that_do_both_count_as_prefill() -> None:
    """All 32 GPUs write the 1,000 and read the 2,000 tokens."""
    environment = {
        **MULTI_NODE,
        "DISAGG": "false",
        "PREFILL_GPUS": "0",
        "DECODE_GPUS": "0",
        "AGGREGATE_GPUS": "32",
    }
    assert find_rules(run(VLLM, environment)) == []
    row = read_row()
    assert [row[f"num_{kind}_gpu"] for kind in ("prefill", "decode", "aggregate")] == [32, 0, 32]
    assert [row["output_tput_per_gpu"], row["input_tput_per_gpu"]] == [31.25, 62.5]
    assert [row["decode_tp"], row["decode_ep"], row["decode_pp"]] == [0, 0, 1]


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"PREFILL_GPUS": "0", "DECODE_GPUS": "0"}, "no-gpu"),
        ({"PREFILL_GPUS": "0"}, "no-prefill-gpu"),
        ({"PREFILL_GPUS": "16.5"}, "gpu-count-not-integer"),
        ({"DECODE_GPUS": ""}, "gpu-count-not-integer"),
        ({"DECODE_GPUS": "-8"}, "size-negative"),
        ({"DECODE_HARDWARE": "h200"}, "hardware-pair-incomplete"),
        ({"DECODE_PCP_SIZE": "-1"}, "size-not-positive"),
        ({"AGGREGATE_GPUS": "32"}, "aggregate-gpus-with-roles"),
    ],
)
def test_layouts_that_are_refused(changed: dict[str, str], rule: str) -> None:
    assert find_rules(run(VLLM, {**MULTI_NODE, **changed})) == [rule]


def test_a_row_without_gpus_is_refused() -> None:
    assert find_rules(run(VLLM, {**ENVIRONMENT, "TP": "0"})) == ["no-gpu"]


def test_a_result_name_cannot_lead_out_of_the_folder() -> None:
    report = run(VLLM, {**ENVIRONMENT, "RESULT_FILENAME": "../r"}, result="r.json")
    assert find_rules(report) == ["result-name-invalid"]


def test_a_refused_row_leaves_no_earlier_row() -> None:
    run(VLLM)
    run({**VLLM, "max_concurrency": None})
    assert not Path("agg_r.json").exists()
    assert not Path("power_validation_r.json").exists()


def test_a_row_is_written_completely_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(value: object, file: Any, **_: object) -> None:
        file.write('{"hw": ')
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("infx.rowfile.written.json.dump", fail)
    with pytest.raises(OSError, match="No space"):
        run(VLLM)
    assert [path.name for path in Path().iterdir()] == ["r.json"]


def test_the_command_of_infx(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    write_output("measured.json", VLLM)
    called = call("results", "process", "--result", "measured.json", "--out", "rows")
    assert (called.code, called.out, called.err) == (0, "", "Wrote rows/agg_r.json.\n")
    assert json.loads(Path("rows/agg_r.json").read_text()) == ROW
    write_output("measured.json", {**VLLM, "max_concurrency": None})
    called = call("results", "process", "--result", "measured.json", "--out", "rows")
    assert called.code == 1
    assert "measured.json: The client's output has no concurrency. Run the client" in called.err
