"""The scores of an accuracy run: as a command for people, by the row file, and as the gate of a row's job."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.scores import ScoreOptions, judge_scores
from infx.rowfile.thresholds import ScoreBars, parse_bars
from tests.calling import call
from tests.matrix.rows import FIXED, row
from tests.results.made import harness
from tests.rowfile.playing import PLAN, cut_plan, play

META = {"infmax_model_prefix": "m1", "conc": 64}
BARS = "default: {gsm8k: 0.8}\nmodels: {m1: {gsm8k: 0.92}}\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bars.yaml").write_text(BARS)


def judge(*options: str, meta: Any = META, result: Any = None) -> tuple[int, dict[str, Any]]:
    """Write a run with the score 0.9 and call the command; return the exit code and its JSON."""
    Path("meta_env.json").write_text(json.dumps(meta))
    Path("results_x.json").write_text(json.dumps(harness() if result is None else result))
    called = call("results", "scores", "--thresholds", "bars.yaml", *options)
    return called.code, called.json if called.out else {}


@pytest.mark.parametrize(
    ("options", "source", "code"),
    [
        ([], "models.m1", 1),  # 0.9 < 0.92
        (["--model-prefix", "m2"], "default", 0),
        (["--model-prefix", "unknown"], "models.m1", 1),
    ],
)
def test_the_threshold_of_the_model_comes_first(options: list[str], source: str, code: int) -> None:
    assert judge(*options)[0] == code
    assert {check["source"] for check in judge(*options)[1]["checks"]} == {source}


def test_a_declared_metric_is_checked_and_without_one_the_run_fails() -> None:
    other = harness()
    other["results"] = {"mmlu": {"acc,none": 0.9, "acc_stderr,none": 0.1}}
    other["n-samples"] = {"mmlu": {"effective": 5}}
    assert judge(result=other)[0] == 1  # no score was found
    declared = {**other, "configs": {"mmlu": {"metric_list": [{"metric": "acc"}]}}}
    code, report = judge(result=declared)
    assert (code, [check["metric"] for check in report["checks"]]) == (0, ["acc,none"])


@pytest.mark.parametrize("effective", [0, -1, None, True, "5", float("nan")])
def test_samples_that_are_counted_must_be_more_than_none(effective: Any) -> None:
    code, report = judge("--model-prefix", "m2", result=harness(samples=effective))
    assert (code, [fault["kind"] for fault in report["faults"]]) == (1, ["no_samples"])


def test_thresholds_that_cannot_be_used_are_a_failure() -> None:
    Path("bars.yaml").write_text("default: {gsm8k: 92}\n")
    called = call("results", "scores", "--thresholds", "bars.yaml")
    assert called.code == 1
    assert "default.gsm8k is 92, not a number from 0 to 1" in called.err
    assert parse_bars([1])[1] == ["the thresholds are not an object"]


@pytest.mark.parametrize("text", ["", "x", "0", "16 16", "-1", "16,32", "१६"])
def test_a_wrong_request_is_a_failure_at_once(text: str, tmp_path: Path) -> None:
    report = judge_scores(ScoreOptions(str(tmp_path), ScoreBars({}, {}), expected=text))
    assert [fault.kind for fault in report.faults] == ["bad_option"]
    assert not report.has_passed()


def play_run(score: float) -> tuple[int, str, dict[str, Any]]:
    """Play an accuracy row of model m1 that ends with a score; return exit code, log and record."""
    files = {"meta_env.json": META, "results.json": harness(score)}
    lines = [f"open({name!r}, 'w').write({json.dumps(value)!r})" for name, value in files.items()]
    Path("work.py").write_text("\n".join(lines))
    planned = row(FIXED, 64, eval_only=True)
    played = play(cut_plan(Path.cwd(), planned, [sys.executable, "work.py"], "--thresholds", "bars.yaml"))
    return played.code, played.err, json.loads(Path("out/job_event.json").read_text())


def test_a_score_below_its_threshold_fails_the_rows_job() -> None:
    code, log, record = play_run(0.91)
    assert code == 1
    assert "FAIL gsm8k exact_match,strict-match: 0.9100, threshold 0.92 (models.m1)" in log
    assert (record["outcome"], record["error"]["stage"], record["error"]["type"]) == (
        "failure",
        "scores",
        "scores",
    )
    assert "0.9100" in record["error"]["message"]


def test_a_score_at_its_threshold_passes() -> None:
    code, _, record = play_run(0.92)
    assert (code, record["outcome"], record["error"]) == (0, "success", None)
    assert [stage["stage"] for stage in record["stages"]] == ["command", "gather", "scores"]


def test_without_the_thresholds_of_the_plan_no_score_passes() -> None:
    assert play_run(0.99)[0] == 0
    Path(PLAN, "eval-thresholds.json").unlink()
    job_id = json.loads(Path("out/job_event.json").read_text())["identity"]["row_id"]
    import subprocess

    command = [
        sys.executable,
        f"{PLAN}/row.py",
        "scores",
        "--plan",
        PLAN,
        "--id",
        job_id,
        "--directory",
        "out",
    ]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert asked.returncode == 1
    assert "thresholds cannot be read" in asked.stderr
