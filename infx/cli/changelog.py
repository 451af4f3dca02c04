"""infx changelog: a table of its commands, each imported when it is called."""

from __future__ import annotations

import click

from infx.cli.group import LazyGroup

COMMANDS = {
    "validate": (
        "infx.cli.changelog_check:validate",
        "Check what a head adds to the changelog, and repair it.",
    ),
    "canonicalize": (
        "infx.cli.changelog_check:canonicalize",
        "Write the canonical pull request link into new entries.",
    ),
    "resolve": (
        "infx.cli.changelog_merge:resolve",
        "Resolve a merge conflict in which both sides appended entries.",
    ),
    "merge-driver": (
        "infx.cli.changelog_merge:merge_driver",
        "Merge three versions of the changelog; git calls this command.",
    ),
    "install-driver": (
        "infx.cli.changelog_merge:install_driver",
        "Configure git in this clone to merge the changelog with infx.",
    ),
    "add": ("infx.cli.changelog_add:add", "Append a new, valid entry."),
}


@click.group(cls=LazyGroup, commands_by_name=COMMANDS)
def changelog() -> None:
    """Write, check and merge the append-only changelog."""
