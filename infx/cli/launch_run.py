"""infx launch run and clean: run a row on this machine, and remove what launches left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.launch import clusters_option, read_clusters, read_row_job, row_options
from infx.cli.options import examples, policy_option
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.launch.clusters import Clusters
    from infx.launch.texts import LaunchTask

_runner = click.option(
    "--runner", required=True, envvar="RUNNER_NAME", metavar="NAME", help="Name of this runner."
)


@examples("infx launch run --plan sweep-plan --id 350d77624985 --runner h200-cw_00")
@click.command()
@row_options
@_runner
@clusters_option
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    help="Checkout that is measured. Default: the current folder.",
)
@policy_option
@click.pass_context
def run(
    ctx: click.Context,
    folder: Path | None,
    row_id: str | None,
    row_file: Path | None,
    runner: str,
    clusters_file: str | None,
    directory: Path,
    policy: Policy,
) -> None:
    """Run a row on this machine.

    What the row took is released in the end. A row's job runs the same with row.py, without infx.
    """
    from infx.matrix.launches import make_task

    task = make_task(read_row_job(folder, row_id, row_file), policy)
    ctx.exit(_run(task, runner, read_clusters(clusters_file, policy), directory))


def _run(task: LaunchTask, runner: str, clusters: Clusters, directory: Path) -> int:
    """Run a row by the launch of its runner's cluster, and return the exit code."""
    from infx.launch.render import render_row_launch
    from infx.launch.steps import render_launch
    from infx.matrix.row_file import pack_programs
    from infx.rowfile.launch import Launcher, Observer
    from infx.rowfile.launch_command import run_launch
    from infx.rowfile.launch_steps import LaunchForm

    rendered = render_row_launch(task, clusters.get_for_runner(runner), clusters)
    form = LaunchForm(render_launch(rendered))
    programs = {name: text.encode() for name, text in pack_programs().items()}
    environment = dict(task.environment)
    launcher = Launcher(form, runner, str(directory), environment, task.minutes, Observer(), programs)
    failure, _ = run_launch(launcher)
    return failure.code if failure else 0


@examples("infx launch clean --runner h200-cw_00")
@click.command()
@_runner
@clusters_option
@policy_option
@click.pass_context
def clean(ctx: click.Context, runner: str, clusters_file: str | None, policy: Policy) -> None:
    """Remove what launches of a runner left on this machine.

    These are processes, containers and Slurm jobs. Nothing of another runner is touched. The exit code is 1 if something
    cannot be removed.
    """
    from infx.launch.render import find_driver
    from infx.launch.slurm import name_job
    from infx.rowfile import launch_command

    clusters = read_clusters(clusters_file, policy)
    cluster = clusters.plain[clusters.get_for_runner(runner)]
    ctx.exit(launch_command.clean(runner, find_driver(cluster).value, name_job(cluster)))
