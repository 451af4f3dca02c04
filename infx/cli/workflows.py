"""infx workflows: check workflow and action files."""

from __future__ import annotations

import os
from pathlib import Path

import click

from infx.cli.options import examples, format_option, policy_option
from infx.cli.report import report
from infx.gather.local import find_root
from infx.gather.workflow_files import read_sources
from infx.phrases import count
from infx.policy.model import Policy


@click.group()
def workflows() -> None:
    """Check workflow and action files."""


@examples("infx workflows check")
@workflows.command()
@click.argument("directory", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@policy_option
@format_option
@click.pass_context
def check(ctx: click.Context, directory: Path | None, policy: Policy, as_json: bool) -> None:
    """Report problems of workflow and action files.

    DIRECTORY is a repository or its .github folder. Default: the current repository. The action in the
    repository's root is checked too.
    """
    from infx.workflows.check import check_files

    files = read_sources(directory or find_root(Path.cwd()) / ".github")
    code = report(check_files(files, policy), os.environ, as_json=as_json)
    if not as_json and not code:
        click.echo(f"{count(len(files), 'file')}, no errors.", err=True)
    ctx.exit(code)
