"""Comments that are kept rather than added: found again, edited in place, and never two of a kind.

A comment is ours if one of the policy's identities wrote it *and* its body begins with our marker. Either alone
proves nothing: anybody can post a marker, and our identity posts other things too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from infx.model import Comment, CommentKind
from infx.policy.identity import is_ours
from infx.shorten import shorten

Order = tuple[int, ...]
_CUT = "\n*Cut here: the rest did not fit. 以下内容过长，已截断。*\n"
_ORDER = re.compile(r"<!-- order ([0-9]+(?:\.[0-9]+)*) -->")


@dataclass(frozen=True, kw_only=True)
class Sticky:
    """A comment as it should be.

    marker: an HTML comment, the first line. text: what follows, None: there should be no such comment.
    order: the run and attempt that it speaks of; a smaller one never replaces a greater.
    adopt: how the comments of an older system begin, which had no marker; the latest becomes ours. adopt_order: see
    `read_order`.
    """

    key: str
    marker: str
    text: str | None
    order: Order = ()
    adopt: tuple[str, ...] = ()
    adopt_order: str = ""

    def body(self, limit: int) -> str:
        order = f"\n<!-- order {'.'.join(map(str, self.order))} -->" if self.order else ""
        text = f"{self.marker}{order}\n{self.text or ''}".rstrip() + "\n"
        return shorten(text, limit, notice=_CUT)


@dataclass(frozen=True, kw_only=True)
class Create:
    body: str


@dataclass(frozen=True, kw_only=True)
class Update:
    id: int
    body: str


@dataclass(frozen=True, kw_only=True)
class Delete:
    id: int


Edit = Create | Update | Delete


def find_own(comments: Iterable[Comment], marker: str, identities: Sequence[str]) -> list[Comment]:
    """Our comments of one kind, oldest first."""
    own = (
        comment
        for comment in comments
        if comment.kind is CommentKind.ISSUE
        and is_ours(comment.author, identities)
        and (comment.body == marker or comment.body.startswith((f"{marker}\n", f"{marker}\r\n")))
    )
    return sorted(own, key=lambda comment: comment.id)


def find_adoptable(
    comments: Iterable[Comment], starts: Sequence[str], identities: Sequence[str]
) -> Comment | None:
    """The latest comment of ours that an older system wrote."""
    old = [c for c in comments if is_ours(c.author, identities) and c.body.startswith(tuple(starts))]
    return max(old, key=lambda comment: comment.id, default=None)


def read_order(comment: Comment, adopt_order: str = "") -> Order:
    """The run that a comment of ours speaks of; () if it names none.

    adopt_order: a pattern with one group, the run's number, for comments of an older system.
    """
    if match := _ORDER.search(comment.body[:500]):
        return tuple(int(part) for part in match[1].split("."))
    found = re.search(adopt_order, comment.body) if adopt_order else None
    return (int(found[1]),) if found else ()


def plan_edits(
    sticky: Sticky, comments: Sequence[Comment], identities: Sequence[str], limit: int
) -> tuple[Edit, ...]:
    """What turns the comments that are there into the one that should be; nothing where it is there already.

    Of duplicates the oldest stays, because links point at it, with the text of the newest run that any of them
    knows. What somebody else has edited knows nothing: everybody with write access can.
    """
    own = find_own(comments, sticky.marker, identities)
    if sticky.text is None:
        return tuple(Delete(id=comment.id) for comment in own)
    if not own and (adopted := find_adoptable(comments, sticky.adopt, identities)):
        own = [adopted]
    if not own:
        return (Create(body=sticky.body(limit)),)
    kept, *duplicates = own
    written = [comment for comment in own if is_ours(comment.editor or comment.author, identities)]
    newest = max(written, key=lambda comment: read_order(comment, sticky.adopt_order), default=kept)
    is_behind = newest in written and sticky.order < read_order(newest, sticky.adopt_order)
    body = newest.body if is_behind else sticky.body(limit)
    edits: list[Edit] = []
    if not is_same_text(kept.body, body):
        edits.append(Update(id=kept.id, body=body))
    return (*edits, *(Delete(id=comment.id) for comment in duplicates))


def is_same_text(one: str, other: str) -> bool:
    """Line ends and blanks at the end are GitHub's to change."""
    return [line.rstrip() for line in one.rstrip().splitlines()] == [
        line.rstrip() for line in other.rstrip().splitlines()
    ]
