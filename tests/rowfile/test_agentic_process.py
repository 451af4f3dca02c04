"""The aggregate of an AgentX replay as a file: where its parts come from, and when there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.agentic_process import process_agentic
from infx.rowfile.faults import FaultsError
from tests.rowfile.replays import EXPORT, aggregate, counters, gauge, place, record, write_replay

MISSING = "server_metrics_export.json missing or empty"


def refuse(folder: Path, **changes: str | None) -> str:
    with pytest.raises(FaultsError) as caught:
        process_agentic(place(folder, **changes))
    return str(caught.value)


def test_the_name_of_the_file_has_no_prefix_in_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is the existing layout. Without its folder, the row has the name that a job gathers."""
    write_replay(tmp_path, [record(0)])
    out = tmp_path / "out"
    assert process_agentic(place(tmp_path)).path == str(out / "m1_tp4.json")
    assert {path.name for path in out.iterdir()} == {"m1_tp4.json", "power_validation_m1_tp4.json"}
    monkeypatch.chdir(tmp_path)
    assert process_agentic(place(tmp_path, AGENTIC_OUTPUT_DIR=None)).path == "./agg_m1_tp4.json"
    assert process_agentic(place(tmp_path), out="rows").path == "rows/agg_m1_tp4.json"


def test_without_server_metrics_there_is_a_warning_and_tokens_of_records(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0), record(1)])
    values = aggregate(tmp_path)
    server = values["server_metrics"]
    assert (server["present"], server["adapter"], server["metric_count"]) == (False, "none", 0)
    assert (server["tokens"]["prompt_total"], server["tokens"]["generation_total"]) == (200, 100)
    assert server["tokens"]["requests_completed"] == 2
    assert values["warnings"] == [MISSING]


def test_the_counters_of_the_warm_up_are_not_read(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)], metrics={"vllm:prompt_tokens": counters(70)})
    path = tmp_path / EXPORT / "server_metrics_export.json"
    export = json.loads(path.read_text())
    path.write_text(json.dumps({**export, "warmup_metrics": {"vllm:prompt_tokens": counters(9000)}}))
    values = aggregate(tmp_path)
    assert values["server_metrics"]["tokens"]["prompt_total"] == 70
    assert "warnings" not in values


def test_metrics_of_no_known_server_are_refused(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)], metrics={"trt:x": counters(1)})
    assert "No known server has the metric 'trt:x'" in refuse(tmp_path, FRAMEWORK="trt")
    assert not (tmp_path / "out").exists()


def test_the_pool_of_the_log_comes_before_that_of_the_metrics(tmp_path: Path) -> None:
    metrics = {"sglang:max_total_num_tokens": gauge(5)}
    write_replay(tmp_path, [record(0)], metrics=metrics, log="[x DP0 TP0] max_total_num_tokens=900\n")
    values = aggregate(tmp_path, FRAMEWORK="sglang")
    assert values["kv_cache_pool_tokens"] == 900 == values["server_metrics"]["kv_cache"]["gpu_total_tokens"]


def test_the_log_is_read_although_no_metric_was_exported(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)], log="GPU KV cache size: 1,000 tokens\n")
    assert aggregate(tmp_path)["kv_cache_pool_tokens"] == 1000
    assert aggregate(tmp_path, FRAMEWORK="dynamo-vllm")["kv_cache_pool_tokens"] == 1000
    assert aggregate(tmp_path, FRAMEWORK="atom")["kv_cache_pool_tokens"] is None


@pytest.mark.parametrize(
    ("hit", "rate"),
    [
        ({"sum": 1, "count": 4, "avg": 90.0, "unit": "%"}, 0.25),
        ({"avg": 25.0, "unit": "%"}, 0.25),
        ({"avg": 0.25, "unit": "ratio"}, 0.25),
        ({"sum": 1, "count": 0, "avg": 0.5}, 0.5),
        (0.5, None),
        (None, None),
    ],
)
def test_the_theoretical_hit_rate(tmp_path: Path, hit: object, rate: float | None) -> None:
    write_replay(tmp_path, [record(0)], summary={"theoretical_prefix_cache_hit": hit})
    assert aggregate(tmp_path)["request_metrics"]["cache"] == {"theoretical_cache_hit_rate": rate}


def test_the_data_set_is_copied(tmp_path: Path) -> None:
    write_replay(
        tmp_path, [record(0)], summary={"metadata": {"dataset": {"loader": "x", "share": 0.123456789}}}
    )
    assert aggregate(tmp_path)["dataset"] == {"loader": "x", "share": 0.12346}


def test_foreign_texts_can_always_be_written(tmp_path: Path) -> None:
    """JSON may hold half of a surrogate pair, and may be nested more deeply than it can be written again."""
    nested: Any = "x"
    for _ in range(400):
        nested = {"a": nested}
    summary = {"metadata": {"dataset": {"name": "\ud800", "nested": nested}}}
    write_replay(tmp_path, [record(0), record(1, error={"type": "\udfff"})], summary=summary)
    values = aggregate(tmp_path)
    assert values["dataset"]["name"] == "?"
    assert values["request_accounting"]["error_categories"] == {"?": 1}


def test_files_may_be_in_the_first_subfolder_that_holds_records(tmp_path: Path) -> None:
    (tmp_path / EXPORT / "a").mkdir(parents=True)
    write_replay(tmp_path, [record(0), record(1)], export=f"{EXPORT}/run_1", summary={})
    write_replay(tmp_path, [record(0)], export=f"{EXPORT}/run_0", metrics={"vllm:x": counters(1)})
    values = aggregate(tmp_path)
    assert values["num_requests_total"] == 1
    assert values["server_metrics"]["metric_count"] == 1


def test_without_records_there_is_no_aggregate(tmp_path: Path) -> None:
    assert refuse(tmp_path) == "The client left no profile_export.jsonl here."


def test_an_optional_file_that_is_broken_is_a_warning(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)], summary=[])
    (tmp_path / EXPORT / "server_metrics_export.json").write_text("{")
    assert aggregate(tmp_path)["warnings"] == [
        "profile_export_aiperf.json is not a readable JSON object",
        "server_metrics_export.json is not a readable JSON object",
        MISSING,
    ]


def test_a_replay_without_a_good_record_has_failed(tmp_path: Path) -> None:
    """Its aggregate is written, because it says why."""
    write_replay(tmp_path, [record(0, error={"code": 500}), record(1, phase="warmup")])
    report = process_agentic(place(tmp_path))
    values = json.loads(Path(report.path).read_text())
    assert [fault.rule for fault in report.faults] == ["no-good-record"]
    assert (values["num_requests_total"], values["num_requests_successful"]) == (2, 0)
    assert values["request_accounting"]["error_categories"] == {"500": 1}
    assert values["server_metrics"]["tokens"]["prompt_total"] is None
    assert values["benchmark_outcome"]["status"] == "failed"


@pytest.mark.parametrize(
    ("failed", "limit", "status"),
    [(1, None, "passed"), (2, None, "failed"), (2, "0.2", "passed")],
)
def test_the_outcome_of_the_measured_requests(
    tmp_path: Path, failed: int, limit: str | None, status: str
) -> None:
    """Of ten requests, one may fail; those of the warm-up do not count."""
    good = [record(number) for number in range(10 - failed)]
    bad = [record(number, error={"code": 500}) for number in range(failed)]
    write_replay(tmp_path, [*good, *bad, record(0, phase="warmup", error={"code": 500})])
    outcome = aggregate(tmp_path, AIPERF_FAILED_REQUEST_THRESHOLD=limit)["benchmark_outcome"]
    assert (outcome["requested"], outcome["completed"], outcome["failed"]) == (10, 10 - failed, failed)
    assert outcome["status"] == status


@pytest.mark.parametrize("name", ["RESULT_FILENAME", "KV_OFFLOADING"])
def test_a_required_variable_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    write_replay(tmp_path, [record(0)])
    assert f"not set: {name}." in refuse(tmp_path, **{name: None})
    assert f"not set: {name}." in refuse(tmp_path, **{name: ""})


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_folder_of_results_the_option_is_named(tmp_path: Path, value: str | None) -> None:
    assert "RESULT_DIR is not set" in refuse(tmp_path, RESULT_DIR=value)
    assert "or use --result" in refuse(tmp_path, RESULT_DIR=value)


def test_the_name_of_the_file_cannot_lead_elsewhere(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)])
    assert "without a folder" in refuse(tmp_path, RESULT_FILENAME="../m1")


def test_a_limit_that_is_not_a_share_is_refused(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)])
    assert "expected a number from 0 to 1" in refuse(tmp_path, AIPERF_FAILED_REQUEST_THRESHOLD="10")


def test_failed_requests_are_noted_although_the_aggregate_is_good(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0), record(1, error={"code": 500})])
    report = process_agentic(place(tmp_path))
    assert report.faults == []
    assert report.notes == ["1 of 2 measured requests failed, at most 10 % may. The row is marked as failed."]


def test_an_earlier_aggregate_does_not_survive_a_failure(tmp_path: Path) -> None:
    write_replay(tmp_path, [record(0)])
    path = Path(process_agentic(place(tmp_path)).path)
    assert "not set: KV_OFFLOADING." in refuse(tmp_path, KV_OFFLOADING=None)
    assert not path.exists()
