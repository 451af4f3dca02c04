"""The events that tell another repository about results."""

from __future__ import annotations

from collections.abc import Mapping

from infx.policy.publish import PublishPolicy
from infx.publish.delivery import make_key
from infx.publish.handover import ValidatedMerge
from infx.records import record


@record
class TargetEvent:
    """A `repository_dispatch`.

    Attributes:
        key: tells two events apart, and is the same if one is sent again; it is also in the payload.
    """

    target: str
    name: str
    key: str
    payload: Mapping[str, str]


def make_merge_event(
    merge: ValidatedMerge, policy: PublishPolicy, repository: str, merge_run: int | None
) -> TargetEvent | None:
    """Return the event for the results of a merge; None if the policy names no target.

    Args:
        merge_run: the run that holds the merge's changelog entries.
    """
    if policy.target is None:
        return None
    key = make_key(repository, policy.target, (merge.sha, merge.run, merge.attempt))
    payload = {
        "source-run-id": str(merge.run),
        "merge-run-id": str(merge_run or ""),
        "key": key,
        **({"database-target": policy.database_target} if merge.is_agentic else {}),
    }
    name = policy.events.agentic if merge.is_agentic else policy.events.throughput
    return TargetEvent(target=policy.target, name=name, key=key, payload=payload)
