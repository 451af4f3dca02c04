"""infx row: one row of a plan, for people, for scripts, and as a process."""

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

MAX_NAMES = 20  # of gathered files that are listed
_row_id = click.option(
    "--id", "row_id", required=True, metavar="ID", help="The row's id: the start of its job's name."
)


@click.group()
def row() -> None:
    """Show one row of a plan, to people and to scripts."""


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
    help="Lines to source, or an object.",
)
@policy_option
def env(folder: Path, row_id: str, form: str, policy: Policy) -> None:
    """Print a row as environment variables, quoted for a shell."""
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
    help="Where it runs.",
)
@click.option("--out", required=True, type=OutputPath(folder=True), help="Where results are put.")
@policy_option
@click.pass_context
def run(ctx: click.Context, folder: Path, row_id: str, directory: Path, out: Path, policy: Policy) -> None:
    """Run the policy's row command for a row.

    The results that it leaves are gathered for the upload. A command that succeeds without them has failed.
    """
    from infx.cli.row_process import find_lacking, gather_results, look_at_results, run_command
    from infx.matrix.environment import project_job
    from infx.phrases import count, join_words
    from infx.results.collect import artifact_name

    job = find_job_in(folder, row_id)
    actions.write_outputs(os.environ, {"artifact-name": artifact_name(job)})
    variables = project_job(job, max_bytes=policy.limits.environment_bytes)
    earlier = look_at_results(directory, job.result_name)
    started = run_command(policy.sweep.row_command, directory, variables)
    found = gather_results(directory, out, job.result_name, earlier=earlier, since=started.at)
    names = [path.name for path in found]
    if names:
        what = join_words(list(map(visible, names)), limit=MAX_NAMES)
        print_text(f"Gathered {count(len(names), 'file')} in {out}: {what}.", os.environ)
    lacking = find_lacking(names, job)
    if lacking:
        print_text(
            f"The row command ended with {started.code} and left no new {join_words(lacking)}.", os.environ
        )
    ctx.exit(started.code or int(bool(lacking)))
