"""Check how often a pull request is queued again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.merge.requeue import may_requeue
from infx.model import QueueEvent, QueueState, User
from infx.policy.load import default_policy
from tests.builders import APP, NOW, user

POLICY = default_policy()
GITHUB = user("github-merge-queue[bot]")


def added(by: User = APP) -> QueueEvent:
    return QueueEvent(added=True, actor=by, created_at=NOW)


def removed(reason: str = "merge_conflict", by: User = GITHUB) -> QueueEvent:
    return QueueEvent(added=False, actor=by, created_at=NOW, reason=reason)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], False),
        ([added()], False),
        ([added(), removed()], True),
        ([added(), removed("failed_checks")], False),
        ([added(), removed("manual")], False),
        ([added(), removed("merge_conflict", user("mia"))], False),  # a person took it out
        ([added(), removed(), added(), removed()], True),
        ([added(), removed(), added(), removed(), added(), removed()], False),  # the third time
        # a person who queues it again starts the count again
        ([added(), removed(), added(), removed(), added(user("mia")), removed()], True),
        ([added(), removed(), added(), removed("failed_checks")], False),
    ],
)
def test_a_bounded_number_of_times(events: list[QueueEvent], *, expected: bool) -> None:
    assert POLICY.merge.requeue == 2
    state = QueueState(node_id="PR_1", is_queued=False, events=tuple(events))
    assert may_requeue(state, POLICY) is expected
    assert not may_requeue(replace(state, is_queued=True), POLICY)
    assert not may_requeue(state, replace(POLICY, merge=replace(POLICY.merge, requeue=0)))
