"""infx signoff retry: re-run sign-off workflow runs that failed."""

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
    help="File name of the workflow that verifies sign-offs.",
)
@policy_option
@github_options
def retry(workflow: str, policy: Policy, connect: Connect) -> int:
    """Re-run sign-off workflow runs that failed within a day."""
    from infx.signoff.again import MAX_AGE, pick_failed

    github = connect()
    since = github.ask_time() - MAX_AGE
    runs = github.runs(workflow=workflow, branch=policy.base_branch, status="failure", created_since=since)
    code = 0
    for run in pick_failed(runs):
        try:
            github.rerun_failed(run.id)
            print_text(f"Started again: run {run.id}, attempt {run.attempt + 1}.", os.environ)
        except InfxError as error:  # for example because someone else has just re-run it; the next runs go on
            print_problems(error.problems, os.environ)
            code = max(code, error.exit_code)
    return code
