"""Which two revisions an event asks about, and at which stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infx.errors import UsageError
from infx.gate.event import find_oldest
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
    match name:
        case "pull_request" | "pull_request_target":
            pull = _mapping(payload, "pull_request")
            base, number = _mapping(pull, "base"), pull.get("number")
            branch = base.get("ref")
            return Question(
                stage=Stage.PR,
                base=_text(base, "sha"),
                head=_text(_mapping(pull, "head"), "sha"),
                number=number if isinstance(number, int) else None,
                base_branch=branch if isinstance(branch, str) else None,
            )
        case "merge_group":
            group = _mapping(payload, "merge_group")
            return Question(stage=Stage.MERGE, base=_text(group, "base_sha"), head=_text(group, "head_sha"))
        case "push":
            before = _text(payload, "before")
            return Question(
                stage=Stage.MAIN,
                base=before if before.strip("0") else None,
                head=_text(payload, "after"),
                oldest=find_oldest(payload),
            )
    raise UsageError(
        f"The event {name or '(unknown)'} is about no changelog.",
        hint="Give --base-ref and --head-ref, or run on pull_request, merge_group or push.",
    )


def _mapping(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = payload.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    if not isinstance(value, str) or not value:
        raise UsageError(f"The event has no {key}.")
    return value
