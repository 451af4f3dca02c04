"""The outputs of a multi-node row: one for each concurrency, with the GPUs in their names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.batch import parse_name
from infx.rowfile.layout import RoleGpus
from infx.rowfile.process import ProcessOptions, ProcessReport, process
from tests.calling import call
from tests.rowfile.outputs import MULTI_NODE, VLLM, read_row, write_output

# A workflow sets the GPUs of roles only for a single output.
ENVIRONMENT = {
    **{name: value for name, value in MULTI_NODE.items() if not name.endswith("_GPUS")},
    "CONC_LIST": "8 16",
}
GPUS = "gpus_32_ctx_16_gen_16"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(conc: int, name: str, **changed: Any) -> None:
    write_output(f"{name}.json", {**VLLM, "max_concurrency": conc, **changed})


def run(environment: dict[str, str] = ENVIRONMENT) -> ProcessReport:
    return process(ProcessOptions(has_all=True), environment)


def find_rules(report: ProcessReport) -> list[str]:
    return [fault.rule for fault in report.faults]


@pytest.mark.parametrize(
    ("name", "conc", "gpus", "roles"),
    [
        (f"r_c8_{GPUS}", 8, 32, RoleGpus(16, 16)),
        (f"r_conc8_{GPUS}", 8, 32, RoleGpus(16, 16)),
        (f"r_results_concurrency_8_{GPUS}", 8, 32, RoleGpus(16, 16)),
        (f"r_concurrency_8_req_rate_inf_{GPUS}", 8, 32, RoleGpus(16, 16)),
        ("r_conc8_req_rate_1.5_gpus_32", 8, 32, None),
        ("r_conc8_gpus_32_ctx_16", 8, 32, None),
        ("r_conc8", 8, None, None),
        ("r_gpus_32", None, 32, None),
        ("r_conc8_notes", None, None, None),
        ("r_conc_8", None, None, None),
    ],
)
def test_the_end_of_a_name(name: str, conc: int | None, gpus: int | None, roles: RoleGpus | None) -> None:
    output = parse_name(f"folder/{name}.json")
    assert (output.stem, output.conc, output.gpus, output.roles) == (name, conc, gpus, roles)


def test_every_concurrency_becomes_a_row() -> None:
    write(8, f"r_conc8_{GPUS}")
    write(16, f"r_c16_{GPUS}")
    write_output(f"r_c16_{GPUS}.pytorch.json", {})
    write_output("r_notes.json", {})
    report = run()
    assert report.faults == []
    assert report.written == [f"./agg_r_c16_{GPUS}.json", f"./agg_r_conc8_{GPUS}.json"]
    assert report.notes == [
        "./r_notes.json is not a result: its name does not end in a concurrency or a number of GPUs."
    ]
    row = read_row(f"r_c16_{GPUS}")
    assert [row[name] for name in ("conc", "num_prefill_gpu", "num_decode_gpu")] == [16, 16, 16]
    # 1,000 tokens that 16 decode GPUs wrote, 2,000 that 16 prefill GPUs read
    assert [row[f"{kind}tput_per_gpu"] for kind in ("", "output_", "input_")] == [93.75, 62.5, 125.0]


def test_the_summary_lists_every_output() -> None:
    write(8, f"r_conc8_{GPUS}")
    write(9, f"r_conc16_{GPUS}")
    run()
    summary = json.loads(Path("result_processing_r.json").read_text())
    assert summary["exit_code"] == 1
    assert [(point["concurrency"], point["rows"]) for point in summary["points"]] == [
        (16, []),
        (8, [f"agg_r_conc8_{GPUS}.json"]),
    ]


def test_without_roles_in_the_name_all_gpus_are_prefill() -> None:
    write(8, "r_conc8_gpus_32")
    run({**ENVIRONMENT, "CONC_LIST": "8"})
    row = read_row("r_conc8_gpus_32")
    assert [row["num_prefill_gpu"], row["num_decode_gpu"], row["decode_tp"]] == [32, 0, 0]


def test_without_decode_workers_all_gpus_are_prefill() -> None:
    write(8, f"r_conc8_{GPUS}")
    run({**ENVIRONMENT, "CONC_LIST": "8", "DECODE_NUM_WORKERS": "0"})
    row = read_row(f"r_conc8_{GPUS}")
    assert [row["num_prefill_gpu"], row["num_decode_gpu"]] == [32, 0]


def test_without_gpus_in_the_name_the_workers_count() -> None:
    """Two prefill engines of 8 GPUs, and one decode engine of 16."""
    write(8, "r_conc8")
    assert run({**ENVIRONMENT, "CONC_LIST": "8"}).faults == []
    row = read_row("r_conc8")
    assert [row["num_prefill_gpu"], row["num_decode_gpu"]] == [16, 16]


def test_without_a_concurrency_in_the_name_the_content_has_it() -> None:
    write(8, f"r_{GPUS}")
    assert run({**ENVIRONMENT, "CONC_LIST": "8"}).faults == []


@pytest.mark.parametrize(
    ("name", "conc", "rule"),
    [
        (f"r_conc16_{GPUS}", 8, "concurrency-mismatch"),
        ("r_conc16_gpus_31_ctx_16_gen_16", 16, "gpu-sum-wrong"),
        ("r_conc16_gpus_0", 16, "no-gpu"),
        ("r_conc16_gpus_16_ctx_0_gen_16", 16, "no-prefill-gpu"),
    ],
)
def test_a_faulty_output_does_not_keep_back_the_others(name: str, conc: int, rule: str) -> None:
    write(8, f"r_conc8_{GPUS}")
    write(conc, name)
    report = run()
    assert find_rules(report) == [rule]
    assert report.written == [f"./agg_r_conc8_{GPUS}.json"]


def test_two_outputs_of_a_concurrency_are_refused() -> None:
    write(8, f"r_conc8_{GPUS}")
    write(8, f"r_c8_{GPUS}")
    write(16, f"r_c16_{GPUS}")
    report = run()
    assert find_rules(report) == ["concurrency-repeated", "concurrency-repeated"]
    assert report.written == [f"./agg_r_c16_{GPUS}.json"]


def test_concurrencies_are_compared_with_the_plan() -> None:
    write(8, f"r_conc8_{GPUS}")
    write(32, f"r_conc32_{GPUS}")
    report = run()
    assert find_rules(report) == ["concurrency-unplanned", "concurrency-missing"]
    assert report.written == [f"./agg_r_conc8_{GPUS}.json"]


def test_no_output_at_all() -> None:
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "CONC_LIST"}
    assert find_rules(run(environment)) == ["raw-file-missing"]


def test_a_missing_variable_is_reported_once() -> None:
    write(8, f"r_conc8_{GPUS}")
    write(16, f"r_conc16_{GPUS}")
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "IMAGE"}
    assert find_rules(run(environment)) == ["missing-environment"]


def test_the_outputs_may_be_in_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("measured").mkdir()
    write(8, f"measured/r_conc8_{GPUS}")
    for name, value in {**ENVIRONMENT, "CONC_LIST": "8"}.items():
        monkeypatch.setenv(name, value)
    called = call("results", "process", "--all", "--result", "measured", "--out", "rows")
    assert (called.code, called.err) == (0, f"Wrote rows/agg_r_conc8_{GPUS}.json.\n")
