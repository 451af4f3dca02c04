"""The policy's section `reuse`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from infx.records import record


class RunId(StrEnum):
    """Whether a run's id must follow the word of a command."""

    REQUIRED = "required"
    OPTIONAL = "optional"


class CoverageRule(StrEnum):
    """How much of the merge's plan a reused sweep must cover."""

    REPORTED = "reported"  # a named run may cover less; its coverage is shown everywhere
    REQUIRED = "required"  # all of it, whoever names the run


@record
class ReusePolicy:
    """How a finished sweep may serve as the merge's sweep."""

    commands: Mapping[str, RunId]  # the command's word → its form
    coverage: CoverageRule  # what happens to a sweep that covers only a part of the merge's plan
