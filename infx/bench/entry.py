"""An entry of the changelog: what it asks to measure. How one is read is the changelog's business."""

from __future__ import annotations

from dataclasses import dataclass

from infx.bench.scenario import ScenarioType


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What an appended entry says; `line` is that of its first key, from 1.

    config_keys: exact keys or patterns, as written. pr_link: None where the entry gives no text.
    scenario_types: empty means all.
    """

    line: int
    config_keys: tuple[str, ...]
    description: tuple[str, ...]
    pr_link: str | None
    scenario_types: tuple[ScenarioType, ...] = ()
    evals_only: bool = False
    all_evals: bool = False
    no_evals: bool = False
    append_only: bool = False
    eval_min_prefill_ep: int | None = None
