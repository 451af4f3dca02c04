"""Agree on the status of a commit that is the head of several pull requests."""

from __future__ import annotations

from collections.abc import Callable

from infx.comments.status import DesiredStatus, pick_least_favorable
from infx.gather.choose import SharedHeads
from infx.model import PullRequest


def agree_on_status(
    shared: SharedHeads,
    pull: PullRequest,
    own: DesiredStatus,
    ask: Callable[[int], tuple[str, DesiredStatus | None]],
) -> DesiredStatus:
    """Return the worst status of all open pull requests with this head.

    Args:
        own: the status of this pull request alone.
        ask: returns the head SHA and the status of another pull request.
    """
    statuses = {pull.number: own}
    for number in shared.find_others(pull):
        head_sha, status = ask(number)
        if status is not None and head_sha == pull.head_sha:
            statuses[number] = status
    return pick_least_favorable(own, statuses)
