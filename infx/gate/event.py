"""What happened: a webhook payload, or nobody's event but a question, as one typed value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from infx.payload import Payload

SHA = re.compile(r"[0-9a-f]{40}")
MAX_PUSHED = 2048  # commits that a push event lists; of a longer push the first is not known


class EventName(StrEnum):
    PULL_REQUEST = "pull_request"
    PUSH = "push"
    DISPATCH = "workflow_dispatch"
    MERGE_GROUP = "merge_group"
    COMMENT = "issue_comment"
    ASKED = "asked"  # no event: somebody asks how a pull request stands
    OTHER = "other"


class EventAction(StrEnum):
    """What happened to a pull request; only the actions that the gate knows."""

    OPENED = "opened"
    REOPENED = "reopened"
    SYNCHRONIZE = "synchronize"
    LABELED = "labeled"
    UNLABELED = "unlabeled"
    READY_FOR_REVIEW = "ready_for_review"
    CLOSED = "closed"
    OTHER = "other"


_KINDS = {kind.value: kind for kind in EventName if kind is not EventName.ASKED}
_ACTIONS = {action.value: action for action in EventAction}


@dataclass(frozen=True, kw_only=True)
class DispatchInputs:
    """Inputs of a dispatch: a command for the generator, two changelog revisions, or a pull request.

    `modifiers` are names of effects; `merge_sha` is the checked test merge of a fork's approved head.
    """

    command: str = ""
    base_ref: str = ""
    head_ref: str = ""
    pull: int | None = None
    merge_sha: str = ""
    trim: bool = False
    fail_fast: bool = False
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Event:
    """head_sha: of the pull request, the push or the merge group, as the event tells it: it may be stale.

    actor: who caused this attempt of the run, on a re-run whoever pressed the button (`triggering_actor`).
    before: the head or the tip until a push. label: the one that was put on or taken off. ref: the full name that was pushed.
    run_id: of the workflow run that asks; None outside Actions. labels: of the pull request, as the event tells them.
    oldest: the first commit of a push that names no tip before it, as when the branch was created.
    """

    name: EventName
    actor: str = ""
    action: EventAction = EventAction.OTHER
    pull: int | None = None
    head_sha: str | None = None
    before: str | None = None
    oldest: str | None = None
    label: str | None = None
    ref: str | None = None
    inputs: DispatchInputs | None = None
    run_id: int | None = None
    attempt: int = 1
    labels: tuple[str, ...] | None = None


def parse_event(
    name: str,
    payload: Mapping[str, Any],
    *,
    run_id: int | None = None,
    attempt: int = 1,
    triggering_actor: str = "",
) -> Event:
    """The event of a workflow run; whatever the payload lacks or has in another shape is None.

    A re-run keeps the payload of the first attempt, so its sender is not the person who asks now (GitHub's own
    rule); `triggering_actor` is.
    """
    kind = _KINDS.get(name, EventName.OTHER)
    told = Payload(payload)
    sender = told.text("sender", "login") or ""
    pull, head = _pull_and_head(kind, told)
    return Event(
        name=kind,
        actor=(triggering_actor or sender) if attempt > 1 else (sender or triggering_actor),
        action=_action(kind, told),
        pull=pull,
        head_sha=head,
        before=told.text("before"),
        oldest=find_oldest(told) if kind is EventName.PUSH else None,
        label=told.text("label", "name"),
        ref=told.text("ref"),
        inputs=_inputs(told) if kind is EventName.DISPATCH else None,
        run_id=run_id,
        attempt=attempt,
        labels=_labels(told) if kind is EventName.PULL_REQUEST else None,
    )


def _labels(payload: Payload) -> tuple[str, ...] | None:
    """None if the payload does not tell."""
    found = payload.items("pull_request", "labels")
    return (
        None if found is None else tuple(name for label in found if (name := label.text("name")) is not None)
    )


def find_oldest(payload: Payload) -> str | None:
    """Return the oldest commit of a push whose `before` is all zeros; None where there is a `before`, or no such list.

    The parent of that commit is what the push is compared with.
    """
    commits = payload.items("commits") or []
    has_before = bool((payload.text("before") or "").strip("0"))
    if has_before or not 0 < len(commits) < MAX_PUSHED:
        return None
    sha = commits[0].text("id")
    return sha if sha and SHA.fullmatch(sha) else None


def _pull_and_head(kind: EventName, payload: Payload) -> tuple[int | None, str | None]:
    match kind:
        case EventName.PULL_REQUEST:
            head = payload.text("pull_request", "head", "sha")
            return payload.number("number") or payload.number("pull_request", "number"), head
        case EventName.PUSH:
            return None, payload.text("after")
        case EventName.MERGE_GROUP:
            return None, payload.text("merge_group", "head_sha")
        case EventName.COMMENT:
            return payload.number("issue", "number"), None
        case EventName.DISPATCH:
            inputs = _inputs(payload)
            return inputs.pull, inputs.head_ref or None
        case EventName.ASKED | EventName.OTHER:
            return None, None


def _action(kind: EventName, payload: Payload) -> EventAction:
    action = payload.text("action") or ""
    return _ACTIONS.get(action, EventAction.OTHER) if kind is EventName.PULL_REQUEST else EventAction.OTHER


def _inputs(payload: Payload) -> DispatchInputs:
    """Inputs arrive as text, `true` and `false` included, and an input that was not given is empty or absent."""

    def text(name: str) -> str:
        found = payload.at("inputs", name)
        return "" if found is None else str(found).strip()

    number = text("pr")
    return DispatchInputs(
        command=text("command"),
        base_ref=text("base-ref"),
        head_ref=text("head-ref"),
        pull=int(number) if re.fullmatch(r"[1-9][0-9]{0,9}", number, re.ASCII) else (0 if number else None),
        merge_sha=text("merge-sha"),
        trim=text("trim").lower() == "true",
        fail_fast=text("fail-fast").lower() == "true",
        modifiers=tuple(text("modifiers").replace(",", " ").split()),
    )
