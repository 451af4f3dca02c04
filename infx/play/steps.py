"""What a play shows: its steps, and the ends of rows and sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infx.bench.jobs import RowJob
from infx.records import record


@record
class PlayStep:
    """An event of a play: a person's action, or a command."""

    who: str
    words: str
    pull: int | None = None  # the pull request that the step belongs to
    command: str | None = None
    code: int = 0
    seconds: float = 0.0  # real time
    reads: int = 0
    writes: int = 0
    shown: tuple[str, ...] = ()  # lines of the output that a reader should see


@record
class RowOutcome:
    """The end of a row's job."""

    job: RowJob
    conclusion: str  # success, failure or cancelled
    runner: str = ""
    seconds: float = 0.0  # 0: never started
    words: str = ""


@record
class SweepEnd:
    """The end of a run of the sweep workflow."""

    run: int
    decision: Mapping[str, Any]  # of the gate
    rows: tuple[RowOutcome, ...]
    is_good: bool  # nothing failed or was refused; there may have been nothing to do
