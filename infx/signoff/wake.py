"""Which event is worth a look at which pull request's sign-offs. Pure; the payload is only read for numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infx.policy.model import Policy

_SHA = re.compile(r"[0-9a-f]{40}")
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


def read_wake(name: str, payload: Mapping[str, Any], policy: Policy) -> Trigger:
    """name: of the event."""
    match name:
        case "issue_comment":
            return _of_comment(payload, policy)
        case "workflow_run":
            return _of_run(payload, policy)
        case "workflow_dispatch":
            number = _get(payload, "inputs", "pr")
            if isinstance(number, str) and re.fullmatch(r"[1-9][0-9]{0,9}", number, re.ASCII):
                return Trigger(pull=int(number))
            return Trigger(reason="The dispatch names no pull request.")
    return Trigger(reason=f"The event {name} says nothing about sign-offs.")


def _of_comment(payload: Mapping[str, Any], policy: Policy) -> Trigger:
    number = _get(payload, "issue", "number")
    if not isinstance(number, int) or not isinstance(_get(payload, "issue", "pull_request"), Mapping):
        return Trigger(reason="The comment is on no pull request.")
    if _get(payload, "comment", "user", "type") == "Bot":
        return Trigger(reason="The comment is a bot's; only people sign.")
    bodies = [_get(payload, "comment", "body"), _get(payload, "changes", "body", "from")]
    if not any(isinstance(body, str) and _matters(body, policy) for body in bodies):
        return Trigger(reason="The comment is no sign-off and holds none of our commands.")
    return Trigger(pull=number)


def _matters(body: str, policy: Policy) -> bool:
    """Also what merely may be a sign-off. The workflow lets nothing through that this refuses: a look that waits is
    replaced by a later one, which must then look as well.
    """
    return any(word.casefold() in body.casefold() for word in wake_words(policy))


def wake_words(policy: Policy) -> tuple[str, ...]:
    """The last word of the phrase, and the commands."""
    return (policy.signoff.phrase.split()[-1], policy.signoff.settle_command, *policy.reuse.commands)


def _of_run(payload: Mapping[str, Any], policy: Policy) -> Trigger:
    path, sha = _get(payload, "workflow_run", "path"), _get(payload, "workflow_run", "head_sha")
    if not isinstance(path, str) or path.partition("@")[0] not in {
        policy.sweep.workflow,
        policy.signoff.relay_workflow,
    }:
        return Trigger(reason="The run is of another workflow.")
    if not isinstance(sha, str) or not _SHA.fullmatch(sha):
        return Trigger(reason="The run names no commit.")
    number, title = _get(payload, "workflow_run", "id"), _get(payload, "workflow_run", "display_title")
    is_dispatched = _get(payload, "workflow_run", "event") == "workflow_dispatch"
    if is_dispatched and isinstance(title, str) and (told := _TITLE.fullmatch(title)):
        return Trigger(pull=int(told[1]))
    return Trigger(head_sha=sha, run_id=number if is_dispatched and isinstance(number, int) else None)


def _get(value: Any, *steps: str) -> Any:
    for step in steps:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
