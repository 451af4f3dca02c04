"""The command line: one table of commands, imported when they are called, and the shell around their errors."""

from __future__ import annotations

import gc
import os
import sys

import click

from infx import __version__
from infx.cli.group import LazyGroup

COMMANDS = {
    "demo": ("infx.cli.demo:demo", "Play three pull requests from the first push to the merge, offline."),
    "config": ("infx.cli.config:config", "Check configurations before a GPU is used."),
    "matrix": ("infx.cli.matrix:matrix", "Print the rows that configurations expand to."),
    "plan": ("infx.cli.plan:plan", "Plan the sweep that a changelog delta asks for."),
    "plan-diff": ("infx.cli.plan_diff:plan_diff", "Say in words what separates plan BEFORE from plan AFTER."),
    "shards": ("infx.cli.shards:shards", "Cut a plan into matrices that GitHub takes."),
    "rows": ("infx.cli.shards:rows", "Print the matrix of one shard, or of the canary."),
    "row": ("infx.cli.row:row", "Show one row of a plan, to people and to scripts."),
    "gate": ("infx.cli.gate:gate", "Decide whether a sweep starts, and print the decision as JSON."),
    "explain": (
        "infx.cli.gate:explain",
        "Say in a sentence whether a sweep starts, why, and what to do, with everything that was looked at.",
    ),
    "approve": (
        "infx.cli.approve:approve",
        "Answer a comment that approves one revision of a fork: status, dispatch, link.",
    ),
    "results": ("infx.cli.results:results", "Collect what a sweep left behind, and show it."),
    "hub": ("infx.cli.hub:hub", "Try commands against a stand-in for GitHub."),
    "reconcile": (
        "infx.cli.reconcile:reconcile",
        "Bring what the bot says on pull requests in line with the facts.",
    ),
    "comment": ("infx.cli.comment:comment", "Print a comment as the bot would write it."),
    "changelog": ("infx.cli.changelog:changelog", "Write, judge and merge the append-only changelog."),
    "signoff": (
        "infx.cli.signoff:signoff",
        "The checklist of a review, and whether what it says is true.",
    ),
    "workflows": ("infx.cli.workflows:workflows", "Check workflow and action files."),
}

_EPILOG = """\
New here? infx demo plays three pull requests on this machine, without a network.

Exit codes: 0 done; 1 refused, or problems found; 2 wrong usage; 3 GitHub, git or the network not available; 4 a bug in infx.
"""


@click.group(
    cls=LazyGroup,
    commands_by_name=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(__version__, message="infx %(version)s")
def infx() -> None:
    """The control plane for GPU benchmark sweeps on GitHub."""


def main() -> None:
    """Entry point: runs a command and turns whatever happens into words and an exit code."""
    from infx.cli.shell import run
    from infx.cli.streams import secure_streams

    secure_streams()
    # A command builds large trees, makes little garbage and ends: looking for cycles after every 700 new objects, as
    # Python does, costs a good part of the time that it takes.
    gc.set_threshold(200_000)
    sys.exit(run(infx, sys.argv[1:], os.environ))
