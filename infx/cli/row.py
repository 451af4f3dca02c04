"""infx row: show one row of a plan to people or scripts, or run it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from infx import actions
from infx.cli.options import OutputPath, examples, policy_option
from infx.cli.plan_folder import find_job_in, plan_folder_option
from infx.cli.report import print_json, print_text
from infx.errors import visible
from infx.policy.model import Policy

MAX_NAMES = 20  # names of gathered files in one message
_row_id = click.option(
    "--id", "row_id", required=True, metavar="ID", help="The row's id: the start of its job's name."
)


@click.group()
def row() -> None:
    """Show one row of a plan, or run it."""


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


@examples("infx row run --plan sweep-plan --id 350d77624985 --out results")
@row.command()
@plan_folder_option
@_row_id
@click.option(
    "--directory",
    default=".",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder in which the command runs.",
)
@click.option("--out", required=True, type=OutputPath(folder=True), help="Folder for the gathered results.")
@policy_option
@click.pass_context
def run(ctx: click.Context, folder: Path, row_id: str, directory: Path, out: Path, policy: Policy) -> None:
    """Run the policy's row command for a row.

    Its result files are gathered for the upload. A command that exits with 0 but writes no results has failed.
    """
    from infx.cli.row_process import find_missing_results, find_results, gather_results, run_command
    from infx.matrix.environment import project_job
    from infx.phrases import count, join_words
    from infx.results.collect import artifact_name

    job = find_job_in(folder, row_id)
    actions.write_outputs(os.environ, {"artifact-name": artifact_name(job)})
    variables = project_job(job, max_bytes=policy.limits.environment_bytes)
    earlier = find_results(directory, job.result_name)
    process = run_command(policy.sweep.row_command, directory, variables)
    gathered = gather_results(directory, out, job.result_name, earlier=earlier, since=process.started_at)
    names = [path.name for path in gathered]
    if names:
        shown = join_words(list(map(visible, names)), limit=MAX_NAMES)
        print_text(f"Gathered {count(len(names), 'file')} in {out}: {shown}.", os.environ)
    missing = find_missing_results(names, job)
    if missing:
        print_text(
            f"The row command exited with {process.code} and wrote no new {join_words(missing)}.", os.environ
        )
    ctx.exit(process.code or int(bool(missing)))
