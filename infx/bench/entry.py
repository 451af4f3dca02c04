"""An entry of the changelog, without the text that it was parsed from."""

from __future__ import annotations

from infx.bench.scenario import ScenarioType
from infx.records import record


@record
class Entry:
    """An appended entry of the changelog."""

    line: int  # of the first key, from 1
    config_keys: tuple[str, ...]  # exact keys or patterns, as written
    description: tuple[str, ...]
    pr_link: str | None  # None if the value is not text
    scenario_types: tuple[ScenarioType, ...] = ()  # empty for all
    evals_only: bool = False
    all_evals: bool = False
    no_evals: bool = False
    append_only: bool = False
    eval_min_prefill_ep: int | None = None
