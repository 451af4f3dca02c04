"""infx launch: run a row on a cluster, or show how it would run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from infx.cli.group import LazyGroup
from infx.cli.options import examples, format_option, policy_option
from infx.cli.plan_folder import find_job_in
from infx.errors import UsageError
from infx.files import read_file
from infx.gather.local import find_root
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.bench.jobs import RowJob
    from infx.launch.clusters import Clusters
    from infx.launch.steps import Launch
    from infx.launch.texts import LaunchTask

_R = TypeVar("_R")


@click.group(
    cls=LazyGroup,
    commands_by_name={
        "render": ("infx.cli.launch:render", "Print the steps that run a row on a runner's machine."),
        "run": ("infx.cli.launch_run:run", "Run a row on this machine."),
        "clean": ("infx.cli.launch_run:clean", "Remove what launches of a runner left on this machine."),
    },
)
def launch() -> None:
    """Run a row on a cluster, or show how it would run."""


def row_options(command: Callable[..., _R]) -> Callable[..., _R]:
    """Add the options that name a row, by a plan and an id or by a file."""
    options = (
        click.option(
            "--plan",
            "folder",
            type=click.Path(path_type=Path, file_okay=False, exists=True),
            help="Plan folder: the folder that infx shards wrote.",
        ),
        click.option("--id", "row_id", metavar="ID", help="The row's id: the start of its job's name."),
        click.option(
            "--row",
            "row_file",
            type=click.Path(path_type=Path, exists=True),
            metavar="FILE",
            help="A row as JSON, without a plan.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


clusters_option = click.option(
    "--clusters",
    "clusters_file",
    type=click.Path(exists=True),
    metavar="FILE",
    help="Default: the policy's clusters.",
)


@examples(
    "infx launch render --plan sweep-plan --id 350d77624985 --runner h200-cw_00",
    "infx launch render --row row.json --runner h200-cw_00 --format json",
)
@click.command()
@row_options
@click.option("--runner", required=True, metavar="NAME", help="Name of the runner that takes the row.")
@clusters_option
@click.option(
    "--srt",
    "srt_file",
    type=click.Path(exists=True),
    metavar="FILE",
    help="Clusters of srt-slurm, for a row on several nodes.",
)
@click.option(
    "--host",
    "host_file",
    type=click.Path(path_type=Path, exists=True),
    metavar="FILE",
    help="JSON with user, uid, home, workspace, scratch, job, and paths that exist. Default: this machine.",
)
@policy_option
@format_option
def render(
    folder: Path | None,
    row_id: str | None,
    row_file: Path | None,
    runner: str,
    clusters_file: str | None,
    srt_file: str | None,
    host_file: Path | None,
    policy: Policy,
    as_json: bool,
) -> None:
    """Print the steps that run a row on a runner's machine.

    Secrets are shown by name only, and nothing is run.
    """
    from infx.cli.launch_table import show
    from infx.launch.render import render_row_launch
    from infx.matrix.launches import make_task

    task = make_task(read_row_job(folder, row_id, row_file), policy)
    if task.row.recipe.is_multinode:
        rendered = _render_on_nodes(task, runner, srt_file)
    else:
        clusters = read_clusters(clusters_file, policy)
        rendered = render_row_launch(task, clusters.get_for_runner(runner), clusters)
    show(_bind(rendered, runner, host_file), as_json=as_json)


def read_row_job(folder: Path | None, row_id: str | None, row_file: Path | None) -> RowJob:
    """Return the job of a plan folder, or a row of a file. Raises UsageError without either."""
    if row_file is not None and folder is None and row_id is None:
        from infx.matrix.launches import parse_row_job

        return parse_row_job(read_file(row_file, "row"), str(row_file))
    if folder is not None and row_id is not None and row_file is None:
        return find_job_in(folder, row_id)
    raise UsageError("The row is missing.", hint="Give --plan with --id, or --row.")


def _render_on_nodes(task: LaunchTask, runner: str, srt_file: str | None) -> Launch:
    from infx.launch.routes import choose_route
    from infx.launch.srt_cluster import load_srt_clusters

    srt = load_srt_clusters(read_file(srt_file, "srt"), srt_file) if srt_file else None
    return choose_route(task, srt).render(task, runner.partition("_")[0])


def read_clusters(name: str | None, policy: Policy) -> Clusters:
    """Return the clusters of a file, or of the policy's. Raises InfxError."""
    from infx.launch.clusters import load_clusters

    path = name or os.path.relpath(find_root(Path.cwd()) / policy.clusters)
    return load_clusters(read_file(path, "clusters"), path)


def _bind(launch: Launch, runner: str, host_file: Path | None) -> Launch:
    """Fill the launch with the facts of a file, or of this machine."""
    from infx.gather.launch import read_host
    from infx.launch.bind import bind_launch, parse_host

    if host_file is not None:
        return bind_launch(launch, parse_host(read_file(host_file, "host"), str(host_file), runner))
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or find_root(Path.cwd()))
    return bind_launch(launch, read_host(launch, runner, workspace, os.getuid(), os.environ))
