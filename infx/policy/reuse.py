"""The policy's section `reuse`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class RunId(StrEnum):
    """Whether a run's id must follow the word of a command."""

    REQUIRED = "required"
    OPTIONAL = "optional"


@dataclass(frozen=True, kw_only=True)
class ReusePolicy:
    """The comment commands that ask for the reuse of a sweep."""

    commands: Mapping[str, RunId]  # the command's word → its form
