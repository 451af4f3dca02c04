"""infx changelog: its commands, imported when they are called."""

from __future__ import annotations

import click

from infx.cli.group import LazyGroup

COMMANDS = {
    "validate": (
        "infx.cli.changelog_check:validate",
        "Judge what a head adds to the changelog, and repair it.",
    ),
    "canonicalize": ("infx.cli.changelog_check:canonicalize", "Give new entries their canonical link."),
    "resolve": ("infx.cli.changelog_merge:resolve", "Resolve a conflict of appends in the index."),
    "merge-driver": (
        "infx.cli.changelog_merge:merge_driver",
        "Merge three versions of the file; called by git.",
    ),
    "install-driver": (
        "infx.cli.changelog_merge:install_driver",
        "Let git merge the changelog with infx, in this clone.",
    ),
    "add": ("infx.cli.changelog_add:add", "Append an entry that is valid from the start."),
}


@click.group(cls=LazyGroup, commands_by_name=COMMANDS)
def changelog() -> None:
    """Write, judge and merge the append-only changelog."""
