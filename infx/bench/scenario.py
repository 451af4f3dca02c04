"""The kinds of scenarios, the only part of a configuration that the changelog needs."""

from __future__ import annotations

from enum import StrEnum


class ScenarioType(StrEnum):
    FIXED = "fixed-seq-len"
    AGENTIC = "agentic-coding"
