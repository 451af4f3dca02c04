"""Variables in the texts of supervised processes: `${NAME}` and `${NAME:-default}`; `$${` is a plain `${`."""

from __future__ import annotations

import re
from typing import Mapping

_VARIABLE = re.compile(r"\$(\$)?\{(?:([A-Za-z_][A-Za-z0-9_]*)(:-[^{}]*)?\})?")


def find_missing_variables(text: str, values: Mapping[str, str]) -> list[str]:
    """Return the names of variables that are not set and have no default."""
    return [
        match[2]
        for match in _VARIABLE.finditer(text)
        if match[2] and not match[1] and match[3] is None and match[2] not in values
    ]


def find_variables(text: str) -> set[str]:
    """Return the names of all variables in a text."""
    return {match[2] for match in _VARIABLE.finditer(text) if match[2] and not match[1]}


def has_open_variable(text: str) -> bool:
    """Return whether a text has a `${` that does not begin a variable."""
    return any(not match[1] and not match[2] for match in _VARIABLE.finditer(text))


def fill_variables(text: str, values: Mapping[str, str]) -> str:
    """Return the text with the values of its variables. A value is not read again."""

    def replace(match: re.Match[str]) -> str:
        if match[1] or not match[2]:
            return match[0][1:] if match[1] else match[0]
        value = values.get(match[2], "")
        return match[3][2:] if match[3] is not None and not value else value

    return _VARIABLE.sub(replace, text)


def name_port_variable(port: str) -> str:
    """Return the variable that has the number of a port."""
    return "PORT_" + port.upper().replace("-", "_")
