"""Shell completion for bash, zsh and fish, with click's own scripts."""

from __future__ import annotations

import os

import click

from infx.errors import InfxError, UsageError

VARIABLE = "_INFX_COMPLETE"  # as click derives it from the program's name
SHELLS = ("bash", "zsh", "fish")


def complete(command: click.Command, instruction: str) -> int:
    """Print the completion script of a shell, or the words that fit at the cursor. Raises UsageError.

    instruction: the variable's value, such as `bash_source` or `bash_complete`.
    """
    from click.shell_completion import shell_complete

    shell, _, action = instruction.partition("_")
    if shell not in SHELLS or action not in {"source", "complete"}:
        expected = ", ".join(f"{name}_source" for name in SHELLS)
        raise UsageError(f"{VARIABLE} is {instruction!r}; expected one of {expected}.")
    if action == "complete" and "COMP_WORDS" not in os.environ:
        raise UsageError(
            f"{instruction} is reserved for the shell's completion script.",
            hint=f"Set {VARIABLE} to {shell}_source to get the script.",
        )
    try:
        return shell_complete(command, {}, "infx", VARIABLE, instruction)
    except InfxError:  # for example a policy that cannot be read; a prompt must not show errors
        return 0
