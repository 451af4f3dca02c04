"""Gather who asks for a merge: the comment as it is now, and the permissions of everyone who caused this attempt."""

from __future__ import annotations

from typing import Protocol

from infx.github.errors import UnexpectedReplyError
from infx.merge.command import RequestFacts, asks
from infx.model import Collaborator, Comment, CommentReference
from infx.policy.model import Policy


class MergeRequestReader(Protocol):
    def comment(self, reference: CommentReference) -> Comment: ...
    def permission(self, login: str) -> Collaborator: ...


def gather_request(
    reference: CommentReference | None, logins: tuple[str, ...], policy: Policy, github: MergeRequestReader
) -> RequestFacts:
    """Return who asks for a merge, and how; only the comment if it has no command.

    Args:
        reference: the comment; None if a person started the workflow.
        logins: the sender of the event first, then whoever started this attempt.
    """
    comment = github.comment(reference) if reference else None
    sender = logins[0] if logins else ""
    if comment is not None and not asks(comment, policy):
        return RequestFacts(comment=comment, sender=sender)
    author = (comment.author.login,) if comment else ()
    wanted = {login.lower(): login for login in (*author, *logins) if login}
    people = [github.permission(login) for login in wanted.values()]
    for person in people:
        if not person.is_known:
            raise UnexpectedReplyError(f"GitHub reports no account {person.login}, which asks for a merge.")
    return RequestFacts(comment=comment, sender=sender, people=tuple(people))
