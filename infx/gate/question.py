"""Which two revisions an event asks about, and at which stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infx.errors import UsageError
from infx.gate.event import find_oldest
from infx.payload import Payload
from infx.policy.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Question:
    """base, head: commits. number: of the pull request; None where there may be several.

    base is None for a push that names no tip before it, as when the branch was created. Then `oldest` is its first
    commit, whose parent is the base; None where the event does not say it either.

    base_branch: of a pull request, whose `base` may be where that branch stood long ago; entries merged since and
    taken into the head would look like its own.
    """

    stage: Stage
    base: str | None
    head: str
    oldest: str | None = None
    number: int | None = None
    base_branch: str | None = None


def read_question(name: str, payload: Mapping[str, Any]) -> Question:
    """Raises UsageError for an event that is about no two revisions."""
    told = Payload(payload)
    match name:
        case "pull_request" | "pull_request_target":
            return Question(
                stage=Stage.PR,
                base=_need(told, "pull_request", "base", "sha"),
                head=_need(told, "pull_request", "head", "sha"),
                number=told.number("pull_request", "number"),
                base_branch=told.text("pull_request", "base", "ref"),
            )
        case "merge_group":
            base, head = (_need(told, "merge_group", key) for key in ("base_sha", "head_sha"))
            return Question(stage=Stage.MERGE, base=base, head=head)
        case "push":
            before = _need(told, "before")
            return Question(
                stage=Stage.MAIN,
                base=before if before.strip("0") else None,
                head=_need(told, "after"),
                oldest=find_oldest(told),
            )
    raise UsageError(
        f"The event {name or '(unknown)'} is about no changelog.",
        hint="Give --base-ref and --head-ref, or run on pull_request, merge_group or push.",
    )


def _need(payload: Payload, *path: str) -> str:
    if not (value := payload.text(*path)):
        raise UsageError(f"The event has no {path[-1]}.")
    return value
