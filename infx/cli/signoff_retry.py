"""infx signoff retry: looks that went wrong are started again."""

from __future__ import annotations

import os

import click

from infx.cli.github import Connect, github_options
from infx.cli.options import examples, policy_option
from infx.cli.report import print_problems, print_text
from infx.errors import InfxError
from infx.policy.model import Policy


@examples("infx signoff retry", "infx signoff retry --workflow signoff.yml")
@click.command()
@click.option(
    "--workflow",
    default="signoff.yml",
    show_default=True,
    metavar="NAME",
    help="The file name of the workflow that looks.",
)
@policy_option
@github_options
def retry(workflow: str, policy: Policy, connect: Connect) -> int:
    """Start the looks at sign-offs again that failed within a day."""
    from infx.signoff.again import MAX_AGE, pick_failed

    github = connect()
    since = github.ask_time() - MAX_AGE
    runs = github.runs(workflow=workflow, branch=policy.base_branch, status="failure", created_since=since)
    code = 0
    for run in pick_failed(runs):
        try:
            github.rerun_failed(run.id)
            print_text(f"Started again: run {run.id}, attempt {run.attempt + 1}.", os.environ)
        except InfxError as error:  # of one, such as that somebody else has just done so
            print_problems(error.problems, os.environ)
            code = max(code, error.exit_code)
    return code
