"""Replace the placeholders of a launch by what the row's machine knows.

The form of a launch is in `infx.launch.steps`. Placeholders are NAMES in braces; other text in braces stays. A value is
never read again, so that a value may contain braces.
"""

from __future__ import annotations

import re
from typing import Any, Callable

from .errors import RowError

NAMES = (
    "runner",  # the runner's name
    "digit",  # the last character of the runner's name
    "user",
    "uid",
    "home",
    "workspace",  # absolute path of the checkout that is measured
    "scratch",  # absolute path of a folder of this launch on this machine, which is removed after it
    "job",  # id of the allocation, from its grant
    "date",  # when the launch began, as 20261130
    "port",  # from the form of the port
    "script",  # one of the choices
    "model-path",  # one of the choices
)
_PLACEHOLDER = re.compile("{(" + "|".join(NAMES) + ")}")


def fill_text(text: str, values: dict[str, str]) -> str:
    """Return the text without placeholders. Raises RowError (1) if a value is not known."""
    try:
        return _PLACEHOLDER.sub(lambda match: values[match.group(1)], text)
    except KeyError as error:
        raise RowError("The launch needs {" + error.args[0] + "} before it is known: " + text, 1) from None


def fill_all(texts: list[str], values: dict[str, str]) -> list[str]:
    return [fill_text(text, values) for text in texts]


def fill_map(texts: dict[str, str], values: dict[str, str]) -> dict[str, str]:
    return {name: fill_text(text, values) for name, text in texts.items()}


def choose_path(choice: dict[str, Any], exists: Callable[[str, str], bool]) -> str:
    """Return the value of a choice.

    exists: whether there is this path; and whether the folder has a file of this pattern, if it is not empty.
    Raises RowError (1) if no candidate qualifies and the choice has no other value.
    """
    for path in choice["paths"]:
        if exists(path, choice.get("holds", "")):
            return str(path)
    if "otherwise" in choice:
        return str(choice["otherwise"])
    paths = " and ".join(choice["paths"])
    raise RowError("None of the candidates for " + choice["name"] + " exists: " + paths + ".", 1)


def compute_port(form: dict[str, Any], values: dict[str, str]) -> str:
    """Return the port of the row's server.

    form: base, plus (`digit` or `job`) and modulo. Raises RowError (1) if the value to add is not a number.
    """
    port = int(form["base"])
    if "plus" in form:
        text = values.get(form["plus"], "")
        if not text.isdigit():
            raise RowError(
                "The port needs a number for " + form["plus"] + ", which is " + repr(text) + ".", 1
            )
        added = int(text)
        port += added % int(form["modulo"]) if "modulo" in form else added
    return str(port)
