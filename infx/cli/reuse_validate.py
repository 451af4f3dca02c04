"""infx reuse validate: check the artifacts of a source run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infx.cli.github import Connect, github_options
from infx.cli.options import examples, format_option, policy_option
from infx.cli.plan_folder import read_all_jobs
from infx.cli.report import print_json, print_problems, print_text, render_problems
from infx.errors import UsageError, sort_problems
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.policy.results import ResultRules
    from infx.reuse.verdict import Validation

_folder = click.Path(path_type=Path, file_okay=False)


@examples(
    "infx reuse validate --artifacts artifacts --plan sweep-plan",
    "infx reuse validate --run 42 --repo acme/bench",
)
@click.command()
@click.option("--artifacts", type=_folder, help="Folder with one folder for each downloaded artifact.")
@click.option(
    "--run",
    type=click.IntRange(min=1),
    metavar="N",
    help="The source run; artifacts that are not in the folder are downloaded.",
)
@click.option(
    "--plan",
    type=_folder,
    help="Plan folder of the source run (see infx shards). Without it, missing rows are not found.",
)
@policy_option
@github_options
@format_option
@click.pass_context
def validate(
    ctx: click.Context,
    artifacts: Path | None,
    run: int | None,
    plan: Path | None,
    connect: Connect,
    policy: Policy,
    *,
    as_json: bool,
) -> None:
    """Check the artifacts of a source run.

    A source run is a finished sweep that a merge may reuse. Every planned row must have its result, and every result must be
    once in the collected results (results_bmk or eval_results_all), with the same numbers.
    All problems are listed; if there are any, the exit code is 1.
    """
    from infx.reuse.verdict import describe_validation

    validation = gather(artifacts, run, plan, connect, policy.results)
    problems = sort_problems(validation.problems)
    print_problems(problems, os.environ)
    if as_json:
        print_json({**render_problems(problems), **render(validation)})
    print_text(describe_validation(validation), os.environ)
    ctx.exit(0 if validation.is_valid else 1)


def gather(
    folder: Path | None, run: int | None, plan: Path | None, connect: Connect, rules: ResultRules
) -> Validation:
    """Read the artifacts one after another, and judge them. Raises UsageError without a folder and a run."""
    from infx.bench.uploads import artifact_name
    from infx.gather.artifacts import Wanted, read_artifacts
    from infx.results.collect import EVALS, POINTS
    from infx.reuse.source_results import has_results
    from infx.reuse.validate import validate_source

    jobs = None if plan is None else read_all_jobs(plan)
    if folder is None and run is None:
        raise UsageError("No artifacts are named.", hint="Give --artifacts, --run, or both.")
    names = {artifact_name(job) for job in jobs or ()} | {POINTS, EVALS}
    wanted = Wanted(has_results if jobs is None else names.__contains__)
    return validate_source(read_artifacts(wanted, folder, run, connect), jobs, rules)


def render(validation: Validation) -> dict[str, Any]:
    """Return the facts that JSON shows along with the problems."""
    return {
        "plan": validation.has_plan,
        "results": {kind.value: number for kind, number in validation.counts.items()},
        "superseded": [{"artifact": run.artifact, "is": str(run.identity)} for run in validation.superseded],
    }
