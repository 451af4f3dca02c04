"""Check the inputs of a dispatch against the workflow's file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from infx import yaml12
from infx.errors import ProblemsError
from infx.hub.refusal import Refused

EVENT = "workflow_dispatch"


def complete_inputs(data: bytes, name: str, inputs: Mapping[str, Any]) -> dict[str, str]:
    """Return the inputs of a dispatch as text, with the defaults of missing inputs.

    Raises Refused with GitHub's message if the workflow's file does not allow this dispatch.

    Args:
        data: the workflow's file on the branch; empty if there is no file.
    """
    declared = _declared(data, name)
    if declared is None:
        raise Refused(422, f"Workflow does not have '{EVENT}' trigger")
    if unexpected := [key for key in inputs if key not in declared]:
        raise Refused(422, f"Unexpected inputs provided: {json.dumps(unexpected)}")
    return {
        key: text
        for key, about in declared.items()
        if (text := _value(key, about, inputs.get(key))) is not None
    }


def _value(name: str, about: Mapping[str, Any], value: Any) -> str | None:
    """Return an input as text, or None if it has neither a value nor a default."""
    text = about.get("default") if value is None else value
    if about.get("required") is True and text in (None, ""):
        raise Refused(422, f"Required input '{name}' not provided")
    if text is None:
        return None
    text = ("true" if text else "false") if isinstance(text, bool) else str(text)
    allowed = {"boolean": ["true", "false"], "choice": about.get("options")}.get(str(about.get("type")))
    if allowed is not None and text not in map(str, allowed):
        raise Refused(422, f"Provided value '{text}' for input '{name}' not in the list of allowed values")
    return text


def _declared(data: bytes, name: str) -> dict[str, Mapping[str, Any]] | None:
    """Return the inputs that a workflow's file declares, or None if it has no `workflow_dispatch`."""
    try:
        value = yaml12.load(data, name).value
    except ProblemsError:
        return None
    events = value.get("on") if isinstance(value, dict) else None
    if isinstance(events, str | list):
        return {} if EVENT in ([events] if isinstance(events, str) else events) else None
    if not isinstance(events, dict) or EVENT not in events:
        return None
    about = events[EVENT] if events[EVENT] is not None else {}
    inputs = (about.get("inputs") or {}) if isinstance(about, dict) else None
    if not isinstance(inputs, dict):
        return None
    return {key: about if isinstance(about, dict) else {} for key, about in inputs.items()}
