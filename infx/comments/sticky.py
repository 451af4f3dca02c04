"""Comments that are kept rather than added: found again, edited in place, and never two of a kind.

A comment is ours if one of the policy's identities wrote it *and* its body begins with our marker. Either alone
proves nothing: anybody can post a marker, and our identity posts other things too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from infx.comments.languages import join_inline, words
from infx.model import Comment, CommentKind
from infx.policy.identity import is_identity
from infx.policy.model import Language
from infx.shorten import shorten

MAX_ITEMS = 30  # of the list in one comment

Order = tuple[int, ...]
_ORDER = re.compile(r"<!-- order ([0-9]+(?:\.[0-9]+)*) -->")
# Where all of a comment can be read. The digest of the whole text stands behind it, so that another run need not put
# its own address there.
_WHOLE = re.compile(r" \(\[[^\]\n]*\]\((?P<url>[^\s()]*)\)\)(?= <!-- all [0-9a-f]{12} -->)")


@dataclass(frozen=True, kw_only=True)
class Sticky:
    """A comment as it should be.

    marker: an HTML comment, the first line. text: what follows, None: there should be no such comment.
    items, after: a list below the text, and what follows it. Of a comment that is too long only the list is cut.
    order: the run and attempt that it speaks of; a smaller one never replaces a greater.
    adopt: how the comments of an older system begin, which had no marker; the latest becomes ours. adopt_order: see
    `read_order`. languages: of the words that say that it was cut. runs_url: where runs of this repository are shown.
    run_id: the one whose page shows the whole text of what was cut; None: there is none.
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
        """The comment with every item of its list."""
        return self._compose([f"- {item}" for item in self.items])

    def body(self, limit: int) -> str:
        """The comment within a limit of characters: with as much of its list as fits."""
        if len(self.items) <= MAX_ITEMS and len(self.whole) <= limit:
            return self.whole
        lines = [f"- {item}" for item in self.items[:MAX_ITEMS]]
        room = limit - len(self._compose([self._rest(len(self.items))]))
        while lines and sum(map(len, lines)) + len(lines) > room:
            lines.pop()
        rest = len(self.items) - len(lines)
        made = self._compose([*lines, self._rest(rest)] if rest else lines)
        return shorten(made, limit, notice=self._cut())

    def _compose(self, lines: Sequence[str]) -> str:
        order = f"\n<!-- order {'.'.join(map(str, self.order))} -->" if self.order else ""
        blocks = [(self.text or "").strip("\n"), "\n".join(lines), self.after.strip("\n")]
        text = "\n\n".join(block for block in blocks if block)
        return f"{self.marker}{order}\n{text}".rstrip() + "\n"

    def _rest(self, number: int) -> str:
        said = words(f"{number:,} more", f"另有 {number:,} 项")
        return f"- … {join_inline(said, self.languages)}{self._where()}"

    def _cut(self) -> str:
        said = words("Cut here: the rest did not fit.", "以下内容过长，已截断。")
        return f"\n*{join_inline(said, self.languages, ' ')}*{self._where()}\n"

    def _where(self) -> str:
        """A link to the whole text, where there is a page with it, and the digest of that text."""
        said = join_inline(words("all of it", "全部"), self.languages)
        link = f" ([{said}]({self.runs_url}/{self.run_id}))" if self.run_id else ""
        return f"{link} <!-- all {hashlib.sha256(self.whole.encode()).hexdigest()[:12]} -->"

    def is_said_by(self, there: str, body: str) -> bool:
        """Whether a comment that is there says the same as a body of ours: of the same whole text, the page of an
        earlier run shows all of it as well.
        """
        found = _WHOLE.search(there)
        is_page = found is not None and re.fullmatch(rf"{re.escape(self.runs_url)}/[0-9]+", found["url"])
        if is_page:
            there, body = _WHOLE.sub("", there), _WHOLE.sub("", body)
        return is_same_text(there, body)


@dataclass(frozen=True, kw_only=True)
class Create:
    """whole: the text of what was cut; empty where nothing was."""

    body: str
    whole: str = ""


@dataclass(frozen=True, kw_only=True)
class Update:
    id: int
    body: str
    whole: str = ""


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
        and is_identity(comment.author, identities)
        and (comment.body == marker or comment.body.startswith((f"{marker}\n", f"{marker}\r\n")))
    )
    return sorted(own, key=lambda comment: comment.id)


def find_adoptable(
    comments: Iterable[Comment], starts: Sequence[str], identities: Sequence[str]
) -> Comment | None:
    """The latest comment of ours that an older system wrote."""
    old = [c for c in comments if is_identity(c.author, identities) and c.body.startswith(tuple(starts))]
    return max(old, key=lambda comment: comment.id, default=None)


def read_order(comment: Comment, identities: Sequence[str], adopt_order: str = "") -> Order:
    """The run that a comment of ours speaks of; () if it names none, or if somebody else has edited it last: whoever
    may write here may edit everything, and a huge number would keep every later run out.

    adopt_order: a pattern with one group, the run's number, for comments of an older system.
    """
    if comment.editor is not None and not is_identity(comment.editor, identities):
        return ()
    if match := _ORDER.search(comment.body[:500]):
        return tuple(int(part) for part in match[1].split("."))
    found = re.search(adopt_order, comment.body) if adopt_order else None
    return (int(found[1]),) if found else ()


def find_ahead(
    stickies: Iterable[Sticky], comments: Sequence[Comment], identities: Sequence[str]
) -> list[Comment]:
    """Comments of ours that claim to know a newer run than we do, and of which nobody has asked yet who edited them."""
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
    """What turns the comments that are there into the one that should be; nothing where it is there already.

    Of duplicates the oldest stays, because links point at it, with the text of the newest run that any of them
    knows. What somebody else has edited knows nothing: everybody with write access can.
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
    if not sticky.is_said_by(kept.body, body):
        edits.append(Update(id=kept.id, body=body, whole=whole))
    return (*edits, *(Delete(id=comment.id) for comment in duplicates))


def _find_kept(sticky: Sticky, comments: Sequence[Comment], identities: Sequence[str]) -> list[Comment]:
    """Our comments of this kind, oldest first; else the one that is to be adopted."""
    own = find_own(comments, sticky.marker, identities)
    if sticky.text is None or own:
        return own
    adopted = find_adoptable(comments, sticky.adopt, identities)
    return [adopted] if adopted else []


def is_same_text(one: str, other: str) -> bool:
    """Line ends and blanks at the end are GitHub's to change."""
    return [line.rstrip() for line in one.rstrip().splitlines()] == [
        line.rstrip() for line in other.rstrip().splitlines()
    ]
