"""Decide whether a pull request that left the merge queue is queued again without a person."""

from __future__ import annotations

from collections.abc import Sequence

from infx.model import QueueEvent, QueueState
from infx.policy.model import Policy

# The timeline's reason for an entry that conflicts with an entry ahead, which was merged since then.
_AHEAD = {"merge_conflict"}


def may_requeue(state: QueueState, policy: Policy) -> bool:
    """Return whether the last event removed the pull request because of an entry ahead, and not too often."""
    if state.is_queued or not state.events or not is_pushed_out(state.events[-1]):
        return False
    return count_removals(state.events) <= policy.merge.requeue


def count_removals(events: Sequence[QueueEvent]) -> int:
    """Return how often entries ahead pushed the pull request out since a person queued it. events: oldest first."""
    removals = 0
    for event in events:
        if event.added and event.actor.is_human:
            removals = 0
        elif is_pushed_out(event):
            removals += 1
    return removals


def is_pushed_out(event: QueueEvent) -> bool:
    """Return whether GitHub removed the pull request because of an entry ahead."""
    return not event.added and event.reason.lower() in _AHEAD and not event.actor.is_human
