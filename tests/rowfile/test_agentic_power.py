"""Power of an AgentX replay: its window and its tokens, and every reason why they are not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.agentic_power import OFFSET_FILE
from infx.rowfile.agentic_process import process_agentic
from tests.rowfile.replays import EXPORT, aggregate, place, record, write_replay

START = 1_782_806_400  # 2026-06-30 08:00:00 UTC
WINDOW = {"start_time": "2026-06-30T08:00:00.5+00:00", "end_time": "2026-06-30T08:00:10.5+00:00"}


def write_telemetry(folder: Path, *, watts: float = 100.0, gpus: int = 4) -> None:
    """Write what a monitor sees each second, from a second before the window to a second after it."""
    rows = [f"{START + second},{gpu},{watts}" for second in range(-1, 13) for gpu in range(gpus)]
    (folder / "gpu_metrics.csv").write_text("timestamp,gpu,power\n" + "\n".join(rows) + "\n")


def measure(folder: Path, **changes: str | None) -> dict[str, Any]:
    return aggregate(folder, GPU_METRICS_CSV=str(folder / "gpu_metrics.csv"), **changes)


def read_reasons(folder: Path, **changes: str | None) -> list[str]:
    values = measure(folder, **changes)
    assert values["power_valid"] == 0
    assert "total_gpu_energy_j" not in values
    reasons: list[str] = json.loads((folder / "out/power_validation_m1_tp4.json").read_text())["reasons"]
    return reasons


def test_energy_is_that_of_the_window_of_the_client(tmp_path: Path) -> None:
    """Four GPUs at 100 W for 10 s are 4,000 J; two good records have 200 tokens in and 100 out."""
    write_telemetry(tmp_path)
    write_replay(tmp_path, [record(0), record(1), record(2, error={"code": 500})], summary=WINDOW)
    values = measure(tmp_path)
    assert (values["power_metric_schema_version"], values["power_valid"]) == (2, 1)
    assert values["total_gpu_energy_j"] == 4000
    assert (values["avg_power_w"], values["avg_total_gpu_power_w"]) == (100, 400)
    assert values["joules_per_successful_query"] == 2000
    assert (values["joules_per_input_token"], values["joules_per_output_token"]) == (20, 40)
    assert values["joules_per_total_token"] == 13.333333


@pytest.mark.parametrize("offset", ["+0200", "+02:00\n"])
def test_a_time_without_an_offset_is_that_of_the_clock(tmp_path: Path, offset: str) -> None:
    write_telemetry(tmp_path)
    local = {"start_time": "2026-06-30T10:00:00.500000", "end_time": "2026-06-30T10:00:10.500000"}
    write_replay(tmp_path, [record(0)], summary=local)
    (tmp_path / "results" / OFFSET_FILE).write_text(offset)
    assert measure(tmp_path)["total_gpu_energy_j"] == 4000


@pytest.mark.parametrize(
    ("summary", "offset", "reason"),
    [
        (None, None, "profile_artifacts_missing"),
        ([], None, "profile_artifacts_invalid"),
        ({"x": 1}, None, "profile_window_missing"),
        ({**WINDOW, "end_time": ""}, None, "profile_window_missing"),
        ({**WINDOW, "end_time": "soon"}, None, "profile_window_invalid"),
        ({**WINDOW, "end_time": 5}, None, "profile_window_invalid"),
        ({**WINDOW, "end_time": WINDOW["start_time"]}, None, "profile_window_invalid"),
        ({**WINDOW, "end_time": "2026-06-30T08:00:10"}, None, "profile_timezone_offset_missing"),
        ({**WINDOW, "end_time": "2026-06-30T08:00:10"}, "CEST", "profile_timezone_offset_invalid"),
        ({**WINDOW, "end_time": "2026-06-30T08:00:10"}, "+2500", "profile_timezone_offset_invalid"),
    ],
)
def test_a_window_that_is_not_known(tmp_path: Path, summary: Any, offset: str | None, reason: str) -> None:
    write_telemetry(tmp_path)
    write_replay(tmp_path, [record(0)], summary=summary)
    if offset is not None:
        (tmp_path / "results" / OFFSET_FILE).write_text(offset)
    assert read_reasons(tmp_path) == [reason]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (record(1, input_sequence_length=None), "incomplete_token_accounting"),
        (record(1, output_sequence_length="12.5"), "incomplete_token_accounting"),
    ],
)
def test_tokens_of_every_good_record_must_be_known(tmp_path: Path, item: dict[str, Any], reason: str) -> None:
    write_telemetry(tmp_path)
    write_replay(tmp_path, [record(0), item], summary=WINDOW)
    assert read_reasons(tmp_path) == [reason]


def test_a_replay_without_a_good_record_has_no_power(tmp_path: Path) -> None:
    write_telemetry(tmp_path)
    write_replay(tmp_path, [record(0, error={"code": 500})], summary=WINDOW)
    assert read_reasons(tmp_path) == ["successful_request_count_invalid"]


def test_every_gpu_of_the_row_must_have_been_seen(tmp_path: Path) -> None:
    write_telemetry(tmp_path, gpus=8)
    write_replay(tmp_path, [record(0)], summary=WINDOW)
    assert read_reasons(tmp_path) == ["expected_gpu_count_mismatch"]


def test_several_nodes_need_a_package_of_samples(tmp_path: Path) -> None:
    write_telemetry(tmp_path)
    write_replay(tmp_path, [record(0)], summary=WINDOW)
    changes = {"IS_MULTINODE": "true", "PREFILL_NUM_WORKERS": "1", "PREFILL_TP": "4"}
    assert read_reasons(tmp_path, **changes) == ["power_artifacts_missing"]


def test_a_row_that_needs_power_is_written_and_refused(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)], summary=WINDOW)
    (tmp_path / EXPORT).joinpath("profile_export_aiperf.json").unlink()
    report = process_agentic(place(tmp_path, REQUIRE_POWER="1"))
    assert [fault.rule for fault in report.faults] == ["power-required-but-invalid"]
    assert Path(report.path).exists()
