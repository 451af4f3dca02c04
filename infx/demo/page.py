"""Render the demo's page: each pull request as people see it, its sweeps as pictures, and the timeline.

The page is a single file without scripts, for light and dark themes and for wide and narrow windows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from itertools import groupby
from pathlib import Path

from infx.demo.charts import Layouts, draw_plan, draw_results, draw_table
from infx.demo.conversation import render_conversation
from infx.demo.stage import DemoStage
from infx.demo.steps import DemoStep, SweepRecord
from infx.demo.tell import TABLE, describe_cost
from infx.hub.state import Pull

_STYLE = Path(__file__).with_name("data") / "page.css"
_ABOUT = """\
<p>This page shows pull requests of a GPU benchmark repository, from the first push to the merge. A pull request appends
an entry to the changelog; the entry asks for a <b>sweep</b>, a run that measures all <b>rows</b> (benchmark jobs) of the
named configurations. The bot keeps comments and two statuses: <code>infx/sweep</code> for the sweep, and
<code>codeowner-signoff-verify</code> for the <b>sign-off</b>, a reviewer's checklist that infx verifies.</p>
<p>The commands are those that the workflows run. A program on this machine, the hub, replaces GitHub, and its clock skips
the hours that sweeps take. No GPU was used: every row reports sample numbers.</p>"""
_LEGEND = """\
<p class="about">Each cell is a row (one benchmark job) on its runner (GPU machine). c64 measures throughput with 64
concurrent sessions; e64 is an accuracy run (eval) with 64 sessions. The mark shows the parallelism layout: TP4 is tensor
parallelism over 4 GPUs, EP4 adds expert parallelism, and DPA adds data-parallel attention. TP4/EP4 is also called TEP4,
and TP4/EP4/DPA is also called DEP4. <span class="status success">passed</span> <span class="status failure">failed</span>
<span class="status cancelled">stopped before it began</span></p>"""


def render_page(stage: DemoStage, scenes: Mapping[str, str], counts: str) -> str:
    """Return the page; `scenes` maps the name of each scene to its description, and `counts` is a line of totals."""
    scene_of: dict[int, str] = {}
    for step in stage.steps:
        if step.pull:
            scene_of.setdefault(step.pull, step.scene)
    pulls = [
        (pull, scene_of[pull.number]) for pull in stage.hub.state.pulls.values() if pull.number in scene_of
    ]
    cards = "".join(_render_card(pull, scene, scenes[scene]) for pull, scene in pulls)
    style = _STYLE.read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>infx demo</title><style>{style}</style></head><body>"
        f'<header><h1>infx demo</h1>{_ABOUT}<p class="about">{escape(counts)}</p>'
        f'<nav>{cards}<a href="#timeline"><b>Timeline</b> <span>every action, and the command that answered it</span></a></nav>'
        f"</header><main>{''.join(_render_pull(stage, pull, scenes[scene]) for pull, scene in pulls)}"
        f"{_render_timeline(stage.steps, scenes)}</main></body></html>\n"
    )


def _render_card(pull: Pull, scene: str, words: str) -> str:
    return (
        f'<a href="#pr-{pull.number}"><b>Scene {escape(scene)} <span class="number">#{pull.number}</span></b> '
        f"<span>{escape(words)}</span></a>"
    )


def _render_pull(stage: DemoStage, pull: Pull, words: str) -> str:
    state = "merged" if pull.merged_at else "open" if pull.is_open else "closed"
    sweeps = [sweep for sweep in stage.sweeps if sweep.pull == pull.number]
    conversation = render_conversation(stage.hub, pull, lambda address: _find_anchor(stage, address))
    return (
        f'<section id="pr-{pull.number}"><h2>{escape(pull.title)} <span class="number">#{pull.number}</span></h2>'
        f'<p><span class="state {state}">{state}</span> <b>{escape(pull.author or "ghost")}</b> from '
        f'<code>{escape(pull.head_ref)}</code></p><p class="about">{escape(words)}</p>{conversation}'
        f"<h3>Sweeps</h3>{_LEGEND}{''.join(map(_render_sweep, sweeps))}</section>"
    )


def _render_sweep(sweep: SweepRecord) -> str:
    layouts = Layouts(sweep)
    return (
        f'<figure id="run-{sweep.run}"><figcaption>Run {sweep.run} {layouts.draw_legend()}</figcaption>'
        f"{draw_plan(sweep, layouts)}{draw_results(sweep, layouts)}"
        f"<details><summary>All rows with their numbers</summary>{draw_table(sweep)}</details></figure>"
    )


def _find_anchor(stage: DemoStage, address: str) -> str | None:
    """Return the id of the element that shows what an address of the hub names."""
    names = {f"pr-{step.pull}" for step in stage.steps} | {f"run-{sweep.run}" for sweep in stage.sweeps}
    names |= {f"issuecomment-{comment}" for _, comment in stage.hub.state.comments}
    match re.split(r"[/#?=]+", address):
        case [*_, "pull", _, name]:
            pass
        case [*_, "pull", number]:
            name = f"pr-{number}"
        case [*_, "runs" | "unofficialRun", run]:
            name = f"run-{run}"
        case _:
            return None
    return name if name in names else None


def _render_timeline(steps: Iterable[DemoStep], scenes: Mapping[str, str]) -> str:
    parts = [
        f"<details open><summary><h3>Scene {escape(scene)}</h3> {escape(scenes[scene])}</summary>"
        f"{''.join(map(_render_step, scene_steps))}</details>"
        for scene, scene_steps in groupby(steps, lambda step: step.scene)
    ]
    return (
        '<section id="timeline"><h2>Timeline</h2><p class="about">Seconds are real time on this machine; reads and '
        f"writes are requests to GitHub's API.</p>{''.join(parts)}</section>"
    )


def _render_step(step: DemoStep) -> str:
    pull = f' <a class="number" href="#pr-{step.pull}">#{step.pull}</a>' if step.pull else ""
    code = f' <span class="code">exit {step.code}</span>' if step.code else ""
    cost = f'<span class="calls">{describe_cost(step, digits=2)}</span>' if step.command else ""
    words = f"<p><b>{escape(step.who)}</b> {escape(step.words)}{pull} {cost}{code}</p>"
    lines = [f"<b>$ {escape(step.command)}</b>"] if step.command else []
    lines += [_render_line(line) for line in step.shown]
    output = f"<pre>{''.join(lines)}</pre>" if lines else ""
    return f'<div class="step">{words}{output}</div>'


def _render_line(line: str) -> str:
    kind = ' class="cells"' if TABLE.search(line) else ""
    return f"<span{kind}>{escape(line)}</span>" if line.strip() else ""
