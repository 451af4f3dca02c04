"""Render the timeline: every step with the command, the statuses and the comments that it wrote, as they were then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

from infx.demo.comments import CommentDisplay, make_anchor
from infx.demo.rows import render_sweep
from infx.demo.stage import DemoStage
from infx.demo.steps import Chapter, CommentVersion, DemoStep, StatusVersion
from infx.play.tell import TABLE, describe_cost

_SET = re.compile(
    r"set ([\w/-]+) on [0-9a-f]{12} to \w+: "
)  # a line about a status, which the step shows itself
_WRITE = re.compile(r"(?:create|update|delete) the .+ comment\b")  # a line about a comment
_GAP = re.compile(r"\s{2,}")
_CODE = re.compile(r"`([^`]+)`")


@dataclass
class Timeline:
    """The timeline of a demo that has been played."""

    stage: DemoStage
    comments: CommentDisplay
    _commands: set[str] = field(default_factory=set)

    def render_scene(self, scene: str) -> str:
        """Return the steps of a scene in chapters."""
        steps = [(number, step) for number, step in enumerate(self.stage.steps) if step.scene == scene]
        starts = {chapter.step: chapter for chapter in self.stage.chapters}
        parts = []
        for number, step in steps:
            if chapter := starts.get(number):
                parts.append(render_heading(chapter))
            parts.append(self._render_step(number, step))
        return "".join(parts)

    def _render_step(self, number: int, step: DemoStep) -> str:
        kind = "machine" if step.who in {"Actions", "runners", "GitHub"} else "person"
        head = (
            f'<p><time datetime="{step.at}">{step.at[11:16]}</time> <b class="who {kind}">{escape(step.who)}</b> '
            f"{render_words(step.words)}</p>"
        )
        output = self._render_output(step)  # before the comments, to which it links
        written = "".join(self._render_comment(step, version) for version in step.comments)
        saved = "".join(
            f'<p class="saved">saved {saving.gpu_hours:.0f} GPU-hours: {escape(saving.words)}</p>'
            for saving in self.stage.savings
            if saving.step == number
        )
        sweeps = "".join(render_sweep(sweep) for sweep in self.stage.sweeps if sweep.step == number)
        return (
            f'<div class="step" id="step-{number}">{head}{_render_command(step)}{output}'
            f"{''.join(map(render_status, step.statuses))}{written}{sweeps}{saved}</div>"
        )

    def _render_comment(self, step: DemoStep, version: CommentVersion) -> str:
        shown = "\n".join([step.words.removeprefix("writes: "), *step.shown])
        if version.action == "created" and version.body == shown:
            return self.comments.skip(version)
        return self.comments.render(version)

    def _render_output(self, step: DemoStep) -> str:
        """Return the lines of the output; a line about a comment leads to the comment."""
        repeated = {f"{status.context}: {status.state}: {status.words}" for status in step.statuses}
        lines = [
            line
            for line in step.shown
            if line.strip() and not _SET.search(line) and line.partition(": ")[2] not in repeated
        ]
        targets = iter(self._find_targets(step.comments))
        parts = []
        for is_table, group in groupby(lines, lambda line: bool(TABLE.search(line))):
            if is_table:
                parts.append(_render_cells(list(group)))
                continue
            items = (f"<li>{self._render_line(line, targets)}</li>" for line in group)
            parts.append(f'<ul class="output">{"".join(items)}</ul>')
        return "".join(parts)

    def _render_line(self, line: str, targets: Iterable[str]) -> str:
        target = next(iter(targets), None) if _WRITE.search(line) else None
        return f'<a href="#{target}">{escape(line)}</a>' if target else render_words(line)

    def _find_targets(self, versions: Sequence[CommentVersion]) -> list[str]:
        """Return the ids of the elements of comments that are not rendered yet."""
        rendered = {version.id: self.comments.count_versions(version.id) for version in versions}
        targets = []
        for version in versions:
            if version.action != "deleted":
                rendered[version.id] += 1
            targets.append(make_anchor(version.id, rendered[version.id]))
        return targets


def render_heading(chapter: Chapter) -> str:
    """Return the heading of a chapter, with its problem and the answer of infx."""
    theme = chapter.theme
    problem = (
        f'<p class="problem"><span class="wrong">{render_words(theme.wrong)}</span> '
        f'<span class="fix">{render_words(theme.fix)}</span></p>'
        if theme.wrong
        else ""
    )
    return (
        f'<h3 id="chapter-{chapter.step}"><a class="number" href="#pr-{chapter.pull}">#{chapter.pull}</a> '
        f"{escape(theme.title)}</h3>{problem}"
    )


def render_words(text: str) -> str:
    """Return a text as HTML, with code between backticks."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def render_status(status: StatusVersion) -> str:
    """Return a commit status as it was set."""
    return (
        f'<p class="set"><span class="status {status.state}">{escape(status.context)}</span> '
        f"<b>{escape(status.state)}</b> on <code>{status.sha[:7]}</code> {render_words(status.words)}</p>"
    )


def _render_command(step: DemoStep) -> str:
    if not step.command:
        return ""
    code = f' <span class="code">exit {step.code}</span>' if step.code else ""
    return (
        f'<p class="command"><code>$ {escape(step.command)}</code>{code} '
        f'<span class="cost">{describe_cost(step, digits=2)}</span></p>'
    )


def _render_cells(lines: Sequence[str]) -> str:
    """Return lines with columns as tables; a line with another number of cells begins a new table."""
    rows = [_GAP.split(line.strip()) for line in lines]
    return "".join(_render_table(list(group)) for _, group in groupby(rows, len))


def _render_table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        "".join(["<tr>", *(f"<td>{escape(cell)}</td>" for cell in cells), "</tr>"]) for cells in body
    )
    return f'<div class="wide" tabindex="0"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'
