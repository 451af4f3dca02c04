"""The command line: a table of commands, each imported when it is called, and the error handling around them."""

from __future__ import annotations

import gc
import os
import sys

import click

from infx import __version__
from infx.cli.group import LazyGroup

COMMANDS = {
    "demo": (
        "infx.cli.demo:demo",
        "Play six pull requests from the first push to published results, offline.",
    ),
    "init": ("infx.cli.init:init", "Make the files that this repository needs to use infx."),
    "config": ("infx.cli.config:config", "Check configurations before a GPU is used."),
    "matrix": ("infx.cli.matrix:matrix", "Print the rows that configurations expand to."),
    "plan": ("infx.cli.plan:plan", "Plan the sweep that new changelog entries ask for."),
    "plan-diff": ("infx.cli.plan_diff:plan_diff", "Describe the changes from plan BEFORE to plan AFTER."),
    "shards": ("infx.cli.shards:shards", "Split a plan into job matrices that fit GitHub's limits."),
    "rows": ("infx.cli.shards:rows", "Print the job matrix of one shard, or of the canary."),
    "row": ("infx.cli.row:row", "Show one row of a plan."),
    "launch": ("infx.cli.launch:launch", "Run a row on a cluster, or show how it would run."),
    "gate": ("infx.cli.gate:gate", "Decide whether a sweep starts, and print the decision as JSON."),
    "explain": (
        "infx.cli.gate:explain",
        "Explain whether a sweep starts, why, and what to do; list the facts behind the answer.",
    ),
    "approve": (
        "infx.cli.approve:approve",
        "Act on a comment that approves one commit of a fork: set the status and start the sweep.",
    ),
    "results": ("infx.cli.results:results", "Collect the results of a sweep, and show them."),
    "reuse": ("infx.cli.reuse:reuse", "Reuse a finished sweep for a merge."),
    "merge": (
        "infx.cli.merge:merge",
        "Merge or queue a pull request, step by step; what is missing is named.",
    ),
    "publish": (
        "infx.cli.publish:publish",
        "Deliver the results of merges: store them, and tell the policy's target.",
    ),
    "stage": (
        "infx.cli.stage:stage",
        "Act on a comment that shows a finished sweep on a staging site: answer it and tell the policy's target.",
    ),
    "policy": ("infx.cli.policy:policy", "Show the policy that applies, and where each value comes from."),
    "hub": ("infx.cli.hub:hub", "Try commands against a stand-in for GitHub."),
    "reconcile": (
        "infx.cli.reconcile:reconcile",
        "Update comments, statuses and sweeps of pull requests to match their current state.",
    ),
    "comment": ("infx.cli.comment:comment", "Print a comment as the bot would write it."),
    "changelog": ("infx.cli.changelog:changelog", "Write, check and merge the append-only changelog."),
    "signoff": ("infx.cli.signoff:signoff", "Print the review checklist, and verify reviewers' sign-offs."),
    "doctor": (
        "infx.cli.doctor:doctor",
        "List what a repository still lacks, here and on GitHub, and how to fix it.",
    ),
    "workflows": ("infx.cli.workflows:workflows", "Check workflow and action files."),
}

_EPILOG = """\
New here? infx demo plays six pull requests on this machine, without a network.

Exit codes: 0 done; 1 refused, or problems found; 2 wrong usage; 3 GitHub, git or the network is not available; 4 a bug in infx.
"""


@click.group(
    cls=LazyGroup,
    commands_by_name=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(__version__, message="infx %(version)s")
def infx() -> None:
    """Control GPU benchmark sweeps on GitHub."""


def main() -> None:
    """Run a command, report every error in words, and exit with a code of the contract."""
    from infx.cli.shell import run
    from infx.cli.streams import secure_streams

    secure_streams()
    # A command builds large trees, makes little garbage and ends soon. Python's default, a search for cycles after
    # every 700 new objects, would cost a good part of its time.
    gc.set_threshold(200_000)
    code = run(infx, sys.argv[1:], os.environ)
    gc.freeze()  # the interpreter would search all objects for cycles once more before it exits
    sys.exit(code)
