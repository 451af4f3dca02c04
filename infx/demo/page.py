"""`demo.html`: each pull request as a person would see it, its sweeps as pictures, and the timeline. One file, no
script, light and dark, wide and narrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from infx.demo.charts import draw_plan, draw_results
from infx.demo.stage import Stage, Step
from infx.demo.tell import TABLE
from infx.hub.hub import Hub
from infx.hub.state import Comment, Pull

_STYLE = Path(__file__).with_name("data") / "page.css"
_WORDS = {
    "labeled": "put on",
    "unlabeled": "took off",
    "merged": "merged this",
    "head_ref_force_pushed": "forced a push",
}
_BOX = re.compile(r"(<li>\s*(?:<p>)?)\[([ xX])\] ")  # how a task starts in the rendered text of a comment

_LEGEND = (
    '<p class="legend">A cell is a row: c64 measures 64 concurrent sessions, e64 checks accuracy there. '
    '<span class="status success">passed</span> <span class="status failure">failed</span> '
    '<span class="status cancelled">stopped before it began</span></p>'
)


@dataclass(frozen=True, kw_only=True)
class _Item:
    """One thing in a conversation. at: when, as GitHub writes it."""

    at: str
    html: str


def render_page(stage: Stage) -> str:
    hub = stage.hub
    told = {step.pull for step in stage.steps}
    pulls = [pull for pull in hub.state.pulls.values() if pull.number in told]
    nav = " ".join(f'<a href="#pr-{pull.number}">#{pull.number}</a>' for pull in pulls)
    body = [
        "<header><h1>infx demo</h1>",
        "<p>Three pull requests, played from the first push to the merge by the commands that the workflows run.</p>",
        f'<nav>{nav} <a href="#timeline">timeline</a></nav></header>',
        *(_render_pull(stage, pull) for pull in pulls),
        _render_timeline(stage.steps),
    ]
    style = _STYLE.read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>infx demo</title><style>{style}</style>"
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'


def _render_pull(stage: Stage, pull: Pull) -> str:
    state = "merged" if pull.merged_at else "open" if pull.is_open else "closed"
    items = sorted(_conversation(stage.hub, pull), key=lambda item: item.at)
    sweeps = [
        f"<figure><figcaption>Run {sweep.run}</figcaption>{draw_plan(sweep)}{draw_results(sweep)}</figure>"
        for sweep in stage.sweeps
        if sweep.pull == pull.number
    ]
    return (
        f'<section id="pr-{pull.number}"><h2>{escape(pull.title)} <span class="number">#{pull.number}</span></h2>'
        f'<p><span class="state {state}">{state}</span> <b>{escape(pull.author or "ghost")}</b> from '
        f"<code>{escape(pull.head_ref)}</code></p>"
        f'<div class="conversation">{"".join(item.html for item in items)}</div>'
        f"<h3>Sweeps</h3>{_LEGEND}{''.join(sweeps)}</section>"
    )


def _conversation(hub: Hub, pull: Pull) -> Iterable[_Item]:
    for comment in hub.comments_of(pull.number):
        yield _Item(at=comment.created_at, html=_render_comment(comment))
    for entry in hub.state.timeline:
        if entry.pull == pull.number and entry.event in _WORDS:
            label = f' <span class="label">{escape(entry.label)}</span>' if entry.label else ""
            words = f"<b>{escape(entry.actor or 'ghost')}</b> {_WORDS[entry.event]}{label}"
            yield _Item(at=entry.created_at, html=f'<p class="event">{words}</p>')
    for event in hub.state.events:
        is_push = event.name == "pull_request" and event.action in {"opened", "synchronize"}
        if is_push and event.payload["number"] == pull.number:
            yield _render_push(hub, event.payload["pull_request"])


def _render_push(hub: Hub, payload: Mapping[str, Any]) -> _Item:
    """The commit that became the head; its author may have pushed more than one."""
    commit = hub.git.commit(payload["head"]["sha"])
    subject = commit.message.splitlines()[0] if commit.message else ""
    words = f"<b>{escape(commit.name)}</b> pushed {escape(subject)} <code>{commit.sha[:7]}</code>"
    return _Item(at=payload["updated_at"], html=f'<p class="event">{words}{_statuses(hub, commit.sha)}</p>')


def _statuses(hub: Hub, sha: str) -> str:
    newest = {status.context: status for status in hub.state.statuses if status.sha == sha}
    return "".join(
        f'<br><span class="status {status.state}">{escape(context)}</span> {escape(status.description or "")}'
        for context, status in newest.items()
    )


def _render_comment(comment: Comment) -> str:
    """Ours may hold the HTML that our renderers write; everybody else's is text."""
    from markdown_it import MarkdownIt

    author, body = comment.author or "ghost", comment.body or ""
    ours = author.endswith("[bot]")
    parser = MarkdownIt("commonmark", {"html": ours, "breaks": True}).enable("table")
    text = parser.render(re.sub(r"<!--.*?-->\n?", "", body, flags=re.DOTALL) if ours else body)
    marks = [
        word for word, holds in (("bot", ours), ("edited", comment.updated_at != comment.created_at)) if holds
    ]
    about = f" <i>{', '.join(marks)}</i>" if marks else ""
    return f'<article><h4>{escape(author)}{about}</h4><div class="body">{_BOX.sub(_draw_box, text)}</div></article>'


def _draw_box(match: re.Match[str]) -> str:
    checked = " checked" if match[2] != " " else ""
    return f'{match[1]}<input type="checkbox" disabled{checked}> '


def _render_timeline(steps: Sequence[Step]) -> str:
    rows = []
    scene = ""
    for step in steps:
        if step.scene != scene:
            scene = step.scene
            rows.append(f"<h3>Scene {escape(scene)}</h3>")
        rows.append(_render_step(step))
    return f'<section id="timeline"><h2>Timeline</h2>{"".join(rows)}</section>'


def _render_step(step: Step) -> str:
    pull = f' <a class="number" href="#pr-{step.pull}">#{step.pull}</a>' if step.pull else ""
    code = f' <span class="code">exit {step.code}</span>' if step.code else ""
    words = f"<p><b>{escape(step.who)}</b> {escape(step.words)}{pull} {_render_cost(step)}{code}</p>"
    lines = [f"<b>$ {escape(step.command)}</b>"] if step.command else []
    lines += [_render_line(line) for line in step.shown]
    said = f"<pre>{''.join(lines)}</pre>" if lines else ""
    return f'<div class="step">{words}{said}</div>'


def _render_line(line: str) -> str:
    kind = ' class="cells"' if TABLE.search(line) else ""
    return f"<span{kind}>{escape(line)}</span>" if line.strip() else ""


def _render_cost(step: Step) -> str:
    if not step.command:
        return ""
    calls = f", {step.reads} reads, {step.writes} writes" if step.reads or step.writes else ""
    return f'<span class="calls">{step.seconds:.2f} s{calls}</span>'
