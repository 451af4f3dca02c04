"""Bind a sign-off to a commit, by the record that is hidden in infx's comment on the sign-off.

The first lines of that comment are hidden: the marker, the id of the sign-off, and the record. Anyone can write
such lines, so only comments of the publishing identity are read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from infx.comments.sticky import find_own
from infx.model import Comment, CommentKind, CommitStatus, PullRequest, Run
from infx.policy.identity import is_identity, is_listed
from infx.policy.model import Policy
from infx.records import record

_RECORD = re.compile(
    r"<!-- signed-at (?P<sha>[0-9a-f]{40}) (?P<diff>[0-9a-f]{64}) (?P<body>[0-9a-f]{16}) (?P<since>\S+) -->"
)


@record
class Record:
    """The commit and the diff that a sign-off covers, as infx's comment records them."""

    sha: str  # the commit that was assessed first
    diff: str  # fingerprint of what the pull request changed then
    body: str  # digest of the sign-off's text
    since: datetime  # when a verdict on it was first published

    def __str__(self) -> str:
        return f"<!-- signed-at {self.sha} {self.diff} {self.body} {self.since.isoformat()} -->"


UNKNOWN = "0" * 40  # in place of a commit whose record was lost


class Standing(StrEnum):
    """The relation of a sign-off to the current head."""

    FRESH = "fresh"  # never assessed, or its text has changed since
    CURRENT = "current"  # assessed on this head
    CARRIED = "carried"  # assessed on an earlier head with the same diff
    STALE = "stale"  # assessed on an earlier head with a different diff
    UNSEEN = "unseen"  # no fact shows which commit was the head when it was written

    @property
    def is_open(self) -> bool:
        """Return whether the sign-off does not cover the current head, or may not cover it."""
        return self in {Standing.STALE, Standing.UNSEEN}


@record
class Binding:
    """The commit and the diff that a sign-off is bound to."""

    standing: Standing
    record: Record  # to publish with the verdict


def digest_body(body: str) -> str:
    """Return a digest of a text that ignores line endings and trailing spaces, which GitHub may change."""
    text = "\n".join(line.rstrip() for line in body.splitlines())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def make_marker(kind: CommentKind, comment_id: int, policy: Policy) -> str:
    """Return the first lines of infx's comment on a sign-off."""
    return f"{policy.signoff.marker}\n<!-- of {kind} {comment_id} -->"


def find_verdict_comment(comments: Sequence[Comment], signoff: Comment, policy: Policy) -> Comment | None:
    """Return infx's comment on a sign-off: the oldest if there are several, None if there is none."""
    own = find_own(comments, make_marker(signoff.kind, signoff.id, policy), policy.publisher)
    return own[0] if own else None


def find_record(
    comments: Sequence[Comment], signoff: Comment, policy: Policy, editors: Mapping[str, str]
) -> Record | None:
    """Return the record in infx's comment on a sign-off.

    If someone else edited the comment, the record has an unknown commit. editors: last editors by node id.
    """
    own = find_verdict_comment(comments, signoff, policy)
    if own is None:
        return None
    editor = editors.get(own.node_id)
    if editor and not is_listed(editor, policy.publisher):
        return Record(sha=UNKNOWN, diff="0" * 64, body=digest_body(signoff.body), since=own.updated_at)
    return parse_record(own.body)


def parse_record(body: str) -> Record | None:
    """Parse the record in a comment that is known to be infx's own."""
    matches = (_RECORD.fullmatch(line.strip()) for line in body.splitlines()[:4])
    match = next(filter(None, matches), None)
    if match is None:
        return None
    try:
        since = datetime.fromisoformat(match["since"])
    except ValueError:
        return None
    if since.tzinfo is None:
        return None
    return Record(sha=match["sha"], diff=match["diff"], body=match["body"], since=since)


def bind(record: Record | None, signoff: Comment, head_sha: str, diff: str, now: datetime) -> Binding:
    """Bind a sign-off to a commit.

    An edited sign-off is a new sign-off of the current head. A review is bound to its own commit.
    """
    body = digest_body(signoff.body)
    if record is None or record.body != body:
        fresh = Record(sha=head_sha, diff=diff, body=body, since=now)
        written_on = signoff.commit_sha if signoff.kind is CommentKind.REVIEW else None
        if record is None and written_on and written_on != head_sha:
            return _bind_to(written_on, fresh)
        return Binding(standing=Standing.FRESH, record=fresh)
    if record.sha == head_sha:
        return Binding(standing=Standing.CURRENT, record=record)
    if record.diff == diff:
        return Binding(standing=Standing.CARRIED, record=record)
    return Binding(standing=Standing.STALE, record=record)


def _bind_to(sha: str, fresh: Record) -> Binding:
    """Bind to an earlier commit, whose diff is not known."""
    return Binding(standing=Standing.STALE, record=replace(fresh, sha=sha, diff="0" * 64))


@record
class Sighting:
    """A fact from GitHub that a commit had been the pull request's head by some time."""

    sha: str
    at: datetime


def find_sightings(
    pull: PullRequest,
    runs: Iterable[Run],
    statuses: Iterable[CommitStatus],
    comments: Iterable[Comment],
    publisher: Sequence[str],
) -> tuple[Sighting, ...]:
    """Return sightings from runs that pushes and labels started, from infx's own statuses, and from reviews.

    No one else can date these back. statuses: every status ever set on the head.
    """
    reviews = (comment for comment in comments if comment.kind is CommentKind.REVIEW)
    own_statuses = (status for status in statuses if is_identity(status.creator, publisher))
    return (
        *(Sighting(sha=run.head_sha, at=run.created_at) for run in runs if run.event == "pull_request"),
        *(Sighting(sha=pull.head_sha, at=status.created_at) for status in own_statuses if status.created_at),
        *(Sighting(sha=review.commit_sha, at=review.created_at) for review in reviews if review.commit_sha),
    )


def rebind(binding: Binding, signoff: Comment, head_sha: str, sightings: Iterable[Sighting]) -> Binding:
    """Bind a fresh comment to the commit that had been seen last when the comment was written.

    Unlike a review, a comment does not state its commit. Without an earlier sighting the commit is unknown.
    """
    if binding.standing is not Standing.FRESH:
        return binding
    if signoff.kind is CommentKind.REVIEW and signoff.commit_sha == head_sha:
        return binding
    before = [sighting for sighting in sightings if sighting.at <= signoff.updated_at]
    if not before:
        return replace(binding, standing=Standing.UNSEEN)
    last = max(before, key=lambda sighting: (sighting.at, sighting.sha == head_sha))
    return binding if last.sha == head_sha else _bind_to(last.sha, binding.record)
