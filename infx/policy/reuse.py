"""The policy's section `reuse`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class RunId(StrEnum):
    REQUIRED = "required"
    OPTIONAL = "optional"


@dataclass(frozen=True, kw_only=True)
class ReusePolicy:
    """commands: the word → whether a run's id must follow."""

    commands: Mapping[str, RunId]
