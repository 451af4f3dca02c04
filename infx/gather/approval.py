"""Gather the facts that decide the approval of a fork's head."""

from __future__ import annotations

from typing import Protocol

from infx.gate.approval import ApprovalFacts, find_request, has_unread_command
from infx.gate.event import Event, EventName
from infx.gate.facts import MergeCheck
from infx.gather.gate import GateReader, gather_facts, read_merge
from infx.github.errors import UnexpectedReplyError
from infx.model import Comment, CommentReference
from infx.policy.model import Policy


class ApprovalReader(GateReader, Protocol):
    def comment(self, reference: CommentReference) -> Comment: ...


def gather_approval(reference: CommentReference, policy: Policy, github: ApprovalReader) -> ApprovalFacts:
    """Return the current comment, its author and the pull request; only the comment if it has no command."""
    comment = github.comment(reference)
    asked = find_request(comment.body, policy.sweep.approve_command)
    is_too_long = has_unread_command(comment, policy.sweep.approve_command)
    if (asked is None and not is_too_long) or not comment.author.is_human:
        return ApprovalFacts(comment=comment)
    actor = github.permission(comment.author.login)
    if not actor.is_known:
        raise UnexpectedReplyError(
            f"GitHub reports no account {actor.login}, although that account wrote this comment."
        )
    if is_too_long or not actor.can_write:
        return ApprovalFacts(comment=comment, actor=actor)
    event = Event(name=EventName.ASKED, pull=comment.pull_number)
    gate = gather_facts(event, policy, github)
    return ApprovalFacts(comment=comment, actor=actor, gate=gate, merge=_test_merge(comment, policy, github))


def _test_merge(comment: Comment, policy: Policy, github: ApprovalReader) -> MergeCheck | None:
    """Return GitHub's test merge of the pull request, or None."""
    # GitHub updates the test merge when `mergeable` is read, which the gate's facts have just done.
    sha = github.ref(f"pull/{comment.pull_number}/merge")
    return read_merge(sha, comment.pull_number, policy, github) if sha else None
