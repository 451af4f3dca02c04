"""Looks at sign-offs that went wrong and are to be repeated. Pure.

A look fails for what could not be read or written, never for a verdict; and each look reads everything anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from infx.model import Conclusion, Run

FOR = timedelta(
    days=1
)  # that failed looks are repeated; afterwards something is wrong that time does not mend
MAX_ATTEMPTS = 5  # of one look
MAX_AT_ONCE = 20


def pick_failed(runs: Iterable[Run]) -> list[Run]:
    """Those to start again, the newest first. runs: of the workflow that looks, on the base branch."""
    failed = [
        run
        for run in runs
        if run.is_completed and run.conclusion is Conclusion.FAILURE and run.attempt < MAX_ATTEMPTS
    ]
    return sorted(failed, key=lambda run: run.id, reverse=True)[:MAX_AT_ONCE]
