"""infx config: check configurations and related files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.options import examples, format_option, policy_option
from infx.errors import Level, Problem, UsageError
from infx.files import NoSuchSourceError, read_file
from infx.gather.local import find_root
from infx.policy.model import Policy
from infx.records import replace

if TYPE_CHECKING:
    from infx.matrix.check import File, Files


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
    from infx.matrix.check import check_files

    files, missing = _read_files(config_file, runner_config, policy)
    report = check_files(_add_named(files, clusters_file, srt_file), policy)
    ctx.exit(show(report.configs, [*report.problems, *missing], os.environ, as_json=as_json))


def _read_files(
    named: tuple[str, ...], runner_config: str | None, policy: Policy
) -> tuple[Files, list[Problem]]:
    """Return the files that exist, and a problem for each file that is missing."""
    from infx.gather.checkout import read_checkout
    from infx.matrix.check import Files

    root = find_root(Path.cwd())
    masters = tuple(dict.fromkeys(named)) or tuple(
        _make_relative(root, name) for name in policy.master_configs
    )
    runners = runner_config or _make_relative(root, policy.runners)
    files_by_path = {path: _read(path, required=bool(named)) for path in masters}
    inventory = _read(runners, required=runner_config is not None)
    if not any(files_by_path.values()):
        raise UsageError(
            f"There are no configurations here; expected {' or '.join(masters)}.",
            hint="Run this inside a repository with configurations, or name them with --config-file.",
        )
    missing = [_report_missing(path, Level.ERROR) for path, file in files_by_path.items() if file is None]
    if inventory is None:  # files named by --config-file may lie outside a repository, without an inventory
        missing.append(_report_missing(runners, Level.WARNING if named else Level.ERROR))
    known = tuple(file for file in files_by_path.values() if file is not None)
    if named:
        return Files(masters=known, runners=inventory), missing
    if not (root / policy.changelog).exists():
        missing.append(_report_missing(_make_relative(root, policy.changelog), Level.ERROR))
    return (
        Files(
            masters=known,
            runners=inventory,
            clusters=_read(_make_relative(root, policy.clusters)),
            models=_read(_make_relative(root, policy.models)),
            thresholds=_read(_make_relative(root, policy.eval_thresholds)),
            priorities=_read(_make_relative(root, policy.priorities)),
            golden_lengths=_read_folder(root / policy.golden_al),
            checkout=read_checkout(root),
        ),
        missing,
    )


def _add_named(files: Files, clusters: str | None, srt: str | None) -> Files:
    if clusters is not None:
        files = replace(files, clusters=_read(clusters, required=True))
    if srt is not None:
        files = replace(files, srt=_read(srt, required=True))
    return files


def _make_relative(root: Path, name: str) -> str:
    return os.path.relpath(root / name)


def _read_folder(folder: Path) -> tuple[File, ...]:
    files = [_read(os.path.relpath(path)) for path in sorted(folder.glob("*.y*ml"))]
    return tuple(file for file in files if file is not None)


def _read(path: str, *, required: bool = False) -> File | None:
    from infx.matrix.check import File

    try:
        return File(path=path, data=read_file(path, "file"))
    except NoSuchSourceError:
        if required:
            raise
        return None


def _report_missing(path: str, level: Level) -> Problem:
    unchecked = "" if level is Level.ERROR else " Runner labels and memory budgets were not checked."
    return Problem(
        rule="file-missing",
        message=f"There is no such file.{unchecked}",
        path=path,
        hint="Add the file, or name another one in the policy or on the command line.",
        level=level,
    )
