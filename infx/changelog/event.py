"""Which two revisions an event asks about, and at which stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infx.changelog.subject import Stage
from infx.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Question:
    """base, head: commits. number: of the pull request; None where there may be several. base: None for a branch
    that was just created, where there is nothing to compare with.
    """

    stage: Stage
    base: str | None
    head: str
    number: int | None = None


def read_question(name: str, payload: Mapping[str, Any]) -> Question:
    """Raises UsageError for an event that is about no two revisions."""
    match name:
        case "pull_request" | "pull_request_target":
            pull = _mapping(payload, "pull_request")
            base, head = _text(_mapping(pull, "base"), "sha"), _text(_mapping(pull, "head"), "sha")
            number = pull.get("number")
            return Question(
                stage=Stage.PR, base=base, head=head, number=number if isinstance(number, int) else None
            )
        case "merge_group":
            group = _mapping(payload, "merge_group")
            return Question(stage=Stage.MERGE, base=_text(group, "base_sha"), head=_text(group, "head_sha"))
        case "push":
            before = _text(payload, "before")
            return Question(
                stage=Stage.MAIN, base=before if before.strip("0") else None, head=_text(payload, "after")
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
