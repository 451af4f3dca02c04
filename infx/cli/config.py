"""infx config: check configurations and related files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from infx.cli.options import examples, format_option, policy_option
from infx.policy.model import Policy
from infx.records import replace

if TYPE_CHECKING:
    from infx.matrix.check import Files


@click.group()
def config() -> None:
    """Check configurations before a GPU is used."""


@examples("infx config check")
@config.command()
@click.option(
    "--config-file",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="File with configurations. May repeat. Default: the policy's.",
)
@click.option(
    "--runner-config", type=click.Path(), metavar="FILE", help="Runner inventory. Default: the policy's."
)
@click.option(
    "--clusters", "clusters_file", type=click.Path(), metavar="FILE", help="Clusters. Default: the policy's."
)
@click.option(
    "--srt",
    "srt_file",
    type=click.Path(),
    metavar="FILE",
    help="Clusters of srt-slurm, for rows on several nodes.",
)
@policy_option
@format_option
@click.pass_context
def check(
    ctx: click.Context,
    config_file: tuple[str, ...],
    runner_config: str | None,
    clusters_file: str | None,
    srt_file: str | None,
    policy: Policy,
    as_json: bool,
) -> None:
    """Report all problems of configurations, before a GPU is used.

    Also checks the clusters, models, thresholds, golden acceptance lengths and priorities that the policy names, and the
    scripts and recipes, if these files exist. With --config-file, checks only the files that are named, and the runner
    inventory.
    """
    from infx.cli.config_table import show
    from infx.gather.config_files import read_config_files
    from infx.matrix.check import check_files

    files, missing = read_config_files(config_file, runner_config, policy)
    report = check_files(_add_named(files, clusters_file, srt_file), policy)
    ctx.exit(show(report.configs, [*report.problems, *missing], os.environ, as_json=as_json))


def _add_named(files: Files, clusters: str | None, srt: str | None) -> Files:
    from infx.gather.config_files import read_config_file

    if clusters is not None:
        files = replace(files, clusters=read_config_file(clusters))
    if srt is not None:
        files = replace(files, srt=read_config_file(srt))
    return files
