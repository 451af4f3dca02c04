"""infx results: compare the artifacts of a sweep with its plan."""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx import actions
from infx.cli.github import Connect, github_options
from infx.cli.group import LazyGroup
from infx.cli.options import OutputPath, examples, format_option, policy_option
from infx.cli.plan_folder import read_all_jobs, read_follow_up
from infx.cli.report import print_text
from infx.cli.report import report as report_problems
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.github.api import GitHub
    from infx.policy.results import ResultRules
    from infx.results.artifact import ReadArtifact
    from infx.results.collect import Collection


@click.group(
    cls=LazyGroup,
    commands_by_name={
        "process": (
            "infx.cli.results_process:process",
            "Make result rows from the output of a benchmark client.",
        ),
        "check-replay": (
            "infx.cli.results_check:check",
            "Check that an AgentX replay counts: its failed requests, and a metric of the server.",
        ),
        "collect": ("infx.cli.results:collect", "Compare artifacts with the plan, and keep the good rows."),
        "report": ("infx.cli.results:report", "Print the run's summary as Markdown."),
        "scores": (
            "infx.cli.results_scores:scores",
            "Judge the scores of an accuracy run, as its row's job does.",
        ),
        "stats": (
            "infx.cli.results_stats:stats",
            "Count how many jobs of each cluster succeeded, over all attempts of a run.",
        ),
        "compare": (
            "infx.cli.results_compare:compare",
            "Compare results with the newest published results of the same series and concurrency.",
        ),
        "page": (
            "infx.cli.results_page:page",
            "Make a page with charts from the results of a sweep, compared with the newest published ones.",
        ),
        "publications": ("infx.cli.results_store:publications", "List the published runs."),
        "withdraw": (
            "infx.cli.results_store:withdraw",
            "Withdraw a run, so that no result is compared with its rows.",
        ),
    },
)
def results() -> None:
    """Collect the results of a sweep, and show them."""


_folder = click.Path(path_type=Path, file_okay=False)
_plan = click.option(
    "--plan", required=True, type=_folder, help="Plan folder: the folder that infx shards wrote."
)
_artifacts = click.option(
    "--artifacts", required=True, type=_folder, help="Folder with one folder for each downloaded artifact."
)
_run = click.option(
    "--run",
    type=click.IntRange(min=1),
    metavar="N",
    help="Workflow run from which missing artifacts are downloaded.",
)


@examples("infx results collect --plan sweep-plan --artifacts artifacts --out results")
@click.command()
@_plan
@_artifacts
@_run
@click.option(
    "--out",
    required=True,
    type=OutputPath(folder=True),
    help="Folder for results_bmk and eval_results_all.",
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
    """Compare artifacts with the plan, and keep the good rows.

    Every bad or missing row is reported as a failure. On Actions, the run's summary shows all rows.
    """
    from infx.results.collect import describe_collection, list_problems
    from infx.results.report import render_report

    collection = gather(plan, artifacts, run, connect, policy.results)
    write_files(out, collection)
    actions.write_outputs(os.environ, count_outputs(collection))
    actions.write_summary(os.environ, render_report(collection))
    code = report_problems(list_problems(collection), os.environ, as_json=as_json)
    print_text(describe_collection(collection), os.environ)
    ctx.exit(code)


@examples("infx results report --plan sweep-plan --artifacts artifacts")
@click.command()
@_plan
@_artifacts
@_run
@policy_option
@github_options
def report(plan: Path, artifacts: Path, run: int | None, connect: Connect, policy: Policy) -> None:
    """Print the run's summary as Markdown.

    It lists counts, failed rows, missing rows and results. The exit code does not depend on them and no file is
    written; use infx results collect for both.
    """
    from infx.results.report import render_report

    text = render_report(gather(plan, artifacts, run, connect, policy.results))
    print_text(text, os.environ, err=False, nl=False)


def gather(plan: Path, artifacts: Path, run: int | None, connect: Connect, rules: ResultRules) -> Collection:
    """Return every planned row with the contents of its artifact."""
    from infx.bench.uploads import artifact_name
    from infx.results.collect import collect

    jobs = read_all_jobs(plan)
    names = {artifact_name(job) for job in jobs}
    found = find_artifacts(names, artifacts, run, connect)
    if (follow_up := read_follow_up(plan)) is None:
        return collect(jobs, found, rules)
    from infx.cli.results_union import collect_union

    return collect_union(jobs, *follow_up, found, run, connect, rules)


def find_artifacts(
    wanted: Set[str], folder: Path, run: int | None, connect: Connect
) -> Iterator[ReadArtifact]:
    """Return the wanted artifacts of the folder, then those that only the run has."""
    from infx.artifacts import read_folder

    names_in_folder = set()
    for artifact in read_folder(folder, wanted):
        names_in_folder.add(artifact.name)
        yield artifact
    if run is not None and (missing := wanted - names_in_folder):
        yield from fetch(connect(), run, missing)


def fetch(github: GitHub, run: int, names: Set[str]) -> Iterator[ReadArtifact]:
    """Download the named artifacts of a run; the download action cannot list more than 1,000."""
    from infx.gather.artifacts import download

    for item in github.artifacts(run):
        if item.name in names:
            yield download(github, item)


def write_files(out: Path, collection: Collection) -> None:
    """Write the rendered files."""
    from infx.results.collect import (
        EVAL_ORIGINS_FILE,
        EVALS_FILE,
        EVENTS_FILE,
        POINT_ORIGINS_FILE,
        POINTS_FILE,
        render_files,
    )

    files = render_files(collection)
    known = {POINTS_FILE, EVALS_FILE, POINT_ORIGINS_FILE, EVAL_ORIGINS_FILE, EVENTS_FILE}
    for name in known - files.keys():  # results of an earlier call would be uploaded
        (out / name).unlink(missing_ok=True)
    for name, text in files.items():
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def count_outputs(collection: Collection) -> dict[str, str]:
    from infx.results.collect import RowState

    counts = {state.value: str(len(collection.find_rows(state))) for state in RowState}
    return {**counts, "results": str(len(collection.points)), "evals": str(len(collection.evals))}
