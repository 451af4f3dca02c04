"""What a follow-up sweep runs, and which runs have measured the other rows that its results repeat."""

from __future__ import annotations

from infx.records import record


@record
class RowOrigin:
    """The run and the attempt that measured a row."""

    id: str
    run: int
    attempt: int


@record
class CompletedRun:
    """A run whose rows a follow-up sweep repeats.

    Attributes:
        attempt: the newest attempt when the follow-up was planned; its artifacts are those of no later attempt.
    """

    run: int
    attempt: int


@record
class FollowUp:
    """The rows of a plan that a sweep runs, if it does not run all of them.

    Attributes:
        only: ids of the rows that run.
        runs: the runs that have measured other rows, newest first.
        origins: rows that are not measured again. A row of the plan that is neither here nor in `only` has no result.
    """

    only: tuple[str, ...]
    runs: tuple[CompletedRun, ...] = ()
    origins: tuple[RowOrigin, ...] = ()
