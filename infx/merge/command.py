"""Decide whether a comment, or the start of a workflow, may ask for a merge."""

from __future__ import annotations

import re
from enum import StrEnum

from infx.evidence.settle import has_role
from infx.gate.approval import find_request, has_unread_command
from infx.markdown import MAX_UNTRUSTED
from infx.model import Collaborator, Comment
from infx.policy.model import Policy
from infx.records import record

_SHA = r"[0-9a-fA-F]{40}"  # as people paste it


class RequestAnswer(StrEnum):
    """The answer to a request."""

    NOTHING = "nothing"  # no one asks for a merge
    REFUSED = "refused"
    ACCEPTED = "accepted"


@record
class RequestFacts:
    """Who asks for a merge, and how.

    Attributes:
        comment: as it is now; None if a person started the workflow.
        sender: the account that caused the event.
        people: what the comment's author, the sender and whoever started this attempt may do; empty if unread.
    """

    comment: Comment | None = None
    sender: str = ""
    people: tuple[Collaborator, ...] = ()


@record
class RequestDecision:
    """The answer to a request, and its reason as a sentence."""

    answer: RequestAnswer
    words: str
    sha: str | None = None  # the head that may be merged


def asks(comment: Comment, policy: Policy) -> bool:
    """Return whether a person's comment may contain the command."""
    if not comment.author.is_human:
        return False
    command = policy.merge.command
    return find_request(comment.body, command) is not None or has_unread_command(comment, command)


def decide_request(facts: RequestFacts, policy: Policy) -> RequestDecision:
    """Decide whether the request counts, and which head it names."""
    comment = facts.comment
    if comment is None:
        return _check_people(facts, policy) or _accept("The workflow was started by hand.", None)
    if not asks(comment, policy):
        return RequestDecision(answer=RequestAnswer.NOTHING, words="The comment does not ask for a merge.")
    command = policy.merge.command
    if refusal := _check_people(facts, policy):
        return refusal
    if has_unread_command(comment, command):
        return _refuse(f"The comment is longer than {MAX_UNTRUSTED:,} characters, so it was not read.")
    sha = find_request(comment.body, command) or ""
    if not re.fullmatch(_SHA, sha):
        return _refuse(f"Expected exactly one line `{command} <SHA>` with the full head SHA (40 digits).")
    if comment.updated_at != comment.created_at:
        return _refuse("The comment was edited after it was posted; post a new one.")
    if facts.sender.lower() != comment.author.login.lower():
        return _refuse("The event is not by the author of the comment; post a new one.")
    return _accept(f"{comment.author.login} asks for the merge of {sha[:12].lower()}.", sha.lower())


def _check_people(facts: RequestFacts, policy: Policy) -> RequestDecision | None:
    """Return a refusal unless everyone who caused this attempt has the policy's role."""
    role = policy.merge.role
    if not facts.people:
        return _refuse("It is unknown who asks for the merge.")
    for person in facts.people:
        if not has_role(person, role):
            return _refuse(
                f"{person.login} does not have the role {role}, which a merge requires by permission and by role."
            )
    return None


def _accept(words: str, sha: str | None) -> RequestDecision:
    return RequestDecision(answer=RequestAnswer.ACCEPTED, words=words, sha=sha)


def _refuse(words: str) -> RequestDecision:
    return RequestDecision(answer=RequestAnswer.REFUSED, words=words)
