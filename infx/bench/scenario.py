"""The kinds of scenarios: all that the changelog knows of a configuration."""

from __future__ import annotations

from enum import StrEnum


class ScenarioType(StrEnum):
    FIXED = "fixed-seq-len"
    AGENTIC = "agentic-coding"
