"""One comment that follows the newest sweep of a pull request and remembers the earlier ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from infx.comments.languages import join_inline, words
from infx.comments.progress import SweepProgress, SweepState
from infx.comments.sticky import Sticky
from infx.escape import table
from infx.phrases import count
from infx.policy.model import Language, Policy

MAX_EARLIER = 20

_WORDS = {
    SweepState.RUNNING: words("Running", "运行中"),
    SweepState.DONE: words("Finished", "已完成"),
    SweepState.FAILED: words("Failed", "失败"),
    SweepState.CANCELLED: words("Cancelled", "已取消"),
}
_COLUMNS = {
    "done": words("done", "完成"),
    "failed": words("failed", "失败"),
    "stopped": words("stopped", "已停止"),
    "running": words("running", "运行中"),
    "waiting": words("waiting", "等待中"),
}
_ROWS, _EVALS = words("rows", "性能"), words("evals", "精度")
_MARKS = {
    SweepState.RUNNING: "🟡",
    SweepState.DONE: "✅",
    SweepState.FAILED: "❌",
    SweepState.CANCELLED: "⚪",
}


def make_visualizer(policy: Policy, sweeps: Sequence[SweepProgress]) -> Sticky | None:
    """sweeps: of one pull request, in any order; those without results are passed over.

    None if none has results: there is nothing to say, and a comment that is there already stays, because what it
    links does not become wrong when the artifacts expire.
    """
    visualizer = policy.comments.visualizer
    shown = sorted((s for s in sweeps if s.has_results), key=lambda sweep: sweep.order, reverse=True)
    if not shown:
        return None
    return Sticky(
        key="visualizer",
        marker=visualizer.marker,
        text=render(policy, shown),
        order=shown[0].order,
        adopt=visualizer.adopt,
        adopt_order=_run_pattern(policy),
        languages=policy.comments.languages,
    )


def render(policy: Policy, sweeps: Sequence[SweepProgress]) -> str:
    """sweeps: those with results, newest first, at least one."""
    newest, *earlier = sweeps
    languages = policy.comments.languages
    run = newest.run
    links = [f"{link.text}: {link.url.format(run=run.id)}" for link in policy.comments.visualizer.links]
    said = join_inline(_WORDS[newest.state], languages)
    state = f"{_MARKS[newest.state]} **{said}** — {_where(newest, languages)}"
    parts = ["\n".join(links), state, _table(newest, languages), _earlier(policy, earlier)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(sweep: SweepProgress, languages: Sequence[Language]) -> str:
    """With a column of stopped rows only where there are any."""
    if not sweep.rows.total + sweep.evals.total:
        return ""  # nobody looked at its jobs: zeros would be wrong
    kinds = {join_inline(_ROWS, languages, " "): sweep.rows, join_inline(_EVALS, languages, " "): sweep.evals}
    hidden = {"stopped"} - {"stopped" for counts in kinds.values() if counts.stopped}
    columns = {
        name: join_inline(head, languages, " ") for name, head in _COLUMNS.items() if name not in hidden
    }
    rows = [[name, *(str(getattr(counts, column)) for column in columns)] for name, counts in kinds.items()]
    text = table(["", *columns.values()], rows, [":--", *["--:"] * len(columns)])
    return text.replace("|  |", "| |", 1)  # comments that are there are not edited for a blank


def _earlier(policy: Policy, sweeps: Sequence[SweepProgress]) -> str:
    if not sweeps:
        return ""
    languages = policy.comments.languages
    lines = [_line(policy, sweep) for sweep in sweeps[:MAX_EARLIER]]
    if rest := len(sweeps) - len(lines):
        lines.append(f"- {join_inline(words(f'and {rest} more', f'另有 {rest} 次'), languages)}")
    said = words(count(len(sweeps), "earlier run"), f"之前的 {len(sweeps)} 次运行")
    summary = f"<summary>{join_inline(said, languages)}</summary>"
    return "\n".join(["<details>", summary, "", *lines, "", "</details>"])


def _line(policy: Policy, sweep: SweepProgress) -> str:
    run = sweep.run
    links = " · ".join(
        f"[{link.short}]({link.url.format(run=run.id)})" for link in policy.comments.visualizer.links
    )
    where = _where(sweep, policy.comments.languages)
    return f"- {_MARKS[sweep.state]} {where}" + (f" · {links}" if links else "")


def _where(sweep: SweepProgress, languages: Sequence[Language]) -> str:
    """The run of a sweep, in the first language: numbers need no second one."""
    run = sweep.run
    said = words(
        f"[run {run.id}]({run.url}), attempt {run.attempt}, commit {run.commit}",
        f"[运行 {run.id}]({run.url})，第 {run.attempt} 次尝试，提交 {run.commit}",
    )
    return said[languages[0]]


def _run_pattern(policy: Policy) -> str:
    """Where an older system's comment names its run: in the same links."""
    links = policy.comments.visualizer.links
    return "|".join(re.escape(link.url).replace(r"\{run\}", "([0-9]+)") for link in links[:1])
