"""What the approval of a fork's revision depends on: the comment, its author, and how the pull request stands."""

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
    """The comment as it is now, who wrote it, and how the pull request stands; little if it asks for nothing."""
    comment = github.comment(reference)
    asked = find_request(comment.body, policy.sweep.approve_command)
    is_too_long = has_unread_command(comment, policy.sweep.approve_command)
    if (asked is None and not is_too_long) or not comment.author.is_human:
        return ApprovalFacts(comment=comment)
    actor = github.permission(comment.author.login)
    if not actor.is_known:
        raise UnexpectedReplyError(
            f"GitHub says that there is no {actor.login}, who has written this comment."
        )
    if is_too_long or not actor.can_write:
        return ApprovalFacts(comment=comment, actor=actor)
    event = Event(name=EventName.ASKED, pull=comment.pull_number)
    gate = gather_facts(event, policy, github)
    return ApprovalFacts(comment=comment, actor=actor, gate=gate, merge=_test_merge(comment, policy, github))


def _test_merge(comment: Comment, policy: Policy, github: ApprovalReader) -> MergeCheck | None:
    """GitHub makes it anew only when somebody asks for `mergeable`, which the gate's facts have just done."""
    sha = github.ref(f"pull/{comment.pull_number}/merge")
    return read_merge(sha, comment.pull_number, policy, github) if sha else None
