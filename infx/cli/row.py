"""infx row: show one row of a plan to people or scripts."""

from __future__ import annotations

from pathlib import Path

import click

from infx import actions
from infx.cli.options import examples, policy_option
from infx.cli.plan_folder import find_job_in, plan_folder_option
from infx.cli.report import print_json
from infx.policy.model import Policy

_row_id = click.option(
    "--id", "row_id", required=True, metavar="ID", help="The row's id: the start of its job's name."
)


@click.group()
def row() -> None:
    """Show one row of a plan."""


@examples("infx row show --plan sweep-plan --id 350d77624985")
@row.command()
@plan_folder_option
@_row_id
def show(folder: Path, row_id: str) -> None:
    """Print a row as JSON."""
    from infx.bench.row import render_row

    job = find_job_in(folder, row_id)
    values = {"id": job.id, "name": job.name, "result-name": job.result_name, "row": render_row(job.row)}
    print_json(values)


@examples("infx row env --plan sweep-plan --id 350d77624985")
@row.command()
@plan_folder_option
@_row_id
@click.option(
    "--format",
    "form",
    type=click.Choice(["shell", "json"]),
    default="shell",
    show_default=True,
    help="Lines that a shell can source, or a JSON object.",
)
@policy_option
def env(folder: Path, row_id: str, form: str, policy: Policy) -> None:
    """Print a row as environment variables."""
    from infx.matrix.environment import project_job

    values = project_job(find_job_in(folder, row_id), max_bytes=policy.limits.environment_bytes)
    if form == "json":
        print_json(values)
    else:
        click.echo("\n".join(f"export {name}={actions.quote_shell(value)}" for name, value in values.items()))
