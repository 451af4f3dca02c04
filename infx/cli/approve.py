"""infx approve: act on a comment that approves one commit of a fork."""

from __future__ import annotations

import os

import click

from infx import actions
from infx.cli.github import Connect, github_options
from infx.cli.options import event_options, examples, policy_option
from infx.cli.report import print_json
from infx.errors import InfxError, UsageError
from infx.gather.local import Receive
from infx.model import CommentKind, CommentReference
from infx.payload import Payload
from infx.policy.model import Policy


@examples("infx approve --comment-url URL --dry-run")
@click.command()
@event_options
@click.option("--comment-url", metavar="URL", help="URL of the comment, instead of an event.")
@click.option("--dry-run", is_flag=True, help="Decide, but write nothing.")
@policy_option
@github_options
def approve(
    receive: Receive, comment_url: str | None, connect: Connect, policy: Policy, *, dry_run: bool
) -> None:
    """Act on a comment that approves one commit of a fork: set the status and start the sweep."""
    from infx.apply.approval import publish_approval
    from infx.escape import prose
    from infx.gate.approval import ApprovalAnswer, decide_approval
    from infx.gather.approval import gather_approval
    from infx.saved import to_json

    github = connect()
    reference = read_reference(receive, comment_url, github.repository)
    facts = gather_approval(reference, policy, github)
    decision = decide_approval(facts, policy)
    run = None if dry_run else publish_approval(facts, decision, policy, github)
    actions.write_summary(os.environ, f"### Approval: {decision.answer}\n\n{prose(decision.words)}\n")
    print_json({**to_json(decision), "run": run and run.url})
    if decision.answer is ApprovalAnswer.REFUSED:
        raise InfxError(decision.words)


def read_reference(receive: Receive, url: str | None, repository: str) -> CommentReference:
    """Return the comment that a URL or an `issue_comment` event names. Raises UsageError."""
    if url:
        from infx.github.conversation import parse_comment_url

        return parse_comment_url(url)
    received = receive()
    if received is None:
        raise UsageError("No comment is given.", hint="Give --event or --comment-url.")
    payload = Payload(received.payload)
    number, comment_id = payload.number("issue", "number"), payload.number("comment", "id")
    if number is None or comment_id is None:
        raise UsageError("The event is not about a comment.", where=str(received.path))
    return CommentReference(repository=repository, pull_number=number, kind=CommentKind.ISSUE, id=comment_id)
