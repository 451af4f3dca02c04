"""The events that tell another repository about results."""

from __future__ import annotations

from collections.abc import Mapping

from infx.model import Comment, Run
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


def make_stage_event(comment: Comment, run: Run, policy: PublishPolicy, repository: str) -> TargetEvent:
    """Return the event that shows a finished sweep on the staging site, which the policy must name."""
    assert policy.stage.target is not None, "decided before"
    key = make_key(repository, policy.stage.target, (comment.id, run.id, run.attempt))
    payload = {
        "source-repository": repository,
        "pr-number": str(comment.pull_number),
        "run-id": str(run.id),
        "run-attempt": str(run.attempt),
        "run-date": run.created_at.date().isoformat(),
        "requested-by": comment.author.login,
        "comment-id": str(comment.id),
        "key": key,
    }
    return TargetEvent(target=policy.stage.target, name=policy.stage.event, key=key, payload=payload)
