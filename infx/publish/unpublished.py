"""Choose the merges whose publication is started again: by facts, not by the events that may have been missed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from infx.model import Conclusion, Run
from infx.publish.delivery import Delivery, DeliveryState
from infx.records import record

MAX_LOOKED = 10  # merges whose statuses one command reads
MAX_TRIES = 3  # dispatches for one merge
GRACE = timedelta(minutes=10)  # in which the push of a merge starts the workflow itself


@record
class RecentMerge:
    """A commit of the base branch that changes the changelog.

    Attributes:
        at: when it was committed.
    """

    sha: str
    at: datetime


def select_doubtful(
    merges: Sequence[RecentMerge], runs: Sequence[Run], sweeps: Sequence[Run], now: datetime
) -> list[RecentMerge]:
    """Return the merges that no run of the workflow is known to have dealt with, oldest first.

    Args:
        runs: of the workflow that publishes, on the base branch.
        sweeps: that pushes to the base branch have started.
    """
    doubtful = []
    for merge in merges:
        own = [run for run in runs if _is_for(run, merge.sha)]
        tries = sum(run.event == "workflow_dispatch" for run in own)
        sweep = max(
            (run for run in sweeps if run.head_sha == merge.sha), key=lambda run: run.id, default=None
        )
        is_active = any(not run.is_completed for run in own) or (sweep is not None and not sweep.is_completed)
        since = sweep.updated_at if sweep else datetime.min.replace(tzinfo=now.tzinfo)
        is_done = any(run.conclusion is Conclusion.SUCCESS and run.created_at >= since for run in own)
        if not is_active and not is_done and tries < MAX_TRIES and merge.at + GRACE <= now:
            doubtful.append(merge)
    return sorted(doubtful, key=lambda merge: merge.at)[:MAX_LOOKED]


def is_unpublished(delivery: Delivery, sweep: Run | None) -> bool:
    """Return whether the publication of a merge is started again.

    A refusal is final until the merge's own sweep has ended again; an event of unknown fate waits for a person.
    """
    match delivery.state:
        case DeliveryState.NONE | DeliveryState.WAITING:
            return True
        case DeliveryState.FAILED:
            published_at = delivery.status.created_at if delivery.status else None
            return sweep is not None and published_at is not None and sweep.updated_at > published_at
        case _:
            return False


def _is_for(run: Run, sha: str) -> bool:
    """Return whether a run of the workflow is for a merge: a dispatch names the merge in its title."""
    if run.event == "workflow_dispatch":
        return run.title.partition(" ")[0] == sha
    return run.event == "push" and run.head_sha == sha
