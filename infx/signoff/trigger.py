"""Decide which pull requests' sign-offs an event concerns. Pure; only ids and SHAs of the payload are used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from infx.gate.event import SHA
from infx.payload import Payload
from infx.policy.model import Policy
from infx.records import record

# The title that run-sweep gives a dispatched run.
_TITLE = re.compile(r"PR ([1-9][0-9]{0,9}) at [0-9a-f]{40}", re.ASCII)


@record
class Trigger:
    """The pull requests that an event concerns; none if neither `pull` nor `head_sha` is set."""

    pull: int | None = None  # a number
    head_sha: str | None = None  # all open pull requests with this head
    run_id: int | None = None  # of forks, only pull requests whose approval names this run
    reason: str = ""  # why the event concerns none


def parse_trigger(name: str, payload: Mapping[str, Any], policy: Policy) -> Trigger:
    """Parse the payload of an event with this name."""
    event = Payload(payload)
    match name:
        case "issue_comment":
            return _parse_comment(event, policy)
        case "workflow_run":
            return _parse_run(event, policy)
        case "workflow_dispatch":
            number = event.text("inputs", "pr") or ""
            if re.fullmatch(r"[1-9][0-9]{0,9}", number, re.ASCII):
                return Trigger(pull=int(number))
            return Trigger(reason="The dispatch names no pull request.")
    return Trigger(reason=f"The event {name} does not concern sign-offs.")


def _parse_comment(payload: Payload, policy: Policy) -> Trigger:
    number = payload.number("issue", "number")
    if number is None or not isinstance(payload.at("issue", "pull_request"), Mapping):
        return Trigger(reason="The comment is not on a pull request.")
    if payload.text("comment", "user", "type") == "Bot":
        return Trigger(reason="A bot wrote the comment; only people can sign.")
    bodies = [payload.text("comment", "body"), payload.text("changes", "body", "from")]
    if not any(body is not None and _has_trigger_word(body, policy) for body in bodies):
        return Trigger(reason="The comment is not a sign-off and contains no command.")
    return Trigger(pull=number)


def _has_trigger_word(body: str, policy: Policy) -> bool:
    # The workflow filters by the same words: a later run replaces a waiting one, so it must verify too.
    return any(word.casefold() in body.casefold() for word in list_trigger_words(policy))


def list_trigger_words(policy: Policy) -> tuple[str, ...]:
    """Return the last word of the phrase, and the commands."""
    return (policy.signoff.phrase.split()[-1], policy.signoff.settle_command, *policy.reuse.commands)


def _parse_run(payload: Payload, policy: Policy) -> Trigger:
    path, sha = payload.text("workflow_run", "path"), payload.text("workflow_run", "head_sha")
    if path is None or path.partition("@")[0] not in {
        policy.sweep.workflow,
        policy.signoff.relay_workflow,
    }:
        return Trigger(reason="The run belongs to another workflow.")
    if sha is None or not re.fullmatch(SHA, sha):
        return Trigger(reason="The run has no commit SHA.")
    title = payload.text("workflow_run", "display_title")
    is_dispatched = payload.text("workflow_run", "event") == "workflow_dispatch"
    if is_dispatched and title is not None and (match := _TITLE.fullmatch(title)):
        return Trigger(pull=int(match[1]))
    return Trigger(head_sha=sha, run_id=payload.number("workflow_run", "id") if is_dispatched else None)
