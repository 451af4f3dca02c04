"""Render the demo's page: the overview, each scene with its timeline, and the published results.

The page is a single file that requests nothing, for light and dark themes and for wide and narrow windows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from infx.demo.comments import CommentDisplay
from infx.demo.overview import PullOverview, read_overview, render_grid, render_totals
from infx.demo.results import SET, find_lines, render_results
from infx.demo.rows import LEGEND
from infx.demo.stage import DemoStage
from infx.demo.timeline import Timeline
from infx.page.document import ChartPage, render_chart_page

_STYLE = Path(__file__).with_name("data") / "page.css"
_WRONG = ' <span class="wrong" title="something goes wrong">✕</span>'
_ABOUT = """\
<p>A pull request appends an entry to a changelog; the entry asks for a <b>sweep</b>, a run that measures all <b>rows</b>
(benchmark jobs) of the named configurations on expensive GPUs. infx decides whether a sweep may start, checks its results,
verifies the <b>sign-off</b> of a reviewer, merges, and publishes. Here, pull requests run into trouble, as real ones do.</p>"""
_NOTES = """\
<details class="about"><summary>How to read this page</summary>
<p>The commands are those that the project's workflows run. A program on this machine, the hub, replaces GitHub, and its
clock skips the hours that sweeps take. Every row is a real benchmark, of a small engine that needs no GPU: its processes
start and are watched, and a client measures them. The engine answers as fast as a formula says, so the numbers are not those
of the GPUs that the rows name.</p>
<p>Each mark in the grid leads to a step of the timeline:
<span class="mark success">✓</span> done, <span class="mark failure">✕</span> refused or failed,
<span class="mark pending">●</span> waiting, <span class="mark none">○</span> no sweep started. The timeline shows every
comment and status as it was at that moment.</p>
<p>GPU-hours are the plan's estimates. Saved are rows that were stopped after the first failure, sweeps that did not have
to run again because a commit only merged main, and sweeps of merges, which reuse a finished sweep.</p>
{legend}</details>"""


def render_page(stage: DemoStage, scenes: Mapping[str, str], counts: str, library: str) -> str:
    """Return the page.

    Args:
        scenes: the description of each scene that was played, by its name.
        counts: a line of totals.
        library: the script that draws charts.
    """
    pulls = read_overview(stage)
    timeline = Timeline(stage, CommentDisplay(lambda address: _find_anchor(stage, address)))
    lines = find_lines(stage.merges, stage.sweeps)
    played = {
        scene: words for scene, words in scenes.items() if scene in {step.scene for step in stage.steps}
    }
    sections = "".join(_render_scene(timeline, pulls, scene, words) for scene, words in played.items())
    body = (
        f'<a class="skip" href="#scenes">Skip to the timeline</a>{_render_navigation(stage, pulls, played)}'
        f'<main><header id="overview"><h1>infx demo</h1>{_ABOUT}{render_totals(stage, pulls)}</header>'
        f'{render_grid(pulls)}{_NOTES.format(legend=LEGEND)}<div id="scenes">{sections}</div>{render_results(stage.merges, lines)}'
        f'<footer class="about">{escape(counts)} Seconds are real time on this machine; reads and writes are requests to '
        "GitHub's API.</footer></main>"
    )
    style = _STYLE.read_text(encoding="utf-8")
    return render_chart_page(ChartPage(title="infx demo", body=body, sets={SET: lines}, style=style), library)


def _render_navigation(stage: DemoStage, pulls: Sequence[PullOverview], scenes: Mapping[str, str]) -> str:
    items = ['<li><a href="#overview">Overview</a></li>']
    for scene in scenes:
        numbers = [f"#{overview.pull.number}" for overview in pulls if overview.scene == scene]
        chapters = "".join(
            f'<li><a href="#chapter-{chapter.step}">{f"#{chapter.pull} " if len(numbers) > 1 else ""}'
            f"{escape(chapter.theme.title)}{_WRONG if chapter.theme.wrong else ''}</a></li>"
            for chapter in stage.chapters
            if chapter.scene == scene
        )
        items.append(
            f'<li><a href="#scene-{scene}"><span>Scene {scene}</span> <small>{", ".join(numbers)}</small></a><ol>{chapters}</ol></li>'
        )
    items.append('<li><a href="#results">Published results</a></li>')
    return f'<nav aria-label="Page"><ol>{"".join(items)}</ol></nav>'


def _render_scene(timeline: Timeline, pulls: Sequence[PullOverview], scene: str, words: str) -> str:
    titles = "".join(
        f'<p id="pr-{overview.pull.number}"><span class="state {_name_state(overview)}">{_name_state(overview)}</span> '
        f'<b>#{overview.pull.number} {escape(overview.pull.title)}</b> <span class="about">by '
        f"{escape(overview.pull.author or 'ghost')} from <code>{escape(overview.pull.head_ref)}</code></span></p>"
        for overview in pulls
        if overview.scene == scene
    )
    return (
        f'<section id="scene-{scene}"><h2>Scene {scene}</h2><p class="lead">{escape(words)}</p>{titles}'
        f"{timeline.render_scene(scene)}</section>"
    )


def _name_state(overview: PullOverview) -> str:
    pull = overview.pull
    return "merged" if pull.merged_at else "open" if pull.is_open else "closed"


def _find_anchor(stage: DemoStage, address: str) -> str | None:
    """Return the id of the element that shows what an address of the hub names."""
    names = {f"pr-{chapter.pull}" for chapter in stage.chapters}
    names |= {f"run-{sweep.run}" for sweep in stage.sweeps}
    names |= {f"comment-{version.id}" for step in stage.steps for version in step.comments}
    match re.split(r"[/#?=]+", address):
        case [*_, "pull", _, name]:
            name = name.removeprefix("issue")
        case [*_, "pull", number]:
            name = f"pr-{number}"
        case [*_, "runs" | "unofficialRun", run]:
            name = f"run-{run}"
        case _:
            return None
    return name if name in names else None
