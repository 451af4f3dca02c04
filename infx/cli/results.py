"""infx results: what a sweep left behind, set against its plan."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx import actions
from infx.cli.github import Connect, github_options
from infx.cli.options import examples, format_option, policy_option
from infx.cli.plan_folder import lines_of
from infx.cli.report import print_text
from infx.cli.report import report as report_problems
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.github.api import GitHub
    from infx.results.artifact import ReadArtifact
    from infx.results.collect import Collection


@click.group()
def results() -> None:
    """Collect what a sweep left behind, and show it."""


_folder = click.Path(path_type=Path, file_okay=False)
_plan = click.option("--plan", required=True, type=_folder, help="The cut plan, as infx shards wrote it.")
_artifacts = click.option(
    "--artifacts", required=True, type=_folder, help="Downloaded artifacts, a folder for each."
)
_run = click.option(
    "--run", type=click.IntRange(min=1), metavar="N", help="Fetch what the folder lacks from this run."
)


@examples("infx results collect --plan sweep-plan --artifacts artifacts --out results")
@results.command()
@_plan
@_artifacts
@_run
@click.option(
    "--out", required=True, type=_folder, help="Where results_bmk and eval_results_all are written."
)
@policy_option
@github_options
@format_option
@click.pass_context
def collect(
    ctx: click.Context,
    plan: Path,
    artifacts: Path,
    run: int | None,
    connect: Connect,
    out: Path,
    policy: Policy,
    *,
    as_json: bool,
) -> None:
    """Set artifacts against the plan and keep the good rows.

    Bad rows are named, missing ones listed.
    """
    from infx.results.collect import list_problems, render_files

    collection = gather(plan, artifacts, run, connect)
    for name, text in render_files(collection).items():
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    actions.write_outputs(os.environ, count_outputs(collection))
    ctx.exit(report_problems(list_problems(collection), os.environ, as_json=as_json))


@examples("infx results report --plan sweep-plan --artifacts artifacts")
@results.command()
@_plan
@_artifacts
@_run
@policy_option
@github_options
def report(plan: Path, artifacts: Path, run: int | None, connect: Connect, policy: Policy) -> None:
    """Print the run's summary as Markdown.

    Counts, failures, what is missing, results.
    """
    from infx.results.report import render_report

    text = render_report(gather(plan, artifacts, run, connect))
    actions.write_summary(os.environ, text)
    print_text(text, os.environ, err=False, nl=False)


def gather(plan: Path, artifacts: Path, run: int | None, connect: Connect) -> Collection:
    from infx.artifacts import read_folder
    from infx.matrix.folder import JOBS, read_jobs
    from infx.results.collect import artifact_name, collect

    with lines_of(plan, JOBS) as lines:
        jobs = list(read_jobs(lines))
    found = read_folder(artifacts)
    if run is not None:
        lacking = {artifact_name(job) for job in jobs} - {artifact.name for artifact in found}
        found += fetch(connect(), run, lacking)
    return collect(jobs, found)


def fetch(github: GitHub, run: int, names: set[str]) -> list[ReadArtifact]:
    """Those artifacts of a run that the folder lacks: the download action lists no more than 1,000."""
    from infx.artifacts import read_zip

    there = (
        [item for item in github.artifacts(run) if item.name in names and not item.expired] if names else []
    )
    return [read_zip(item.name, github.download_artifact(item.id)) for item in there]


def count_outputs(collection: Collection) -> dict[str, str]:
    from infx.results.collect import State

    counts = {state.value: str(len(collection.of_state(state))) for state in State}
    return {**counts, "results": str(len(collection.points)), "evals": str(len(collection.evals))}
