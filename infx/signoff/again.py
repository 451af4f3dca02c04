"""Choose which failed verifications of sign-offs to start again. Pure.

A verification run fails only if something could not be read or written, never because of a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from infx.model import Conclusion, Run

MAX_AGE = timedelta(days=1)  # of a failed run that is started again; an older failure needs a person
MAX_ATTEMPTS = 5  # of one run
MAX_AT_ONCE = 20


def pick_failed(runs: Iterable[Run]) -> list[Run]:
    """Return the runs to start again, newest first.

    runs: of the verification workflow on the base branch.
    """
    failed = [
        run
        for run in runs
        if run.is_completed and run.conclusion is Conclusion.FAILURE and run.attempt < MAX_ATTEMPTS
    ]
    return sorted(failed, key=lambda run: run.id, reverse=True)[:MAX_AT_ONCE]
