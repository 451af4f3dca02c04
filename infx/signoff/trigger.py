"""Which event is worth a look at which pull request's sign-offs. Pure; the payload is only read for numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infx.gate.event import SHA
from infx.payload import Payload
from infx.policy.model import Policy

_TITLE = re.compile(
    r"PR ([1-9][0-9]{0,9}) at [0-9a-f]{40}", re.ASCII
)  # that run-sweep gives a dispatched run


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """pull: a number. head_sha: all open pull requests with this head; run_id: of forks, those whose approval
    names this run. None of them: nobody, and the reason.
    """

    pull: int | None = None
    head_sha: str | None = None
    run_id: int | None = None
    reason: str = ""


def read_trigger(name: str, payload: Mapping[str, Any], policy: Policy) -> Trigger:
    """name: of the event."""
    told = Payload(payload)
    match name:
        case "issue_comment":
            return _of_comment(told, policy)
        case "workflow_run":
            return _of_run(told, policy)
        case "workflow_dispatch":
            number = told.text("inputs", "pr") or ""
            if re.fullmatch(r"[1-9][0-9]{0,9}", number, re.ASCII):
                return Trigger(pull=int(number))
            return Trigger(reason="The dispatch names no pull request.")
    return Trigger(reason=f"The event {name} says nothing about sign-offs.")


def _of_comment(payload: Payload, policy: Policy) -> Trigger:
    number = payload.number("issue", "number")
    if number is None or not isinstance(payload.at("issue", "pull_request"), Mapping):
        return Trigger(reason="The comment is on no pull request.")
    if payload.text("comment", "user", "type") == "Bot":
        return Trigger(reason="The comment is a bot's; only people sign.")
    bodies = [payload.text("comment", "body"), payload.text("changes", "body", "from")]
    if not any(body is not None and _matters(body, policy) for body in bodies):
        return Trigger(reason="The comment is no sign-off and holds none of our commands.")
    return Trigger(pull=number)


def _matters(body: str, policy: Policy) -> bool:
    """Also what merely may be a sign-off. The workflow lets nothing through that this refuses: a look that waits is
    replaced by a later one, which must then look as well.
    """
    return any(word.casefold() in body.casefold() for word in trigger_words(policy))


def trigger_words(policy: Policy) -> tuple[str, ...]:
    """The last word of the phrase, and the commands."""
    return (policy.signoff.phrase.split()[-1], policy.signoff.settle_command, *policy.reuse.commands)


def _of_run(payload: Payload, policy: Policy) -> Trigger:
    path, sha = payload.text("workflow_run", "path"), payload.text("workflow_run", "head_sha")
    if path is None or path.partition("@")[0] not in {
        policy.sweep.workflow,
        policy.signoff.relay_workflow,
    }:
        return Trigger(reason="The run is of another workflow.")
    if sha is None or not SHA.fullmatch(sha):
        return Trigger(reason="The run names no commit.")
    title = payload.text("workflow_run", "display_title")
    is_dispatched = payload.text("workflow_run", "event") == "workflow_dispatch"
    if is_dispatched and title is not None and (told := _TITLE.fullmatch(title)):
        return Trigger(pull=int(told[1]))
    return Trigger(head_sha=sha, run_id=payload.number("workflow_run", "id") if is_dispatched else None)
