"""Judge the scores of an accuracy run: every score against its threshold, and whether the run is complete.

A score that cannot be judged has failed: without a number from 0 to 1, without samples, or with an error of the harness.
"""

from __future__ import annotations

import glob
import json
import os
from typing import Any, Iterator, NamedTuple

from .score_manifest import ScoreFault, check_manifest, find_suffix, parse_concs
from .thresholds import MIN_SCORE, UNKNOWN, Bar, ScoreBars, is_score

META, PATTERN = "meta_env.json", "results*.json"
METRIC = "exact_match,"  # of a task that declares no metric


class ScoreOptions(NamedTuple):
    """The files to judge, and by what.

    Attributes:
        folder: of the result files and the metadata.
        meta: name of the metadata file.
        pattern: of the names of result files.
        model_prefixes: candidates, the first that says something counts, before and after the metadata's own.
        metric_prefix: beginning of the names of scores; None: those that a task declares.
        expected: the requested concurrencies as text; None if they are not known.
    """

    folder: str
    bars: ScoreBars
    meta: str = META
    pattern: str = PATTERN
    model_prefixes: tuple[str, str] = ("", "")
    metric_prefix: str | None = None
    min_score: float = MIN_SCORE
    expected: str | None = None


class ScoreCheck(NamedTuple):
    """A score and its threshold.

    Attributes:
        conc: of the file's name; None if the name has none.
        value: as the harness wrote it.
        fault: a clause that says why the score has failed; None if it passed.
    """

    conc: int | None
    task: str
    metric: str
    value: Any
    bar: Bar
    fault: str | None


class ScoresReport(NamedTuple):
    """Everything that was judged. The run has passed if there are checks, no fault, and no check with a fault."""

    checks: list[ScoreCheck]
    faults: list[ScoreFault]
    warnings: list[ScoreFault]

    def has_passed(self) -> bool:
        return bool(self.checks) and not self.faults and all(check.fault is None for check in self.checks)


class _UnreadableError(ValueError):
    """Raised for a file that holds no JSON object; its text is a clause."""


def judge_scores(options: ScoreOptions) -> ScoresReport:
    """Judge every score in a folder."""
    expected = None if options.expected is None else parse_concs(options.expected)
    if options.expected is not None and expected is None:
        text = "Expected different positive numbers as requested concurrencies, not " + repr(
            options.expected[:60]
        )
        return ScoresReport([], [ScoreFault("bad_option", text)], [])
    report = ScoresReport([], [], [])
    meta = _read_meta(options, report)
    paths = sorted(glob.glob(os.path.join(glob.escape(options.folder), options.pattern)))
    paths = [path for path in paths if os.path.basename(path) != options.meta]
    report.faults.extend(check_manifest(meta, [os.path.basename(path) for path in paths], expected))
    prefix = _choose_prefix(options, meta or {})
    for path in paths:
        _judge_file(path, prefix, options, report)
    if not report.checks:
        report.warnings.append(ScoreFault("no_metric", "No score was found in " + options.pattern))
    return report


def _read_meta(options: ScoreOptions, report: ScoresReport) -> dict[str, Any] | None:
    """Return the metadata; None if it cannot be read, which is a warning, or a fault if it is other JSON."""
    try:
        return _read_object(os.path.join(options.folder, options.meta))
    except TypeError as error:
        report.faults.append(ScoreFault("metadata_shape", options.meta + ": " + str(error)))
    except _UnreadableError as error:
        report.warnings.append(ScoreFault("metadata_unreadable", options.meta + ": " + str(error)))
    return None


def _read_object(path: str) -> dict[str, Any]:
    """Return a JSON object. Raises _UnreadableError without JSON, TypeError for another JSON value."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            value = json.load(file)
    except OSError as error:
        raise _UnreadableError("it cannot be read: " + str(error.strerror)) from None
    except (ValueError, RecursionError):
        raise _UnreadableError("it is not JSON") from None
    if not isinstance(value, dict):
        raise TypeError("it is not a JSON object")
    return value


def _choose_prefix(options: ScoreOptions, meta: dict[str, Any]) -> str:
    first, last = options.model_prefixes
    candidates = (first, meta.get("infmax_model_prefix"), last)
    return next((name for name in candidates if isinstance(name, str) and name not in ("", UNKNOWN)), "")


def _judge_file(path: str, prefix: str, options: ScoreOptions, report: ScoresReport) -> None:
    name = os.path.basename(path)
    try:
        value = _read_object(path)
    except (TypeError, _UnreadableError) as error:
        report.faults.append(ScoreFault("result_unreadable", name + ": " + str(error)))
        return
    if value.get("integration_error"):
        text = name + ": the harness reports an error: " + _show(value["integration_error"])
        report.faults.append(ScoreFault("integration_error", text))
    results = value.get("results")
    if not isinstance(results, dict):
        report.faults.append(ScoreFault("result_unreadable", name + ": it has no results of tasks"))
        return
    for task, scores in results.items():
        fault = _find_task_fault(task, scores, value)
        if fault is not None:
            report.faults.append(ScoreFault(fault.kind, name + ": " + task + ": " + fault.text))
        for metric in _find_metrics(task, scores, value, options):
            bar = options.bars.find(prefix, task, options.min_score)
            score = scores[metric]
            report.checks.append(
                ScoreCheck(find_suffix(name), task, metric, score, bar, _find_score_fault(score, bar))
            )


def _find_task_fault(task: str, scores: Any, value: dict[str, Any]) -> ScoreFault | None:
    if not isinstance(scores, dict):
        return ScoreFault("result_unreadable", "its scores are not an object")
    if scores.get("integration_error"):
        return ScoreFault(
            "integration_error", "the harness reports an error: " + _show(scores["integration_error"])
        )
    counts, groups = value.get("n-samples"), value.get("groups")
    if counts is None or (isinstance(groups, dict) and task in groups):  # a group has no samples of its own
        return None
    own = counts.get(task) if isinstance(counts, dict) else None
    effective = own.get("effective") if isinstance(own, dict) else None
    if isinstance(effective, bool) or not isinstance(effective, (int, float)) or not effective > 0:
        return ScoreFault(
            "no_samples", "the effective samples are " + _show(effective) + ", expected more than 0"
        )
    return None


def _find_metrics(task: str, scores: Any, value: dict[str, Any], options: ScoreOptions) -> Iterator[str]:
    """Yield the names of a task's scores, without standard errors."""
    if not isinstance(scores, dict):
        return
    starts = tuple(_list_prefixes(task, value, options))
    for metric in scores:
        if metric.startswith(starts) and "stderr" not in metric:
            yield metric


def _list_prefixes(task: str, value: dict[str, Any], options: ScoreOptions) -> list[str]:
    if options.metric_prefix is not None:
        return [options.metric_prefix]
    configs = value.get("configs")
    config = configs.get(task) if isinstance(configs, dict) else None
    metrics = config.get("metric_list") if isinstance(config, dict) else None
    named = [
        item["metric"] + ","
        for item in (metrics if isinstance(metrics, list) else [])
        if isinstance(item, dict) and isinstance(item.get("metric"), str)
    ]
    return named or [METRIC]


def _find_score_fault(value: Any, bar: Bar) -> str | None:
    if not is_score(value):
        return "it is not a number from 0 to 1"
    return "it is below the threshold" if value < bar.score else None


def _show(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 200 else text[:199] + "…"
