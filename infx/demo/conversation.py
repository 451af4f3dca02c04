"""Render a pull request's conversation as GitHub's page shows it: comments, pushes with statuses, labels, the merge."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from infx.hub.hub import Hub
from infx.hub.state import Pull
from infx.records import record

_WORDS = {
    "labeled": "added the label",
    "unlabeled": "removed the label",
    "merged": "merged this",
    "head_ref_force_pushed": "force-pushed the branch",
}
_BOX = re.compile(r"(<li>\s*(?:<p>)?)\[([ xX])\] ")  # the start of a task in a rendered comment
_LINK = re.compile(r'<a href="([^"]+)">(.*?)</a>', re.DOTALL)
_REAL = "https://docs.github.com/"  # all other addresses belong to the hub and do not exist outside the demo


@record
class _Item:
    """An entry of a conversation."""

    at: str  # a time, as GitHub writes it
    html: str


def render_conversation(hub: Hub, pull: Pull, find_anchor: Callable[[str], str | None]) -> str:
    """Return the conversation as HTML; `find_anchor` returns the place on the page for an address of the hub."""
    items = sorted(_find_items(hub, pull), key=lambda item: item.at)
    html = "".join(item.html for item in items)
    return f'<div class="conversation">{_LINK.sub(lambda match: _redirect(match, find_anchor), html)}</div>'


def _redirect(match: re.Match[str], find_anchor: Callable[[str], str | None]) -> str:
    address, text = match.groups()
    if address.startswith(_REAL):
        return match[0]
    anchor = find_anchor(address)
    return f'<a href="#{anchor}">{text}</a>' if anchor else f'<span class="link">{text}</span>'


def _find_items(hub: Hub, pull: Pull) -> Iterable[_Item]:
    for comment in hub.comments_of(pull.number):
        remark = "edited" if comment.updated_at != comment.created_at else ""
        anchor = f' id="issuecomment-{comment.id}"'
        yield _render_comment(comment.author, comment.body, comment.created_at, remark, attributes=anchor)
    for entry in hub.state.timeline:
        if entry.pull == pull.number and entry.event in _WORDS:
            label = f' <span class="label">{escape(entry.label)}</span>' if entry.label else ""
            words = f"<b>{escape(entry.actor or 'ghost')}</b> {_WORDS[entry.event]}{label}"
            yield _render_event(entry.created_at, words)
    for event in hub.state.events:
        match event.name, event.action:
            case "pull_request", "opened" | "synchronize" if event.payload["number"] == pull.number:
                yield _render_push(hub, event.payload["pull_request"])
            case "issue_comment", "deleted" if event.payload["issue"]["number"] == pull.number:
                yield _render_deleted(event.payload["comment"])


def _render_push(hub: Hub, payload: Mapping[str, Any]) -> _Item:
    """Render the commit that became the head, with its author, who may differ from the person who pushed it."""
    commit = hub.git.commit(payload["head"]["sha"])
    subject = commit.message.splitlines()[0] if commit.message else ""
    words = f"<b>{escape(commit.name)}</b> committed {escape(subject)} <code>{commit.sha[:7]}</code>"
    return _render_event(payload["updated_at"], words, _render_statuses(hub, commit.sha))


def _render_statuses(hub: Hub, sha: str) -> str:
    newest = {status.context: status for status in hub.state.statuses if status.sha == sha}
    return "".join(
        f'<br><span class="status {status.state}">{escape(context)}</span> {escape(status.description or "")}'
        for context, status in newest.items()
    )


def _render_deleted(payload: Mapping[str, Any]) -> _Item:
    """Render a comment that the bot deleted: GitHub's page no longer shows it, but the author has read it."""
    author, body, at = payload["user"]["login"], payload["body"], payload["created_at"]
    return _render_comment(author, body, at, "deleted once resolved", attributes=' class="gone"')


def _render_comment(author: str | None, body: str | None, at: str, remark: str, *, attributes: str) -> _Item:
    """Render the Markdown of a comment; only a bot's comment may contain HTML."""
    from markdown_it import MarkdownIt

    author, body = author or "ghost", body or ""
    is_bot = author.endswith("[bot]")
    parser = MarkdownIt("commonmark", {"html": is_bot, "breaks": True}).enable("table")
    text = parser.render(re.sub(r"<!--.*?-->\n?", "", body, flags=re.DOTALL) if is_bot else body)
    about = " · ".join(filter(None, (_render_time(at), remark)))
    html = (
        f"<article{attributes}><header><b>{escape(author)}</b> {about}</header>"
        f'<div class="body">{_BOX.sub(_draw_box, text)}</div></article>'
    )
    return _Item(at=at, html=html)


def _draw_box(match: re.Match[str]) -> str:
    checked = " checked" if match[2] != " " else ""
    return f'{match[1]}<input type="checkbox" disabled{checked}> '


def _render_event(at: str, words: str, below: str = "") -> _Item:
    return _Item(at=at, html=f'<p class="event">{words} {_render_time(at)}{below}</p>')


def _render_time(at: str) -> str:
    return f'<time datetime="{at}">{at[11:16]}</time>'
