"""infx reconcile: update what the bot publishes on pull requests."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx import actions
from infx.cli.github import Connect, github_options
from infx.cli.options import FullSha, examples, find_policy_path, format_option, policy_option
from infx.cli.report import print_json, print_text
from infx.errors import UsageError
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.apply.reconcile import Reconciler
    from infx.apply.serialize import TurnReport
    from infx.github.api import GitHub

PUSH_TOKEN = "INFX_PUSH_TOKEN"  # noqa: S105 - the name of a variable
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class Moment(click.ParamType["datetime | timedelta"]):
    """A duration before GitHub's current time (`30m`, `2h`, `7d`), or an ISO 8601 time, in UTC without a zone."""

    name = "time"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime | timedelta:
        if match := re.fullmatch(r"([1-9][0-9]{0,4})([mhd])", value):
            return timedelta(**{_UNITS[match[2]]: int(match[1])})
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a duration such as 2h, nor an ISO 8601 time.", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@examples("infx reconcile --pr 77 --dry-run", "infx reconcile --since 2h")
@click.command()
@click.option(
    "--pr", "numbers", type=click.IntRange(1), multiple=True, metavar="N", help="A pull request. May repeat."
)
@click.option(
    "--since",
    type=Moment(),
    help="Pull requests that were changed, or whose sweep ran, since this time, such as 2h.",
)
@click.option("--all", "everything", is_flag=True, help="All open pull requests.")
@click.option(
    "--after-push",
    type=FullSha(),
    metavar="SHA",
    help="Pull requests whose conflicts changed with a push to the base branch; SHA is its tip before the push.",
)
@click.option("--dry-run", is_flag=True, help="Print what would change; write nothing.")
@policy_option
@github_options
@format_option
def reconcile(
    numbers: tuple[int, ...],
    since: datetime | timedelta | None,
    everything: bool,
    after_push: str | None,
    dry_run: bool,
    connect: Connect,
    policy: Policy,
    as_json: bool,
) -> int:
    """Update comments, statuses and sweeps of pull requests to match their current state."""
    if [bool(numbers), since is not None, everything, after_push is not None].count(True) != 1:
        raise UsageError("Give exactly one of --pr, --since, --all and --after-push.")
    reconciler = make_reconciler(policy, connect(), dry_run=dry_run)
    if not dry_run:
        from infx.cli.merge_open import open_requeuer

        reconciler.requeue = open_requeuer(policy, connect, reconciler)
    chosen = list(dict.fromkeys(numbers)) or _choose(reconciler, since, after_push)
    report = reconciler.run(chosen)
    _show(report, reconciler, chosen, as_json=as_json)
    if numbers or after_push is not None:
        return report.exit_code
    return max(report.exit_code, start_publications(reconciler))


def start_publications(reconciler: Reconciler) -> int:
    """Start the workflow that publishes for merges that it has not dealt with, and return the exit code."""
    from infx.apply.unpublished import UnpublishedMerges
    from infx.cli.report import print_problems
    from infx.errors import InfxError

    if reconciler.clone is None:
        return 0
    merges = UnpublishedMerges(reconciler.github, reconciler.policy, reconciler.clone)
    try:
        started = merges.start(dry_run=reconciler.dry_run)
    except InfxError as error:  # the next run continues
        print_problems(error.problems, os.environ)
        return error.exit_code
    for sha in started:
        print_text(f"Merge {sha[:12]}: start {reconciler.policy.publish.workflow_file}", os.environ)
    return 0


def make_reconciler(policy: Policy, github: GitHub, *, dry_run: bool) -> Reconciler:
    from infx.apply.reconcile import Reconciler
    from infx.gather.clone import open_clone
    from infx.git import Git
    from infx.github.api import read_token
    from infx.reconcile.facts import RepositoryContext

    place = RepositoryContext(
        server=policy.pr_link.server,
        repository=github.repository,
        run_id=None if dry_run else actions.find_summary_run(os.environ),
    )
    push_token = os.environ.get(PUSH_TOKEN) or None
    clone = open_clone(Git(Path.cwd()), place, read_token(os.environ), push_token)
    return Reconciler(
        github=github,
        policy=policy,
        place=place,
        clone=clone,
        dry_run=dry_run,
        policy_path=find_policy_path(),
    )


def _choose(
    reconciler: Reconciler, since: datetime | timedelta | None, after_push: str | None
) -> Sequence[int]:
    from infx.gather.choose import list_in_turn, list_open, list_recent, select_moved

    github, policy, clone = reconciler.github, reconciler.policy, reconciler.clone
    if since is not None:
        start = github.ask_time() - since if isinstance(since, timedelta) else since
        return list_recent(github, policy, start, reconciler.recent)
    if after_push is None:
        return list_in_turn(github, policy, github.ask_time().date())
    pulls = list_open(github, policy)
    if clone is None:
        raise UsageError("--after-push needs a clone of the repository.", hint="Run this inside a clone.")
    numbers = [pull.number for pull in pulls]
    tip = clone.fetch(policy.base_branch, numbers)
    if not clone.git.has_commit(after_push):
        return numbers  # the base branch was rewritten
    return select_moved(pulls, clone.git, policy, after_push, tip)


def _show(report: TurnReport, reconciler: Reconciler, chosen: Sequence[int], *, as_json: bool) -> None:
    from infx.cli.turn_report import print_trouble
    from infx.reconcile.actions import render_json

    print_trouble(report, "The next run continues with them.")
    if as_json:
        shown = {
            "dry-run": reconciler.dry_run,
            "actions": [render_json(action) for action in report.done],
            "refused": [render_json(action) for action, _ in report.refused],
            "failed": [
                {"pull": number, "message": problem.message}
                for number, error in report.failed
                for problem in error.problems
            ],
            "left": report.left,
            "notes": report.notes,
            "requests": reconciler.github.requests.total,
        }
        print_json(shown)
    for action in report.done:
        print_text(str(action), os.environ, err=as_json)
    for note in report.notes:
        print_text(note, os.environ, err=as_json)
    count = f"Pull requests: {len(chosen)}. Changes: {len(report.done)}. {reconciler.github.requests}."
    print_text(count, os.environ)
    actions.write_summary(os.environ, _render_summary(report, is_dry=reconciler.dry_run))


def _render_summary(report: TurnReport, *, is_dry: bool) -> str:
    """Return the job's summary, with the full text of comments that could not be posted."""
    from infx.escape import code
    from infx.reconcile.actions import CreateComment, UpdateComment

    heading = "### What would change (nothing was written)" if is_dry else "### Reconciled"
    parts = [heading, *(f"- {code(str(action))}" for action in report.done)]
    if is_dry and not report.done:
        parts.append("Nothing.")
    parts += [f"- {code(note)}" for note in report.notes]
    parts += [
        f"\n---\n\nThe whole {action.key} comment on pull request {action.pull}:\n\n{action.whole}"
        for action in report.done
        if isinstance(action, CreateComment | UpdateComment) and action.whole
    ]
    if report.left:
        parts.append(f"- not looked at: {', '.join(map(str, report.left))} ({report.why_left})")
    for action, error in report.refused:
        parts.append(f"\n---\n\nThis was refused ({code(error.message)}):\n")
        match action:
            case CreateComment(body=body, whole=whole) | UpdateComment(body=body, whole=whole):
                parts.append(whole or body)
            case _:
                parts.append(code(str(action)))
    return "\n".join(parts) + "\n"
