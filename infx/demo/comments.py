"""Render comments as GitHub shows them, in the version that a step wrote."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Callable
from html import escape, unescape

from infx.demo.steps import CommentVersion
from infx.phrases import count

FindAnchor = Callable[[str], str | None]  # address of the hub → id of the element that shows what it names

_BOX = re.compile(r"(<li>\s*(?:<p>)?)\[([ xX])\] ")  # the start of a task in a rendered comment
_LINK = re.compile(r'<a href="([^"]+)">(.*?)</a>', re.DOTALL)
_REAL = "https://docs.github.com/"  # all other addresses belong to the hub and do not exist outside the demo
_ALIGN = re.compile(r'style="text-align:(\w+)"')
_HIDDEN = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_TAGS = re.compile(r"<[^>]*>")
_LENGTH = 100  # of the line that names a comment
_MOST_LINES = 8  # of a change; and of a person's comment that is not folded


class CommentDisplay:
    """Comments in the order of their versions: texts that a reader has seen are folded, edits show what changed."""

    def __init__(self, find_anchor: FindAnchor) -> None:
        self.find_anchor = find_anchor
        self._seen: set[str] = set()  # first lines
        self._versions: dict[int, list[str]] = {}  # texts by id

    def render(self, version: CommentVersion) -> str:
        """Return a version as HTML. A deleted comment is a line with a link to the text."""
        versions = self._versions.setdefault(version.id, [])
        text = read_text(version)
        title = _find_title(text)
        if version.action == "deleted":
            shown = f'<a href="#{make_anchor(version.id, len(versions))}">{escape(title)}</a>'
            return f'<p class="gone">deleted {_render_author(version)}’s comment: {shown}</p>'
        before = versions[-1] if versions else ""
        versions.append(text)
        is_new = title not in self._seen
        self._seen.add(title)
        body = self._render_body(version, text)
        anchor = make_anchor(version.id, len(versions))
        if version.action == "edited":
            changes, remark = _render_changes(before, text)
            return f'<div class="comment" id="{anchor}">{_fold(version, f"edited, {remark}: {title}", body)}{changes}</div>'
        remark = "" if is_new else "same kind of comment as above: "
        return (
            f'<div class="comment" id="{anchor}">{_fold(version, remark + title, body, is_open=is_new)}</div>'
        )

    def skip(self, version: CommentVersion) -> str:
        """Return an empty element as the target of links to a comment whose text the step itself shows."""
        versions = self._versions.setdefault(version.id, [])
        versions.append(read_text(version))
        return f'<span id="{make_anchor(version.id, len(versions))}"></span>'

    def count_versions(self, comment: int) -> int:
        """Return how many versions of a comment were rendered."""
        return len(self._versions.get(comment, ()))

    def _render_body(self, version: CommentVersion, text: str) -> str:
        """Render the Markdown; only a bot's comment may contain HTML."""
        from markdown_it import MarkdownIt

        options = {"html": _is_bot(version), "breaks": True}
        html = MarkdownIt("commonmark", options).enable("table").render(text)
        html = _ALIGN.sub(r'class="\1"', html)  # the page's policy blocks styles in attributes
        html = html.replace("<table>", '<div class="wide" tabindex="0"><table>').replace(
            "</table>", "</table></div>"
        )
        return _LINK.sub(self._redirect, _BOX.sub(_draw_box, html))

    def _redirect(self, match: re.Match[str]) -> str:
        address, text = match.groups()
        if address.startswith(_REAL):
            return match[0]
        anchor = self.find_anchor(unescape(address))
        return f'<a href="#{anchor}">{text}</a>' if anchor else f'<span class="link">{text}</span>'


def make_anchor(comment: int, version: int) -> str:
    """Return the id of the element of a version; versions count from 1."""
    return f"comment-{comment}" if version <= 1 else f"comment-{comment}-{version}"


def read_text(version: CommentVersion) -> str:
    """Return the text that GitHub shows: a bot's markers are hidden."""
    return _HIDDEN.sub("", version.body).strip() if _is_bot(version) else version.body


def _is_bot(version: CommentVersion) -> bool:
    return version.author.endswith("[bot]")


def _find_title(text: str) -> str:
    """Return the first line of a comment as plain text."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    plain = re.sub(r"[*`#]|\[([^]]*)\]\([^)]*\)", lambda match: match[1] or "", _TAGS.sub("", first))
    return textwrap.shorten(plain, _LENGTH, placeholder="…")


def _render_author(version: CommentVersion) -> str:
    return f"<b>{escape(version.author)}</b>"


def _fold(version: CommentVersion, title: str, body: str, *, is_open: bool = False) -> str:
    summary = f"<summary>{_render_author(version)} <span>{escape(title)}</span></summary>"
    return f'<details{" open" if is_open else ""}>{summary}<div class="body">{body}</div></details>'


def _render_changes(before: str, after: str) -> tuple[str, str]:
    """Return the lines that an edit removed and added as HTML, and how many there are."""
    changes = [
        line
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if line[0] in "+-" and line[2:].strip()
    ]
    items = "".join(
        f'<li class="{"new" if line[0] == "+" else "old"}">{escape(_TAGS.sub("", line[2:]))}</li>'
        for line in changes[:_MOST_LINES]
    )
    return f'<ul class="changes">{items}</ul>', count(len(changes), "changed line")


def _draw_box(match: re.Match[str]) -> str:
    checked = " checked" if match[2] != " " else ""
    return f'{match[1]}<input type="checkbox" disabled{checked}> '
