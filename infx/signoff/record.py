"""What a verdict's comment remembers of the sign-off it is about, and what a later look makes of it.

The first lines of the comment are hidden: the marker, which sign-off it is, and the record. Only a comment of our
own identity is read; anybody can write such lines.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from infx.comments.sticky import find_own
from infx.model import Comment, CommentKind, CommitStatus, PullRequest, Run
from infx.policy.identity import is_identity, is_listed
from infx.policy.model import Policy

_RECORD = re.compile(
    r"<!-- signed-at (?P<sha>[0-9a-f]{40}) (?P<diff>[0-9a-f]{64}) (?P<body>[0-9a-f]{16}) (?P<since>\S+) -->"
)


@dataclass(frozen=True, kw_only=True)
class Record:
    """sha: the commit that was assessed first. diff: fingerprint of what the pull request changed then. body: digest
    of the sign-off's text. since: when a verdict on it was first published.
    """

    sha: str
    diff: str
    body: str
    since: datetime

    def __str__(self) -> str:
        return f"<!-- signed-at {self.sha} {self.diff} {self.body} {self.since.isoformat()} -->"


UNKNOWN = "0" * 40  # in the place of a commit that nobody remembers


class Standing(StrEnum):
    """fresh: never assessed, or its text is another one now. current: assessed on this head. carried: on an earlier
    one, with the same diff. stale: on an earlier one, with another diff. unseen: nothing shows that any head was there
    when it was written.
    """

    FRESH = "fresh"
    CURRENT = "current"
    CARRIED = "carried"
    STALE = "stale"
    UNSEEN = "unseen"

    @property
    def is_open(self) -> bool:
        """Whether what was signed off is not, or not known to be, what stands there now."""
        return self in {Standing.STALE, Standing.UNSEEN}


@dataclass(frozen=True, kw_only=True)
class Binding:
    """What a sign-off is bound to. record: to write down with the verdict."""

    standing: Standing
    record: Record


def digest_body(body: str) -> str:
    """Line ends are GitHub's to change."""
    text = "\n".join(line.rstrip() for line in body.splitlines())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def marker_of(kind: CommentKind, comment_id: int, policy: Policy) -> str:
    """The first lines of the one comment about a sign-off."""
    return f"{policy.signoff.marker}\n<!-- of {kind} {comment_id} -->"


def find_our_comment(comments: Sequence[Comment], signoff: Comment, policy: Policy) -> Comment | None:
    """Our comment about a sign-off; of duplicates the oldest counts."""
    own = find_own(comments, marker_of(signoff.kind, signoff.id, policy), policy.publisher)
    return own[0] if own else None


def find_record(
    comments: Sequence[Comment], signoff: Comment, policy: Policy, editors: Mapping[str, str]
) -> Record | None:
    """What our comment about a sign-off remembers. editors: by node id, who edited a comment last; what others have put
    into ours is forgotten, and with it what was signed off.
    """
    own = find_our_comment(comments, signoff, policy)
    if own is None:
        return None
    editor = editors.get(own.node_id)
    if editor and not is_listed(editor, policy.publisher):
        return Record(sha=UNKNOWN, diff="0" * 64, body=digest_body(signoff.body), since=own.updated_at)
    return read_record(own.body)


def read_record(body: str) -> Record | None:
    """The record of a comment that is known to be ours."""
    match = next(
        (found for line in body.splitlines()[:4] if (found := _RECORD.fullmatch(line.strip()))), None
    )
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
    """An edited sign-off is a new one, of the head that stands there now. A review is of the commit it was written
    on, whenever it is looked at first.
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
    """To an earlier commit, of which nobody knows any more what it changed."""
    return Binding(standing=Standing.STALE, record=replace(fresh, sha=sha, diff="0" * 64))


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """A fact of GitHub's that a commit was the pull request's head, or had been, at some time."""

    sha: str
    at: datetime


def find_sightings(
    pull: PullRequest,
    runs: Iterable[Run],
    statuses: Iterable[CommitStatus],
    comments: Iterable[Comment],
    publisher: Sequence[str],
) -> tuple[Sighting, ...]:
    """Runs that pushes and labels started, our statuses on the head, and reviews: what nobody else can date back.
    statuses: all that were ever set on the head.
    """
    reviews = (comment for comment in comments if comment.kind is CommentKind.REVIEW)
    ours = (status for status in statuses if is_identity(status.creator, publisher))
    return (
        *(Sighting(sha=run.head_sha, at=run.created_at) for run in runs if run.event == "pull_request"),
        *(Sighting(sha=pull.head_sha, at=status.created_at) for status in ours if status.created_at),
        *(Sighting(sha=one.commit_sha, at=one.created_at) for one in reviews if one.commit_sha),
    )


def rebind(binding: Binding, signoff: Comment, head_sha: str, sightings: Iterable[Sighting]) -> Binding:
    """The same for a comment that was written when the head had been seen. Otherwise it is of the commit that had been
    seen last, or of none that anybody knows: it does not say itself what its author saw. A review of the head is.
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
