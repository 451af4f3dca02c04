"""infx results stats: count how many jobs of each cluster succeeded."""

from __future__ import annotations

import json
from pathlib import Path

import click

from infx.cli.github import Connect, github_options
from infx.cli.options import OutputPath, examples, policy_option
from infx.cli.report import print_json
from infx.policy.model import Policy


@examples("infx results stats --run 42 --repo acme/bench", "infx results stats --run 42 --out run_stats.json")
@click.command()
@click.option(
    "--run", required=True, type=click.IntRange(min=1), metavar="N", help="Workflow run of a sweep."
)
@click.option(
    "--runner-config",
    type=click.Path(),
    metavar="FILE",
    help="Runner inventory. Default: the policy's, in this repository.",
)
@click.option("--out", type=OutputPath(), metavar="FILE", help="Also write the JSON into this file.")
@policy_option
@github_options
def stats(run: int, runner_config: str | None, out: Path | None, policy: Policy, connect: Connect) -> None:
    """Count how many jobs of each cluster succeeded, over all attempts of a run.

    A job belongs to the cluster that its name names. Skipped jobs do not count.
    """
    from infx.cli.shards import read_runners
    from infx.gather.local import find_root
    from infx.results.stats import count_jobs, list_clusters, render_stats

    runners = read_runners(runner_config or str(find_root(Path.cwd()) / policy.runners), Path(policy.runners))
    jobs = connect().jobs(run, every_attempt=True)
    values = render_stats(count_jobs(list_clusters(runners), jobs))
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    print_json(values)
