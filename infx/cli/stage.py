"""infx stage: act on a comment that shows a finished sweep on a staging site."""

from __future__ import annotations

import os

import click

from infx import actions
from infx.cli.approve import read_reference
from infx.cli.github import Connect, github_options
from infx.cli.options import event_options, examples, policy_option
from infx.cli.report import print_json, print_text
from infx.gather.local import Receive
from infx.policy.model import Policy


@examples("infx stage --comment-url URL --dry-run")
@click.command()
@event_options
@click.option("--comment-url", metavar="URL", help="URL of the comment, instead of an event.")
@click.option(
    "--recover", is_flag=True, help="Send an event again of which it is unknown whether it was sent."
)
@click.option("--dry-run", is_flag=True, help="Decide, but write nothing.")
@policy_option
@github_options
@click.pass_context
def stage(
    ctx: click.Context,
    receive: Receive,
    comment_url: str | None,
    recover: bool,
    connect: Connect,
    policy: Policy,
    *,
    dry_run: bool,
) -> None:
    """Act on a comment that shows a finished sweep on a staging site: answer it and tell the policy's target."""
    from infx.apply.staging import Stager, StageReport
    from infx.cli.publish_jobs import connect_target
    from infx.escape import prose
    from infx.gather.staging import gather_stage
    from infx.publish.staging import StageAnswer, decide_stage
    from infx.saved import to_json

    github = connect()
    facts = gather_stage(read_reference(receive, comment_url, github.repository), policy, github)
    decision = decide_stage(facts, policy)
    report = StageReport(words=decision.words, is_good=decision.answer is not StageAnswer.REFUSED)
    if not dry_run:
        target = connect_target(policy.publish.stage.target, github)
        stager = Stager(github, policy, target, facts.comment, recovers=recover)
        report = stager.answer(decision)
    actions.write_summary(os.environ, f"### Staging: {decision.answer}\n\n{prose(report.words)}\n")
    print_text(report.words, os.environ)
    print_json(to_json(decision))
    ctx.exit(0 if report.is_good else 1)
