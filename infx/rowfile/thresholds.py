"""The scores that accuracy runs must reach."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

MIN_SCORE = 0.85  # of a task that no threshold names
UNKNOWN = "unknown"  # tools write it where a name is missing


class Bar(NamedTuple):
    """The least score of a task, and where it is from: `models.<prefix>`, `default` or `min-score`."""

    score: float
    source: str


class ScoreBars(NamedTuple):
    """The least scores by task, and those of a model by its prefix, which come first."""

    tasks: dict[str, float]
    models: dict[str, dict[str, float]]

    def find(self, prefix: str, task: str, otherwise: float = MIN_SCORE) -> Bar:
        own = self.models.get(prefix, {})
        if task in own:
            return Bar(own[task], "models." + prefix)
        if task in self.tasks:
            return Bar(self.tasks[task], "default")
        return Bar(otherwise, "min-score")


def parse_bars(value: Any) -> tuple[ScoreBars, list[str]]:
    """Return the thresholds of a JSON value, and a clause for each fault.

    value: an object with `default` (task → score) and `models` (prefix → task → score). An object with neither, as in
    older files, holds the default scores.
    """
    if not isinstance(value, dict):
        return ScoreBars({}, {}), ["the thresholds are not an object"]
    is_flat = not {"default", "models"} & set(value)
    faults: list[str] = []
    tasks = _parse_scores(value if is_flat else value.get("default", {}), "default", faults)
    models = {} if is_flat else value.get("models", {})
    if not isinstance(models, dict):
        faults.append("models is not an object")
        models = {}
    by_model = {
        str(prefix): _parse_scores(scores, "models." + str(prefix), faults)
        for prefix, scores in models.items()
    }
    return ScoreBars(tasks, by_model), faults


def _parse_scores(value: Any, name: str, faults: list[str]) -> dict[str, float]:
    if not isinstance(value, dict):
        faults.append(name + " is not an object")
        return {}
    bad = [task for task, score in value.items() if not is_score(score)]
    faults += [
        name + "." + str(task) + " is " + repr(value[task])[:60] + ", not a number from 0 to 1"
        for task in bad
    ]
    return {str(task): float(score) for task, score in value.items() if task not in bad}


def is_score(value: Any) -> bool:
    """Return whether a value is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value <= 1 and math.isfinite(value)
