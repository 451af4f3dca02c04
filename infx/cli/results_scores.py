"""infx results scores: judge the scores of an accuracy run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.options import examples, format_option, policy_option
from infx.cli.report import print_json, print_text
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.rowfile.scores import ScoresReport


@examples(
    "infx results scores --directory row-results",
    'infx results scores --model-prefix glm5 --expected-concs "16 32"',
)
@click.command()
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=".",
    show_default=True,
    help="Folder of the result files and the metadata.",
)
@click.option(
    "--thresholds",
    type=click.Path(),
    metavar="FILE",
    help="Thresholds: a file or <commit>:<path>. Default: the policy's, in this repository.",
)
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=0.85,
    show_default=True,
    help="Least score of a task without a threshold.",
)
@click.option(
    "--meta-env", default="meta_env.json", show_default=True, metavar="NAME", help="Name of the metadata."
)
@click.option(
    "--model-prefix",
    default="",
    metavar="NAME",
    help="The model. Default: the metadata's, then MODEL_PREFIX of the environment.",
)
@click.option(
    "--metric-prefix",
    metavar="TEXT",
    help="Beginning of the names of scores. Default: the metrics that the task declares, or exact_match,",
)
@click.option(
    "--results-glob",
    default="results*.json",
    show_default=True,
    metavar="PATTERN",
    help="Names of the result files.",
)
@click.option(
    "--expected-concs",
    metavar="TEXT",
    help="Requested concurrencies, separated by blanks; the files must be exactly theirs.",
)
@policy_option
@format_option
@click.pass_context
def scores(
    ctx: click.Context,
    directory: Path,
    thresholds: str | None,
    min_score: float,
    meta_env: str,
    model_prefix: str,
    metric_prefix: str | None,
    results_glob: str,
    expected_concs: str | None,
    policy: Policy,
    *,
    as_json: bool,
) -> None:
    """Judge the scores of an accuracy run, as its row's job does.

    Every score is compared with its threshold, and the files with the metadata. A score that cannot be judged has failed.
    """
    from infx.cli.thresholds import read_thresholds
    from infx.gather.local import find_root
    from infx.rowfile.score_command import render_scores
    from infx.rowfile.scores import ScoreOptions, judge_scores

    options = ScoreOptions(
        folder=str(directory),
        bars=read_thresholds(thresholds, find_root(Path.cwd()), policy)[0],
        meta=meta_env,
        pattern=results_glob,
        model_prefixes=(model_prefix, os.environ.get("MODEL_PREFIX", "")),
        metric_prefix=metric_prefix,
        min_score=min_score,
        expected=expected_concs,
    )
    report = judge_scores(options)
    if as_json:
        print_json(render(report))
    print_text("\n".join(render_scores(report)), os.environ)
    ctx.exit(0 if report.has_passed() else 1)


def render(report: ScoresReport) -> dict[str, object]:
    """Return the report as JSON."""
    return {
        "passed": report.has_passed(),
        "checks": [
            {
                "passed": check.fault is None,
                "conc": check.conc,
                "task": check.task,
                "metric": check.metric,
                "value": check.value if isinstance(check.value, int | float) else str(check.value)[:200],
                "threshold": check.bar.score,
                "source": check.bar.source,
                "fault": check.fault,
            }
            for check in report.checks
        ],
        "faults": [fault._asdict() for fault in report.faults],
        "warnings": [warning._asdict() for warning in report.warnings],
    }
