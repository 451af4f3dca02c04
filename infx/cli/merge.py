"""infx merge: merge or queue a pull request."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from infx import actions
from infx.cli.github import Connect, github_options
from infx.cli.options import FullSha, event_options, examples, format_option, policy_option
from infx.cli.report import print_json, print_text
from infx.errors import InfxError
from infx.policy.model import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infx.merge.facts import MergeRequest
    from infx.merge.steps import Step

WAIT = 900  # seconds


@examples("infx merge 77 --dry-run", "infx merge 77 --run 4711 --wait 600")
@click.command()
@click.argument("pr", type=click.IntRange(1), required=False)
@click.option("--head", type=FullSha(), metavar="SHA", help="The only head that may be merged.")
@click.option("--run", "run_id", type=click.IntRange(1), metavar="ID", help="The run that must be reused.")
@click.option(
    "--method",
    type=click.Choice(["merge", "squash", "rebase"]),
    help="How to merge. Default: the queue's method, else the policy's.",
)
@click.option(
    "--wait",
    type=click.IntRange(0, 21_600),
    default=WAIT,
    show_default=True,
    metavar="S",
    help="Seconds to wait for checks and for GitHub.",
)
@click.option("--dry-run", is_flag=True, help="Print the steps; write nothing.")
@event_options
@policy_option
@github_options
@format_option
def merge(pr: int | None, policy: Policy, connect: Connect, *, as_json: bool, **options: Any) -> None:
    """Merge or queue a pull request, step by step; what is missing is named.

    The command can be stopped and repeated at any time. It never goes around GitHub's rules. On Actions, PR may be
    missing: then the comment of the event asks for the merge.
    """
    from infx.cli.merge_request import answer, read_request

    github = connect()
    asked = read_request(pr, options, policy, github)
    if asked is None:
        return
    try:
        end = _merge(asked.make_request(options, github), policy, connect, options, as_json=as_json)
    except InfxError as error:
        # After a failure of GitHub, the job is started again.
        if error.exit_code == InfxError.exit_code and not options["dry_run"]:
            answer(asked, github, is_done=False)
        raise
    if end is not None:
        answer(asked, github, is_done=True)


def _merge(
    request: MergeRequest, policy: Policy, connect: Connect, options: dict[str, Any], *, as_json: bool
) -> Step | None:
    """Merge and return the last step, or print the steps and return None. Raise InfxError if something is missing."""
    from infx.cli.merge_open import open_merger
    from infx.merge.steps import Refuse

    is_dry = options["dry_run"]
    merger = open_merger(policy, connect, wait=float(options["wait"]), tell=_tell)
    if is_dry:
        facts, steps = merger.list_steps(request)
        head = facts.head
    else:
        report = merger.run(request)
        head, steps = report.head, report.steps
    _show(request.pull, head, steps, is_dry=is_dry, as_json=as_json)
    if isinstance(steps[-1], Refuse):
        raise InfxError(steps[-1].words, hint=steps[-1].advice)
    return None if is_dry else steps[-1]


def _tell(step: Step) -> None:
    from infx.merge.steps import Refuse

    if isinstance(step, Refuse):  # the error at the end has the same words
        return
    print_text(str(step), os.environ)


def _show(number: int, head: str, steps: Sequence[Step], *, is_dry: bool, as_json: bool) -> None:
    from infx.merge.show import render_report, render_summary

    if as_json:
        print_json(render_report(number, head, steps, is_dry=is_dry))
    elif is_dry:
        print_text("\n".join(f"{at}. {step}" for at, step in enumerate(steps, 1)), os.environ, err=False)
    actions.write_summary(os.environ, render_summary(number, head, steps, is_dry=is_dry))
