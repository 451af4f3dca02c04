"""Write for the runner: outputs of a step, and lines that are workflow commands.

Names of files and answers of servers are untrusted. They are printed on one line, after words of this program, with
nothing in them that the runner obeys.
"""

from __future__ import annotations

import os
import sys

ROW_FILE = "INFX_ROW_FILE"  # the variable by which a benchmark finds this program
SUPERVISE = "INFX_SUPERVISE"  # and the program that runs its processes


def show(text: str) -> str:
    """Return text on one line, with every character that does not print, and `##[`, as an escape."""
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return shown.replace("##[", "#\\#[")


def print_line(text: str) -> None:
    """Print a line to stderr."""
    sys.stderr.write(show(text) + "\n")
    sys.stderr.flush()


def print_error(text: str) -> None:
    """Print an error to stderr: an annotation on Actions, a line elsewhere."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        escaped = show(text).replace("%", "%25")
        sys.stderr.write("::error title=infx row::" + escaped + "\n")
    else:
        sys.stderr.write("error: " + show(text) + "\n")
    sys.stderr.flush()


def write_output(name: str, value: str) -> None:
    """Append an output of the step to `GITHUB_OUTPUT`; do nothing outside of Actions.

    name, value: written by `infx shards`, each on one line.
    """
    path = os.environ.get("GITHUB_OUTPUT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(name + "=" + value + "\n")


def stop_commands() -> None:
    """Print the workflow command after which no line of the step is one.

    The word that would end this is random and forgotten, because a process that the row leaves behind may go on
    printing.
    """
    if os.environ.get("GITHUB_ACTIONS") == "true":
        sys.stdout.write("::stop-commands::" + os.urandom(16).hex() + "\n")
        sys.stdout.flush()
