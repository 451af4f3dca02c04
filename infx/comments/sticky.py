"""Kept comments: infx finds them again, edits them in place, and keeps at most one of each kind.

A comment is infx's own if one of the policy's identities wrote it *and* its body begins with the marker. Both are
needed: anyone can post a marker, and the identity may post other comments.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from infx.comments.languages import join_inline, words
from infx.model import Comment, CommentKind
from infx.policy.identity import is_identity
from infx.policy.model import Language
from infx.records import record
from infx.shorten import shorten

MAX_ITEMS = 30  # items of the list in one comment

Order = tuple[int, ...]
_ORDER = r"<!-- order ([0-9]+(?:\.[0-9]+)*) -->"
# The link to the whole text of a comment. The digest of that text follows, so that a later run with the same text need
# not replace the link by its own.
_WHOLE = r" \(\[[^\]\n]*\]\((?P<url>[^\s()]*)\)\)(?= <!-- all [0-9a-f]{12} -->)"


@record
class Sticky:
    """A comment as it should be on GitHub.

    Attributes:
        marker: an HTML comment, which is the first line.
        text: the text after the marker; None if there should be no such comment.
        items: a list below the text, the only part that is cut if the comment is too long.
        after: the text below the list.
        order: the run and attempt of the comment's facts; a smaller order never replaces a greater one.
        adopt: how comments of an older system without a marker begin; infx adopts the latest of them.
        adopt_order: see `read_order`.
        languages: languages of the words about a cut.
        runs_url: URL of the repository's runs.
        run_id: the run whose page shows the whole text of a comment that is cut; None if there is no such page.
    """

    key: str
    marker: str
    text: str | None
    items: tuple[str, ...] = ()
    after: str = ""
    order: Order = ()
    adopt: tuple[str, ...] = ()
    adopt_order: str = ""
    languages: tuple[Language, ...] = (Language.ENGLISH,)
    runs_url: str = ""
    run_id: int | None = None

    @property
    def whole(self) -> str:
        """Return the comment with all items of its list."""
        return self._compose([f"- {item}" for item in self.items])

    def body(self, limit: int) -> str:
        """Return the comment within a limit of characters, with as many items of its list as fit."""
        if len(self.items) <= MAX_ITEMS and len(self.whole) <= limit:
            return self.whole
        lines = [f"- {item}" for item in self.items[:MAX_ITEMS]]
        room = limit - len(self._compose([self._render_rest(len(self.items))]))
        while lines and sum(map(len, lines)) + len(lines) > room:
            lines.pop()
        hidden = len(self.items) - len(lines)
        body = self._compose([*lines, self._render_rest(hidden)] if hidden else lines)
        return shorten(body, limit, notice=self._render_cut())

    def _compose(self, lines: Sequence[str]) -> str:
        order = f"\n<!-- order {'.'.join(map(str, self.order))} -->" if self.order else ""
        blocks = [(self.text or "").strip("\n"), "\n".join(lines), self.after.strip("\n")]
        text = "\n\n".join(block for block in blocks if block)
        return f"{self.marker}{order}\n{text}".rstrip() + "\n"

    def _render_rest(self, number: int) -> str:
        text = words(f"{number:,} more", f"另有 {number:,} 项")
        return f"- … {join_inline(text, self.languages)}{self._render_link()}"

    def _render_cut(self) -> str:
        text = words("Cut here: the rest did not fit.", "以下内容过长，已截断。")
        return f"\n*{join_inline(text, self.languages, ' ')}*{self._render_link()}\n"

    def _render_link(self) -> str:
        """Render the digest of the whole text, and a link to that text if a page shows it."""
        label = join_inline(words("show all", "全部"), self.languages)
        link = f" ([{label}]({self.runs_url}/{self.run_id}))" if self.run_id else ""
        return f"{link} <!-- all {hashlib.sha256(self.whole.encode()).hexdigest()[:12]} -->"

    def is_same_comment(self, current: str, body: str) -> bool:
        """Return whether the current body of a comment needs no edit to become the wanted body."""
        match = re.search(_WHOLE, current)
        is_page = match is not None and re.fullmatch(rf"{re.escape(self.runs_url)}/[0-9]+", match["url"])
        if is_page:  # the page of an earlier run shows the same whole text
            current, body = re.sub(_WHOLE, "", current), re.sub(_WHOLE, "", body)
        return is_same_text(current, body)


@record
class Create:
    """A comment to create."""

    body: str
    whole: str = ""  # the whole text, if the body is cut


@record
class Update:
    """A comment to edit. `whole`: see `Create`."""

    id: int
    body: str
    whole: str = ""


@record
class Delete:
    """A comment to delete."""

    id: int


Edit = Create | Update | Delete


def find_own(comments: Iterable[Comment], marker: str, identities: Sequence[str]) -> list[Comment]:
    """Return infx's own comments of one kind, oldest first."""
    own = (
        comment
        for comment in comments
        if comment.kind is CommentKind.ISSUE
        and is_identity(comment.author, identities)
        and (comment.body == marker or comment.body.startswith((f"{marker}\n", f"{marker}\r\n")))
    )
    return sorted(own, key=lambda comment: comment.id)


def find_adoptable(
    comments: Iterable[Comment], starts: Sequence[str], identities: Sequence[str]
) -> Comment | None:
    """Return the latest comment that an older system wrote under one of the identities."""
    old = [c for c in comments if is_identity(c.author, identities) and c.body.startswith(tuple(starts))]
    return max(old, key=lambda comment: comment.id, default=None)


def read_order(comment: Comment, identities: Sequence[str], adopt_order: str = "") -> Order:
    """Return the order in one of infx's comments; () if it has none or another account edited it last.

    adopt_order: a pattern with one group, the run's number, for comments of an older system.
    """
    # An account with write access may edit any comment, and a huge number would block all later runs.
    if comment.editor is not None and not is_identity(comment.editor, identities):
        return ()
    if match := re.search(_ORDER, comment.body[:500]):
        return tuple(int(part) for part in match[1].split("."))
    adopted = re.search(adopt_order, comment.body) if adopt_order else None
    return (int(adopted[1]),) if adopted else ()


def find_ahead(
    stickies: Iterable[Sticky], comments: Sequence[Comment], identities: Sequence[str]
) -> list[Comment]:
    """Return infx's comments that claim facts about a newer run, and whose last editor is not known yet."""
    return [
        comment
        for sticky in stickies
        if sticky.text is not None and sticky.order
        for comment in _find_kept(sticky, comments, identities)
        if comment.editor is None and sticky.order < read_order(comment, identities, sticky.adopt_order)
    ]


def plan_edits(
    sticky: Sticky, comments: Sequence[Comment], identities: Sequence[str], limit: int
) -> tuple[Edit, ...]:
    """Plan the edits that turn the existing comments into the wanted one.

    Of duplicates the oldest stays, because links point at it. It gets the text about the newest run in any of them,
    except for comments that another account has edited.
    """
    own = _find_kept(sticky, comments, identities)
    if sticky.text is None:
        return tuple(Delete(id=comment.id) for comment in own)
    body = sticky.body(limit)
    whole = "" if body == sticky.whole else sticky.whole
    if not own:
        return (Create(body=body, whole=whole),)
    kept, *duplicates = own
    newest = max(own, key=lambda comment: read_order(comment, identities, sticky.adopt_order))
    if sticky.order < read_order(newest, identities, sticky.adopt_order):
        body, whole = newest.body, ""
    edits: list[Edit] = []
    if not sticky.is_same_comment(kept.body, body):
        edits.append(Update(id=kept.id, body=body, whole=whole))
    return (*edits, *(Delete(id=comment.id) for comment in duplicates))


def _find_kept(sticky: Sticky, comments: Sequence[Comment], identities: Sequence[str]) -> list[Comment]:
    """Return infx's own comments of this kind, oldest first, or else the comment to adopt."""
    own = find_own(comments, sticky.marker, identities)
    if sticky.text is None or own:
        return own
    adopted = find_adoptable(comments, sticky.adopt, identities)
    return [adopted] if adopted else []


def is_same_text(first: str, second: str) -> bool:
    """Return whether two texts differ only in line ends and trailing blanks, which GitHub may change."""
    return [line.rstrip() for line in first.rstrip().splitlines()] == [
        line.rstrip() for line in second.rstrip().splitlines()
    ]
