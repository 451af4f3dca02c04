"""`python3 row.py scores`: judge the scores of an accuracy run, in its row's job or by hand."""

from __future__ import annotations

import json
import os
import sys

from .errors import RowError
from .plan import RowTask, read_row
from .runner import print_line
from .scores import META, PATTERN, ScoreCheck, ScoreOptions, ScoresReport, judge_scores
from .thresholds import MIN_SCORE, ScoreBars, parse_bars

BARS = "eval-thresholds.json"  # in the plan folder: the thresholds of the base branch
USAGE = """\
Usage: python3 row.py scores [--plan DIR --id ID] [--directory DIR] [OPTIONS]

Judge the scores of an accuracy run: every score against its threshold, and whether the run is complete.

  --plan DIR              folder that infx shards wrote; its thresholds apply
  --id ID                 a row of the plan; its model and its concurrencies apply
  --directory DIR         folder of the results (default: the current folder)
  --thresholds FILE       thresholds as JSON, instead of those of the plan
  --min-score NUMBER      least score of a task without a threshold (default: 0.85)
  --meta-env FILE         name of the metadata (default: meta_env.json)
  --model-prefix NAME     the model, instead of the metadata's
  --metric-prefix TEXT    beginning of the names of scores (default: those that the task declares, or exact_match,)
  --results-glob PATTERN  names of the result files (default: results*.json)
  --expected-concs TEXT   requested concurrencies, separated by blanks
"""
_NAMES = (
    "plan", "id", "directory", "thresholds", "min-score", "meta-env", "model-prefix", "metric-prefix", "results-glob",
    "expected-concs",
)  # fmt: skip


def run_scores(arguments: list[str]) -> int:
    """Run the subcommand with its arguments and return the exit code."""
    if "--help" in arguments:
        sys.stdout.write(USAGE)
        return 0
    given = _parse(arguments)
    plan = given.get("plan")
    row = read_row(plan, given["id"]) if plan and "id" in given else None
    path = given.get("thresholds") or (plan and plan + "/" + BARS)
    options = ScoreOptions(
        folder=given.get("directory", "."),
        bars=read_bars(path) if path else ScoreBars({}, {}),
        meta=given.get("meta-env", META),
        pattern=given.get("results-glob", PATTERN),
        model_prefixes=(given.get("model-prefix") or _find_model(row), os.environ.get("MODEL_PREFIX", "")),
        metric_prefix=given.get("metric-prefix"),
        min_score=_parse_number(given.get("min-score", str(MIN_SCORE))),
        expected=given.get("expected-concs", row.expected if row else None),
    )
    return print_report(judge_scores(options))


def check_row(row: RowTask, plan: str, folder: str) -> ScoresReport:
    """Judge the results of a row in a folder."""
    bars = read_bars(plan + "/" + BARS)
    return judge_scores(
        ScoreOptions(folder, bars, model_prefixes=(_find_model(row), ""), expected=row.expected)
    )


def _find_model(row: RowTask | None) -> str:
    return row.environment.get("MODEL_PREFIX", "") if row else ""


def _parse(arguments: list[str]) -> dict[str, str]:
    """Return the value of each option. Raises RowError (2) for a wrong command line."""
    given = dict(zip(arguments[::2], arguments[1::2]))
    if len(arguments) != 2 * len(given) or not set(given) <= {"--" + name for name in _NAMES}:
        raise RowError("Wrong arguments. Expected those of: row.py scores --help", 2)
    return {name[2:]: value for name, value in given.items()}


def _parse_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise RowError("--min-score is " + text + ", expected a number from 0 to 1.", 2)
    return number


def read_bars(path: str) -> ScoreBars:
    """Read thresholds. Raises RowError (1) if they cannot be read: without them no score can pass."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except OSError as error:
        raise RowError(path + ": the thresholds cannot be read: " + str(error.strerror) + ".") from None
    except (ValueError, RecursionError):
        raise RowError(path + ": the thresholds are not JSON.") from None
    bars, faults = parse_bars(value)
    if faults:
        raise RowError(path + ": " + "; ".join(faults[:10]) + ".")
    return bars


def print_report(report: ScoresReport) -> int:
    """Print every check and fault, and return the exit code."""
    for line in render_scores(report):
        print_line(line)
    return 0 if report.has_passed() else 1


def render_scores(report: ScoresReport) -> list[str]:
    """Return a line for each check and fault."""
    lines = [_render_check(check) for check in report.checks]
    lines += ["FAIL " + fault.text + "." for fault in report.faults]
    lines += ["WARN " + warning.text + "." for warning in report.warnings]
    return lines


def describe_failure(report: ScoresReport) -> str:
    """Return why a run has not passed, in one sentence without its period."""
    failed = [_render_check(check)[5:] for check in report.checks if check.fault is not None]
    texts = [*failed, *(fault.text for fault in report.faults)] or [fault.text for fault in report.warnings]
    return "; ".join(texts[:10])


def _render_check(check: ScoreCheck) -> str:
    value = f"{check.value:.4f}" if isinstance(check.value, float) else repr(check.value)[:60]
    where = "" if check.conc is None else " at concurrency " + str(check.conc)
    bar = format(check.bar.score, "g") + " (" + check.bar.source + ")"
    line = check.task + " " + check.metric + where + ": " + value + ", threshold " + bar
    return "PASS " + line if check.fault is None else "FAIL " + line + ": " + check.fault
