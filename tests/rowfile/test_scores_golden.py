"""Every case that the existing score check judged, against ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infx.rowfile.score_command import render_scores
from infx.rowfile.scores import ScoreOptions, ScoresReport, judge_scores
from infx.rowfile.thresholds import MIN_SCORE, ScoreBars, parse_bars
from tests.golden import read_cases, require_data

pytestmark = pytest.mark.golden

CASES = read_cases("scores")
# The thresholds of the tool that made the cases.
AUGUST: dict[str, Any] = {
    "default": {"gsm8k": 0.90, "gpqa_diamond_cot_n_shot": 0.30, "swebench_lite": 0.50},
    "models": {
        prefix: {"gsm8k": score}
        for prefix, score in {
            "dsr1": 0.91, "dsv4": 0.91, "glm5": 0.94, "glm5.1": 0.93, "gptoss": 0.91, "kimik2.5": 0.90,
            "minimaxm2.5": 0.92, "qwen3.5": 0.94,
        }.items()
    },
}  # fmt: skip
# Words for faults of the metadata, in which both tools agree. A word that is not here is only required to be a fault.
KINDS = {
    "bad_option", "batched_without_metadata", "duplicate_completed", "duplicate_expected", "failed_concurrency",
    "lists_missing", "missing_completed", "missing_file", "single_conc_differs",
}  # fmt: skip
# Faults of a result, which the existing tool had no words for.
OF_RESULTS = {"integration_error", "no_samples", "result_unreadable", "metadata_shape"}


def read_thresholds(case: dict[str, Any], options: dict[str, str]) -> tuple[ScoreBars, bool]:
    """Return the thresholds of a case, and whether they can be read."""
    if "thresholds" not in options:
        return parse_bars(AUGUST)[0], True
    value = case["files"].get(options["thresholds"])
    try:
        bars, faults = parse_bars(json.loads(value) if isinstance(value, str) else value)
    except ValueError:
        return ScoreBars({}, {}), False
    return bars, not faults


def judge(case: dict[str, Any], folder: Path) -> tuple[ScoresReport, bool]:
    for name, value in case["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
    args: list[str] = case["args"]
    options = {name[2:]: value for name, value in zip(args[::2], args[1::2], strict=True)}
    bars, is_readable = read_thresholds(case, options)
    report = judge_scores(
        ScoreOptions(
            folder=str(folder),
            bars=bars,
            meta=options.get("meta-env", "meta_env.json"),
            pattern=options.get("results-glob", "results*.json"),
            model_prefixes=(options.get("model-prefix", ""), case["env"].get("MODEL_PREFIX", "")),
            metric_prefix=options.get("metric-prefix"),
            min_score=float(options.get("min-score", MIN_SCORE)),
            expected=options.get("expected-concs"),
        )
    )
    return report, is_readable


def list_scores(report: ScoresReport) -> list[tuple[Any, ...]]:
    """Return the checks in the form of the cases; whether a check passed is compared apart."""
    return sorted(
        (str(check.conc), check.task, check.metric, f"{check.value:.4f}", check.bar.score, check.bar.source)
        for check in report.checks
        if isinstance(check.value, int | float)
    )


def list_expected(case: dict[str, Any]) -> list[tuple[Any, ...]]:
    names = ("task", "metric", "value_4dp", "threshold", "source")
    return sorted((str(check["conc"]), *(check[name] for name in names)) for check in case["checks"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_scores_are_judged_like_the_existing_tool(case: dict[str, Any], tmp_path: Path) -> None:
    report, is_readable = judge(case, tmp_path)
    has_passed = report.has_passed() and is_readable
    kinds = [fault.kind for fault in report.faults if fault.kind not in OF_RESULTS]
    if case["right_outcome"] == "as upstream":
        assert has_passed is (case["exit_code"] == 0), render_scores(report)
        passed = sorted(check.metric for check in report.checks if check.fault is None)
        assert passed == sorted(check["metric"] for check in case["checks"] if check["verdict"] == "PASS")
    else:  # in words, and each of them is a failure that the existing tool misses or does not explain
        assert any(word in case["right_outcome"] for word in ("fail", "refuse", "reject", "error"))
        assert not has_passed
        assert not is_readable or any(line.startswith("FAIL") for line in render_scores(report))
    if not is_readable:
        return  # the command ends before it judges
    assert list_scores(report) == list_expected(case)
    expected = case["manifest_faults"]
    assert sorted(KINDS & {*kinds}) == sorted(KINDS & {*expected})
    assert bool({*kinds} - KINDS) is bool({*expected} - KINDS)
    warned = {warning.kind for warning in report.warnings} & {"metadata_unreadable", "no_metric"}
    assert warned >= {*case["warnings"]} - {"no_metric"}


@pytest.mark.parametrize(
    ("words", "find"),
    [
        ("no sample", lambda report: {fault.kind for fault in report.faults} == {"no_samples"}),
        ("outside [0,1]", lambda report: all("from 0 to 1" in str(check.fault) for check in report.checks)),
        ("not a score", lambda report: all("from 0 to 1" in str(check.fault) for check in report.checks)),
        ("not a number", lambda report: any("from 0 to 1" in str(check.fault) for check in report.checks)),
        ("naming the file", lambda report: all("results" in fault.text for fault in report.faults)),
    ],
)
def test_the_failure_has_the_reason_that_the_case_gives(
    words: str, find: Callable[[ScoresReport], bool], tmp_path: Path
) -> None:
    require_data()
    cases = [case for case in CASES if words in case["right_outcome"]]
    for case in cases:
        folder = tmp_path / case["name"]
        folder.mkdir()
        assert find(judge(case, folder)[0]), case["name"]


def test_there_are_cases() -> None:
    require_data()
    assert CASES
