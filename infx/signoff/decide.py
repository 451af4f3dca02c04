"""From everything that was read of a pull request and its sign-offs to everything that should stand there. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from infx.comments.status import DesiredStatus
from infx.comments.sticky import Sticky
from infx.errors import InfxError
from infx.model import Comment, CommitStatus, PullRequest
from infx.policy.model import Policy
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
from infx.signoff.selection import Said, SignoffSelection


@dataclass(frozen=True, kw_only=True)
class GatheredSignoffs:
    """What was read of one pull request. shared: what holds for all sign-offs. readings: of those that are assessed.
    unknown: comments by authors of whom GitHub says that there is no such account. statuses: those on the head, None
    if nobody had to ask.
    """

    pull: PullRequest
    said: Said
    selection: SignoffSelection
    shared: SignoffFacts
    readings: tuple[SignoffReading, ...]
    unknown: tuple[Comment, ...] = ()
    statuses: tuple[CommitStatus, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class PassedOver:
    """A pull request about whose sign-offs nothing is said. why: a sentence."""

    pull: PullRequest
    why: str


@dataclass(frozen=True, kw_only=True)
class SignoffDecision:
    """pull: as it was when everything was read. passed_over: comments that look like sign-offs, and why they are
    none. stickies: the comments that should stand there; former: those that should not. status: that of the head,
    None where the policy asks for none. unread: what GitHub should have told and did not, in sentences; it must be
    looked at again. comments, statuses: what stands there.
    """

    pull: PullRequest
    scope: SignoffScope
    assessments: tuple[Assessment, ...]
    passed_over: tuple[tuple[Comment, str], ...]
    stickies: tuple[Sticky, ...]
    former: tuple[Comment, ...]
    status: DesiredStatus | None
    unread: tuple[str, ...]
    comments: tuple[Comment, ...]
    statuses: tuple[CommitStatus, ...] | None


def decide_signoffs(found: GatheredSignoffs, policy: Policy) -> SignoffDecision:
    """Judge every sign-off, and say what should stand there because of it."""
    scope = decide_scope(found.shared, policy.signoff)
    assessments = tuple(_assess(reading, policy) for reading in found.readings)
    comments, passed_over = found.said.comments, found.selection.passed_over
    stickies = [make_comment(a, found.pull.head_sha, policy) for a in assessments if a.unread is None]
    return SignoffDecision(
        pull=found.pull,
        scope=scope,
        assessments=assessments,
        passed_over=passed_over,
        stickies=(*stickies, *find_withdrawn(comments, found.selection.signoffs, policy)),
        former=tuple(find_former(comments, policy)),
        status=make_status(scope, assessments, policy),
        unread=(
            *(f"{comment.url}: {why}" for comment, why in passed_over if comment in found.unknown),
            *(f"{a.signoff.url}: {a.unread}" for a in assessments if a.unread),
        ),
        comments=comments,
        statuses=found.statuses,
    )


def _assess(reading: SignoffReading, policy: Policy) -> Assessment:
    """Whatever stops a judgment is a failure."""
    try:
        judgment = judge(reading.facts, policy) if reading.facts else None
    except InfxError as error:
        return Assessment(**{**vars(reading), "facts": None, "error": str(error)})
    return Assessment(**vars(reading), judgment=judgment)
