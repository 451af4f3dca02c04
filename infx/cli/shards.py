"""infx shards and rows: cut a plan to GitHub's limits, and print the matrices of the plan folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx import actions
from infx.bench.config import Runners
from infx.cli.decision import read_decision
from infx.cli.options import OutputPath, examples, policy_option
from infx.cli.plan_folder import check_shard, open_part, plan_folder_option, read_plan_file, refuse_broken
from infx.cli.thresholds import read_thresholds
from infx.errors import ProblemsError, UsageError, has_errors
from infx.files import NoSuchSourceError, read_file, write_folder
from infx.gather.local import find_root, read_source
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.bench.follow_up import FollowUp
    from infx.gate.decision import Decision
    from infx.matrix.priority import Priorities
    from infx.matrix.shards import ShardContext, Shards


@examples("infx shards --plan plan.json --out sweep-plan")
@click.command()
@click.option(
    "--plan",
    "plan_file",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Plan file: the output of infx plan.",
)
@click.option(
    "--out",
    required=True,
    type=OutputPath(folder=True),
    metavar="DIRECTORY",
    help="Plan folder to write; must not exist yet.",
)
@click.option(
    "--decision",
    "decision_file",
    type=click.Path(),
    metavar="FILE",
    help="Output of infx gate, which says whether a canary runs first and which labels are on.",
)
@click.option("--no-canary", is_flag=True, help="Choose no canary.")
@click.option(
    "--event-name",
    "event",
    envvar="GITHUB_EVENT_NAME",
    default="",
    metavar="NAME",
    help="Event that started the run, for priorities.",
)
@click.option(
    "--runner-config",
    type=click.Path(),
    metavar="FILE",
    help="Runner inventory. Default: the policy's, in this repository.",
)
@click.option(
    "--priorities",
    type=click.Path(),
    metavar="FILE",
    help="Priorities: a file or <commit>:<path>. Default: the policy's, in this repository.",
)
@click.option(
    "--thresholds",
    type=click.Path(),
    metavar="FILE",
    help="Least scores of accuracy runs: a file or <commit>:<path>. Default: the policy's, in this repository.",
)
@click.option(
    "--clusters",
    "clusters_file",
    type=click.Path(),
    metavar="FILE",
    help="Clusters: a file or <commit>:<path>. Default: the policy's, in this repository.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="ID",
    help="Run only this row; may be repeated. Its id and name stay the same.",
)
@click.option(
    "--follow-up",
    "follow_up_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Run only the rows that infx reuse follow-up chose.",
)
@policy_option
def shards(
    plan_file: Path,
    out: Path,
    decision_file: str | None,
    no_canary: bool,
    event: str,
    runner_config: str | None,
    priorities: str | None,
    thresholds: str | None,
    clusters_file: str | None,
    only: tuple[str, ...],
    follow_up_file: Path | None,
    policy: Policy,
) -> None:
    """Split a plan into job matrices that fit GitHub's limits."""
    from infx.gate.again import make_row_rules
    from infx.matrix.folder import INDEX, render_folder, render_sums
    from infx.matrix.row_check import check_rows
    from infx.matrix.shards import cut_shards

    text, rows = read_plan_file(plan_file)
    decision = read_decision(decision_file) if decision_file else None
    follow_up = read_choice(only, follow_up_file, decision)
    root = find_root(Path.cwd())
    occasion = make_context(event, decision)
    runners = read_runners(runner_config, root / policy.runners)
    if problems := check_rows(rows, runners, str(plan_file)):
        raise ProblemsError(problems)
    weights = read_priorities_file(priorities, root, policy)
    with_canary = not no_canary and (decision is None or decision.canary)
    chosen = None if follow_up is None else frozenset(follow_up.only)
    cut = cut_shards(rows, runners, weights, policy, occasion, with_canary=with_canary, only=chosen)
    repeated = follow_up if follow_up and follow_up.runs else None
    _, bars = read_thresholds(thresholds, root, policy)
    launches = render_plan_launches(clusters_file, root, cut, runners, policy)
    files = render_folder(cut, text, policy, make_row_rules(decision, policy), bars, repeated, launches)
    digests = write_folder(out, files)
    actions.write_outputs(os.environ, count_shards(cut, render_sums(digests)))
    click.echo(actions.neutralize_json((out / INDEX).read_text("utf-8")), nl=False)


def render_plan_launches(
    given: str | None, root: Path, cut: Shards, runners: Runners, policy: Policy
) -> Iterable[str] | None:
    """Return the launches of the rows; None if no file was named and the policy's does not exist."""
    from infx.launch.clusters import load_clusters
    from infx.matrix.launches import render_launches

    path = given or str(root / policy.clusters)
    try:
        clusters = load_clusters(read_source(path, "clusters"), path)
    except NoSuchSourceError:
        if given is None or given.rpartition(":")[2] == policy.clusters:
            return None
        raise
    return render_launches(cut.jobs, policy, runners, clusters)


def make_context(event: str, decision: Decision | None) -> ShardContext:
    """Return the run and the pull request that rows are queued for."""
    from infx.matrix.shards import ShardContext

    return ShardContext(
        event=event,
        labels=decision.labels if decision else (),
        pull=decision.pull if decision else None,
        namespace=f"{os.environ.get('GITHUB_RUN_ID', '0')}:{os.environ.get('GITHUB_RUN_ATTEMPT', '1')}",
    )


def read_choice(only: tuple[str, ...], file: Path | None, decision: Decision | None) -> FollowUp | None:
    """Return the rows that run, by options or by the decision; None: all rows."""
    from infx.bench.follow_up import FollowUp

    named = only or (decision.only if decision else ())
    if only and file:
        raise UsageError("--only and --follow-up exclude each other.")
    if file:
        from infx.saved import parse_json

        return parse_json(FollowUp, read_file(file, "follow-up"), str(file))
    if decision and decision.complete:  # otherwise the rows of the completed run would run again
        raise UsageError(
            f"The sweep completes run {decision.complete}, and the rows are not chosen yet.",
            hint="Run infx reuse follow-up, and give its file with --follow-up.",
        )
    return FollowUp(only=named) if named else None


def count_shards(cut: Shards, sums: str) -> dict[str, str]:
    """Return the outputs of the step."""
    return {
        "shards": json.dumps(list(range(cut.count))),
        "shard-count": str(cut.count),
        "row-count": str(len(cut.jobs)),
        "canary-id": cut.canary.id if cut.canary else "",
        "sums": sums,
    }


@examples("infx rows --plan sweep-plan --shard 0")
@click.command()
@plan_folder_option
@click.option("--shard", type=int, metavar="N", help="Number of the shard, counted from 0.")
@click.option("--canary", is_flag=True, help="Print the canary's matrix instead of a shard's.")
@click.option("--without", metavar="ID", help="Leave out a row that has already run, such as the canary.")
@click.option(
    "--scheduler", is_flag=True, help="Add labels for a scheduler that assigns runners by priority."
)
@click.option("--node-slots", is_flag=True, help="With --scheduler: add a label with the number of nodes.")
@click.option(
    "--attempt",
    type=int,
    envvar="GITHUB_RUN_ATTEMPT",
    default=1,
    metavar="N",
    help="Attempt of the run, for --scheduler.",
)
def rows(
    folder: Path,
    shard: int | None,
    canary: bool,
    without: str | None,
    scheduler: bool,
    node_slots: bool,
    attempt: int,
) -> None:
    """Print the job matrix of one shard, or of the canary."""
    from infx.matrix.folder import CANARY, JOBS, read_jobs, read_shard
    from infx.matrix.scheduling import Scheduler
    from infx.matrix.shards import render_matrix

    if canary is (shard is not None):
        raise UsageError("Name either a shard or the canary.", hint="Give --shard N or --canary.")
    if shard is not None:
        check_shard(folder, shard)
    with refuse_broken(folder), open_part(folder, CANARY if shard is None else JOBS) as lines:
        planned = list(read_jobs(lines) if shard is None else read_shard(lines, shard))
    if not planned and shard is not None:
        raise UsageError(
            "The plan folder is not complete: this shard has no row.", hint="Run infx shards again."
        )
    jobs = [job for job in planned if job.id != without]
    matrix = render_matrix(jobs, Scheduler(attempt=attempt, node_slots=node_slots) if scheduler else None)
    actions.write_outputs(os.environ, {"matrix": matrix, "count": str(len(jobs))})
    click.echo(actions.neutralize_json(matrix))


def read_runners(given: str | None, default: Path) -> Runners:
    """Return the runner inventory; it is empty if no file was named and the default does not exist."""
    from infx.matrix.runners import parse_runners

    if given is None and not default.is_file():
        return Runners(labels={}, hardware={}, path=str(default))
    path = given or str(default)
    runners, problems = parse_runners(read_source(path, "runner inventory"), path)
    if has_errors(problems):
        raise ProblemsError(problems)
    return runners


def read_priorities_file(given: str | None, root: Path, policy: Policy) -> Priorities:
    """Return the repository's weights, or equal weights if the policy's file does not exist.

    Raises InfxError if another file was named and does not exist, or if a file is not valid.
    """
    from infx import schema, yaml12
    from infx.matrix.priority import NO_PRIORITIES, read_priorities

    path = given or str(root / policy.priorities)
    try:
        document = yaml12.load_mapping(read_source(path, "priorities"), path)
    except NoSuchSourceError:
        if given is None or given.rpartition(":")[2] == policy.priorities:
            return NO_PRIORITIES
        raise
    if problems := schema.check("ci-priority", document):
        raise ProblemsError(problems)
    return read_priorities(document.value)
