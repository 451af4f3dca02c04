"""Make the console that plays print on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console


def make_console(command: str) -> Console:
    """Return a console. Raises UsageError if its package is not installed."""
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        raise click.UsageError(
            f"{command} needs the package rich, which the actions do not install: install infx with pip."
        ) from None
    return Console()
