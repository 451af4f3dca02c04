"""Completion in bash, zsh and fish, by click's own scripts."""

from __future__ import annotations

import os

import click

from infx.errors import InfxError, UsageError

VARIABLE = "_INFX_COMPLETE"  # as click derives it from the program's name
SHELLS = ("bash", "zsh", "fish")


def complete(command: click.Command, instruction: str) -> int:
    """Print the script that a shell reads once, or the words that fit where the cursor is.

    instruction: the variable's value, such as `bash_source` or `bash_complete`. Raises UsageError.
    """
    from click.shell_completion import shell_complete

    shell, _, what = instruction.partition("_")
    if shell not in SHELLS or what not in {"source", "complete"}:
        expected = ", ".join(f"{name}_source" for name in SHELLS)
        raise UsageError(f"{VARIABLE} is {instruction!r}; expected one of {expected}.")
    if what == "complete" and "COMP_WORDS" not in os.environ:
        raise UsageError(
            f"{instruction} is for the shell's own use.",
            hint=f"Set {VARIABLE} to {shell}_source to get the script.",
        )
    try:
        return shell_complete(command, {}, "infx", VARIABLE, instruction)
    except InfxError:  # such as a policy that cannot be read: the prompt is not the place to say so
        return 0
