"""infx reuse: whether a finished sweep serves as a merge's sweep."""

from __future__ import annotations

import click

from infx.cli.group import LazyGroup


@click.group(
    cls=LazyGroup,
    commands_by_name={
        "validate": ("infx.cli.reuse_validate:validate", "Check the artifacts of a source run."),
    },
)
def reuse() -> None:
    """Reuse a finished sweep for a merge."""
