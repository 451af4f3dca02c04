"""Components of a deployment, such as its router: a name and a version, in a variable of the row's environment."""

from __future__ import annotations

import json

from .values import Variables, show_value

_FIELDS = ("name", "version")


def parse_component(
    variables: Variables, name: str, required: tuple[str, ...] = _FIELDS
) -> dict[str, str] | None:
    """Return a component; None if the variable is not set, empty or `null`. Another form is noted as a fault.

    required: the fields that it must have.
    """
    text = variables.find(name)
    if text.strip() in ("", "null"):
        return None
    try:
        component = json.loads(text)
    except (ValueError, RecursionError):
        component = text
    if (
        isinstance(component, dict)
        and set(required) <= set(component) <= set(_FIELDS)
        and all(isinstance(value, str) and value for value in component.values())
    ):
        return component
    fields = (
        "exactly name and version, both texts"
        if required == _FIELDS
        else "name and maybe version, both texts"
    )
    message = name + " is " + show_value(text) + "; expected an object with " + fields + "."
    variables.refuse("component-metadata-shape", message)
    return None
