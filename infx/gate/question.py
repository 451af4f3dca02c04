"""Read from an event which two revisions to compare, and at which stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infx.errors import UsageError
from infx.gate.event import find_oldest
from infx.payload import Payload
from infx.policy.stage import Stage
from infx.records import record


@record
class Question:
    """Two revisions whose changelogs are compared.

    Attributes:
        base: a commit; None for a push without a tip before it, for example when the branch was created.
        head: a commit.
        oldest: the first commit of such a push, whose parent is the base; None if the event does not name it.
        number: number of the pull request; None if there may be several.
        base_branch: base branch of a pull request. Its `base` may be an old tip of that branch, from which entries
            that were merged since would look like the pull request's own.
    """

    stage: Stage
    base: str | None
    head: str
    oldest: str | None = None
    number: int | None = None
    base_branch: str | None = None


def read_question(name: str, payload: Mapping[str, Any]) -> Question:
    """Return the question of an event. Raises UsageError for an event without two revisions."""
    fields = Payload(payload)
    match name:
        case "pull_request" | "pull_request_target":
            return Question(
                stage=Stage.PR,
                base=_need(fields, "pull_request", "base", "sha"),
                head=_need(fields, "pull_request", "head", "sha"),
                number=fields.number("pull_request", "number"),
                base_branch=fields.text("pull_request", "base", "ref"),
            )
        case "merge_group":
            base, head = (_need(fields, "merge_group", key) for key in ("base_sha", "head_sha"))
            return Question(stage=Stage.MERGE, base=base, head=head)
        case "push":
            before = _need(fields, "before")
            return Question(
                stage=Stage.MAIN,
                base=before if before.strip("0") else None,
                head=_need(fields, "after"),
                oldest=find_oldest(fields),
            )
    raise UsageError(
        f"The event {name or '(unknown)'} does not name two revisions of the changelog.",
        hint="Give --base-ref and --head-ref, or run on pull_request, merge_group or push.",
    )


def _need(payload: Payload, *path: str) -> str:
    if not (value := payload.text(*path)):
        raise UsageError(f"The event payload has no {'.'.join(path)}.")
    return value
