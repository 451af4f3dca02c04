"""Render the first screen: for each pull request what went wrong, what infx did, and how every part of it ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from infx.demo.stage import DemoStage
from infx.demo.steps import Chapter, DemoStep
from infx.demo.timeline import render_words
from infx.hub.state import Pull
from infx.phrases import count
from infx.records import record

_WRONG, _FIX, _HOURS = "what went wrong", "what infx did", "GPU-hours"
_SIGN_OFF = "codeowner-signoff-verify"
_MARKS = {"success": "✓", "failure": "✕", "pending": "●", "none": "○"}


@record
class GridMark:
    """The outcome of a step in one column of the grid.

    Attributes:
        state: success, failure, pending or none.
        is_shown: whether the grid shows the words, and not only on hover.
    """

    step: int
    state: str
    words: str
    is_shown: bool = False


@record
class PullOverview:
    """Everything that the grid shows about a pull request."""

    pull: Pull
    scene: str
    problems: tuple[Chapter, ...]
    columns: tuple[tuple[str, tuple[GridMark, ...]], ...]  # head, outcomes in their order
    used: float  # GPU-hours
    saved: float


def read_overview(stage: DemoStage) -> tuple[PullOverview, ...]:
    """Return an overview for each pull request that the demo has played, in their order."""
    scene_of = {chapter.pull: chapter.scene for chapter in stage.chapters}
    return tuple(
        PullOverview(
            pull=stage.hub.state.pulls[number],
            scene=scene,
            problems=_find_problems(stage.chapters, number),
            columns=_find_columns(stage, number),
            used=sum(sweep.gpu_hours for sweep in stage.sweeps if sweep.pull == number),
            saved=sum(saving.gpu_hours for saving in stage.savings if saving.pull == number),
        )
        for number, scene in scene_of.items()
    )


def _find_problems(chapters: Iterable[Chapter], pull: int) -> tuple[Chapter, ...]:
    """Return the chapters with a problem, each problem once."""
    first: dict[str, Chapter] = {}
    for chapter in chapters:
        if chapter.pull == pull and chapter.theme.wrong:
            first.setdefault(chapter.theme.wrong, chapter)
    return tuple(first.values())


def _find_columns(stage: DemoStage, pull: int) -> tuple[tuple[str, tuple[GridMark, ...]], ...]:
    steps = [(number, step) for number, step in enumerate(stage.steps) if step.pull == pull]
    return (
        ("changelog", _find_validations(steps)),
        ("gate", _find_decisions(steps)),
        ("sweep", _find_sweeps(stage, pull)),
        ("sign-off", _find_sign_offs(steps)),
        ("merge", _find_merges(steps, stage.hub.state.pulls[pull]) + _find_publications(stage, pull)),
    )


def _find_validations(steps: Iterable[tuple[int, DemoStep]]) -> tuple[GridMark, ...]:
    return tuple(
        GridMark(step=number, state="failure", words="refused")
        if step.code
        else GridMark(step=number, state="success", words="valid")
        for number, step in steps
        if "changelog validate" in (step.command or "") and "--stage pr" in (step.command or "")
    )


def _find_decisions(steps: Iterable[tuple[int, DemoStep]]) -> tuple[GridMark, ...]:
    return tuple(
        GridMark(step=number, state="success", words="sweep started")
        if step.shown[0].startswith("Sweep:")
        else GridMark(step=number, state="none", words="no sweep")
        for number, step in steps
        if (step.command or "").startswith("infx gate ")
    )


def _find_sweeps(stage: DemoStage, pull: int) -> tuple[GridMark, ...]:
    outcomes = []
    for sweep in stage.sweeps:
        if sweep.pull == pull:
            failed = sum(row.conclusion == "failure" for row in sweep.rows)
            words = (
                f"{failed} of {count(len(sweep.rows), 'row')} failed"
                if failed
                else count(len(sweep.rows), "row")
            )
            state = "failure" if failed else "success"
            outcomes.append(GridMark(step=sweep.step, state=state, words=words, is_shown=True))
    return tuple(outcomes)


def _find_sign_offs(steps: Iterable[tuple[int, DemoStep]]) -> tuple[GridMark, ...]:
    """Return the states of the sign-off status; a state that only repeats is left out."""
    outcomes: list[GridMark] = []
    for number, step in steps:
        for status in step.statuses:
            if status.context == _SIGN_OFF and not (outcomes and outcomes[-1].state == status.state):
                words = _shorten_sign_off(status.words)
                outcomes.append(GridMark(step=number, state=status.state, words=words, is_shown=True))
    return tuple(outcomes)


def _shorten_sign_off(words: str) -> str:
    """Return the start of the status, which names whose sign-off counts."""
    start = words.partition(" at ")[0].partition(". ")[0].partition(":")[0]
    return "not required" if start.startswith("No sign-off is required") else start[:1].lower() + start[1:]


def _find_merges(steps: Iterable[tuple[int, DemoStep]], pull: Pull) -> tuple[GridMark, ...]:
    """Return the answers to requests for the merge, and the merge by a queue."""
    outcomes = []
    for number, step in steps:
        if (step.command or "").startswith("infx merge "):
            state, words = ("pending", "waited for a check") if step.code else ("success", "accepted")
            outcomes.append(GridMark(step=number, state=state, words=words))
        elif step.who == "GitHub" and f"#{pull.number} from the queue" in step.words:
            is_merged = step.words.startswith("merges")
            words = "merged by the queue" if is_merged else "removed from the queue"
            outcomes.append(GridMark(step=number, state="success" if is_merged else "failure", words=words))
    if outcomes and outcomes[-1].words == "accepted" and pull.merged_at:
        outcomes[-1] = GridMark(step=outcomes[-1].step, state="success", words="merged")
    return tuple(outcomes)


def _find_publications(stage: DemoStage, pull: int) -> tuple[GridMark, ...]:
    return tuple(
        GridMark(
            step=merge.step,
            state="success",
            words=f"{count(len(merge.rows), 'result')} published",
            is_shown=True,
        )
        for merge in stage.merges
        if merge.pull == pull
    )


def render_grid(pulls: Sequence[PullOverview]) -> str:
    """Return the grid as a table; narrow windows show a card for each pull request."""
    heads = ("pull request", _WRONG, _FIX, *(name for name, _ in pulls[0].columns), _HOURS) if pulls else ()
    head = "".join(f'<th class="{name.split()[-1]}">{name}</th>' for name in heads)
    rows = "".join(f"<tbody>{_render_pull(overview)}</tbody>" for overview in pulls)
    return f'<table class="grid"><thead><tr>{head}</tr></thead>{rows}</table>'


def _render_pull(overview: PullOverview) -> str:
    """Return a row for each problem; the other cells span all of them."""
    pull, problems = overview.pull, overview.problems
    span = f' rowspan="{len(problems)}"' if len(problems) > 1 else ""
    name = (
        f'<th scope="row"{span}><a href="#pr-{pull.number}">#{pull.number}</a> {escape(pull.title)} '
        f'<span class="about">by {escape(pull.author or "ghost")}</span></th>'
    )
    cells = "".join(
        f'<td{span} data-head="{head}" class="outcomes">{_render_outcomes(outcomes)}</td>'
        for head, outcomes in overview.columns
    )
    hours = (
        f'<td{span} data-head="{_HOURS}" class="hours"><b>{overview.used:.0f}</b> used<br>'
        f'<b class="good">{overview.saved:.0f}</b> saved</td>'
    )
    first, *others = [_render_problem(chapter) for chapter in problems] or [
        f'<td data-head="{_WRONG}">Nothing</td>'
        f'<td class="fix" data-head="{_FIX}">Queued and merged it at the first request</td>'
    ]
    return f"<tr>{name}{first}{cells}{hours}</tr>" + "".join(f"<tr>{problem}</tr>" for problem in others)


def _render_problem(chapter: Chapter) -> str:
    theme = chapter.theme
    link = f'<a href="#chapter-{chapter.step}">{render_words(theme.wrong)}</a>'
    return (
        f'<td class="wrong" data-head="{_WRONG}">{link}</td>'
        f'<td class="fix" data-head="{_FIX}">{render_words(theme.fix)}</td>'
    )


def _render_outcomes(outcomes: Sequence[GridMark]) -> str:
    """Return a mark with a link for each outcome, and the words of the last one."""
    if not outcomes:
        return ""
    marks = "".join(
        f'<a class="mark {outcome.state}" href="#step-{outcome.step}" title="{escape(outcome.words)}" '
        f'aria-label="{escape(outcome.words)}">{_MARKS[outcome.state]}</a>'
        for outcome in outcomes
    )
    last = outcomes[-1]
    words = f' <span class="words">{escape(last.words)}</span>' if last.is_shown else ""
    return f'<span class="marks">{marks}</span>{words}'


def render_totals(stage: DemoStage, pulls: Sequence[PullOverview]) -> str:
    """Return the totals of the demo as a list of numbers."""
    rows = sum(row.conclusion != "cancelled" for sweep in stage.sweeps for row in sweep.rows)
    totals = (
        (count(len(pulls), "pull request"), ""),
        (count(sum(len(overview.problems) for overview in pulls), "problem"), "found and answered"),
        (count(len(stage.sweeps), "sweep"), f"with {count(rows, 'row')}"),
        (count(round(sum(overview.used for overview in pulls)), "GPU-hour"), "used"),
        (count(round(sum(overview.saved for overview in pulls)), "GPU-hour"), "saved"),
        (count(sum(len(merge.rows) for merge in stage.merges), "result"), "published"),
    )
    items = "".join(f"<li>{_render_total(total)} {words}</li>" for total, words in totals)
    return f'<ul class="totals">{items}</ul>'


def _render_total(total: str) -> str:
    number, _, noun = total.partition(" ")
    return f"<b>{number}</b> {noun}"
