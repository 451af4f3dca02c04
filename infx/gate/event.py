"""Parse the event of a workflow run into one typed value, which can also stand for a question without an event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from infx.payload import Payload
from infx.records import record

SHA = r"[0-9a-f]{40}"
MAX_PUSHED = 2048  # commits that a push event lists at most; the first commit of a longer push is unknown


class EventName(StrEnum):
    PULL_REQUEST = "pull_request"
    PUSH = "push"
    DISPATCH = "workflow_dispatch"
    MERGE_GROUP = "merge_group"
    COMMENT = "issue_comment"
    ASKED = "asked"  # not an event: a person or program asks about a pull request
    OTHER = "other"


class EventAction(StrEnum):
    """An action on a pull request that the gate knows."""

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


@record
class DispatchInputs:
    """Inputs of a dispatch: a command for the generator, two changelog revisions, or a pull request."""

    command: str = ""
    base_ref: str = ""
    head_ref: str = ""
    pull: int | None = None
    merge_sha: str = ""  # test merge of a fork's approved head
    trim: bool = False
    fail_fast: bool = False
    modifiers: tuple[str, ...] = ()  # names of effects


@record
class Event:
    """An event as its payload describes it; its facts may be out of date.

    Attributes:
        actor: who caused this attempt of the run; on a re-run the person who started it (`triggering_actor`).
        head_sha: head of the pull request, the push or the merge group.
        before: the head or the tip before a push.
        oldest: the first commit of a push without a tip before it, for example when the branch was created.
        label: the label that was added or removed.
        ref: the full name of the ref that was pushed.
        run_id: id of the workflow run that asks; None outside Actions.
        labels: labels of the pull request at the time of the event.
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
    """Parse the event of a workflow run. Fields that the payload lacks or has in another shape are None."""
    kind = _KINDS.get(name, EventName.OTHER)
    fields = Payload(payload)
    sender = fields.text("sender", "login") or ""
    pull, head = _parse_pull_and_head(kind, fields)
    return Event(
        name=kind,
        # A re-run keeps the payload of the first attempt, whose sender may be another person.
        actor=(triggering_actor or sender) if attempt > 1 else (sender or triggering_actor),
        action=_parse_action(kind, fields),
        pull=pull,
        head_sha=head,
        before=fields.text("before"),
        oldest=find_oldest(fields) if kind is EventName.PUSH else None,
        label=fields.text("label", "name"),
        ref=fields.text("ref"),
        inputs=_parse_inputs(fields) if kind is EventName.DISPATCH else None,
        run_id=run_id,
        attempt=attempt,
        labels=_parse_labels(fields) if kind is EventName.PULL_REQUEST else None,
    )


def _parse_labels(payload: Payload) -> tuple[str, ...] | None:
    """Return the pull request's labels; None if the payload has no list of them."""
    labels = payload.items("pull_request", "labels")
    if labels is None:
        return None
    return tuple(name for label in labels if (name := label.text("name")) is not None)


def find_oldest(payload: Payload) -> str | None:
    """Return the oldest commit of a push whose `before` is all zeros; None if there is a `before` or no full list.

    A push is compared with the parent of that commit.
    """
    commits = payload.items("commits") or []
    has_before = bool((payload.text("before") or "").strip("0"))
    if has_before or not 0 < len(commits) < MAX_PUSHED:
        return None
    sha = commits[0].text("id")
    return sha if sha and re.fullmatch(SHA, sha) else None


def _parse_pull_and_head(kind: EventName, payload: Payload) -> tuple[int | None, str | None]:
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
            inputs = _parse_inputs(payload)
            return inputs.pull, inputs.head_ref or None
        case EventName.ASKED | EventName.OTHER:
            return None, None


def _parse_action(kind: EventName, payload: Payload) -> EventAction:
    action = payload.text("action") or ""
    return _ACTIONS.get(action, EventAction.OTHER) if kind is EventName.PULL_REQUEST else EventAction.OTHER


def _parse_inputs(payload: Payload) -> DispatchInputs:
    """Parse the inputs. All of them, even booleans, arrive as text; a missing input is empty or absent."""

    def text(name: str) -> str:
        value = payload.at("inputs", name)
        return "" if value is None else str(value).strip()

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
