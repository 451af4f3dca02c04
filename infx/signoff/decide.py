"""Decide which comments and which status a pull request's sign-offs should have. Pure."""

from __future__ import annotations

from infx.comments.status import DesiredStatus
from infx.comments.sticky import Sticky
from infx.errors import InfxError
from infx.model import Comment, CommitStatus, PullRequest
from infx.policy.model import Policy
from infx.records import record
from infx.signoff.facts import SignoffFacts
from infx.signoff.judge import judge
from infx.signoff.publish import (
    Assessment,
    SignoffReading,
    find_former,
    find_withdrawn,
    make_comment,
    make_status,
)
from infx.signoff.scope import SignoffScope, decide_scope
from infx.signoff.selection import ParsedConversation, SignoffSelection


@record
class GatheredSignoffs:
    """Everything that was read about the sign-offs of one pull request."""

    pull: PullRequest
    conversation: ParsedConversation
    selection: SignoffSelection
    shared: SignoffFacts  # the facts that hold for all sign-offs
    readings: tuple[SignoffReading, ...]  # of the sign-offs that are assessed
    unknown: tuple[Comment, ...] = ()  # by authors whose accounts GitHub does not know
    statuses: tuple[CommitStatus, ...] | None = None  # on the head; None if they were not needed


@record
class SkippedPull:
    """A pull request whose sign-offs are not verified."""

    pull: PullRequest
    why: str  # a sentence


@record
class SignoffDecision:
    """The comments and the status that a pull request's sign-offs should have, and those that exist now."""

    pull: PullRequest  # when everything was read
    scope: SignoffScope
    assessments: tuple[Assessment, ...]
    passed_over: tuple[tuple[Comment, str], ...]  # comments that only look like sign-offs, and why
    stickies: tuple[Sticky, ...]  # the comments that should exist
    former: tuple[Comment, ...]  # the comments to delete
    status: DesiredStatus | None  # of the head; None if the policy sets no status
    unread: tuple[str, ...]  # what GitHub did not answer, in sentences; a later run must read it
    comments: tuple[Comment, ...]  # that exist now
    statuses: tuple[CommitStatus, ...] | None  # that exist now


def decide_signoffs(gathered: GatheredSignoffs, policy: Policy) -> SignoffDecision:
    """Judge every sign-off, and decide which comments and which status follow."""
    scope = decide_scope(gathered.shared, policy.signoff)
    assessments = tuple(_assess(reading, policy) for reading in gathered.readings)
    comments, passed_over = gathered.conversation.comments, gathered.selection.passed_over
    stickies = [make_comment(a, gathered.pull.head_sha, policy) for a in assessments if a.unread is None]
    return SignoffDecision(
        pull=gathered.pull,
        scope=scope,
        assessments=assessments,
        passed_over=passed_over,
        stickies=(*stickies, *find_withdrawn(comments, gathered.selection.signoffs, policy)),
        former=tuple(find_former(comments, policy)),
        status=make_status(scope, assessments, policy),
        unread=(
            *(f"{comment.url}: {why}" for comment, why in passed_over if comment in gathered.unknown),
            *(f"{a.signoff.url}: {a.unread}" for a in assessments if a.unread),
        ),
        comments=comments,
        statuses=gathered.statuses,
    )


def _assess(reading: SignoffReading, policy: Policy) -> Assessment:
    """Judge one sign-off; an error during the judgment is recorded and makes it fail."""
    try:
        judgment = judge(reading.facts, policy) if reading.facts else None
    except InfxError as error:
        return Assessment(**{**vars(reading), "facts": None, "error": str(error)})
    return Assessment(**vars(reading), judgment=judgment)
