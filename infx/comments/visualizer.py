"""Render the comment that shows the newest sweep of a pull request and lists the earlier ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from infx.comments.comparison import render_comparison
from infx.comments.languages import join_inline, words
from infx.comments.progress import SweepProgress, SweepState
from infx.comments.sticky import Sticky
from infx.escape import table
from infx.gate.facts import Reuse
from infx.phrases import count
from infx.policy.model import Language, Policy
from infx.results.compare_digest import ComparisonDigest

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
_PAGE = words("View results page", "查看结果页面")
_ROWS, _EVALS = words("rows", "性能"), words("evals", "精度")
_REUSED = words("Reused for the merge", "合并时复用")
_INCOMPLETE = words("Reused for the merge, incomplete", "合并时复用，结果不完整")
_MARKS = {
    SweepState.RUNNING: "🟡",
    SweepState.DONE: "✅",
    SweepState.FAILED: "❌",
    SweepState.CANCELLED: "⚪",
}


def make_visualizer(
    policy: Policy,
    sweeps: Sequence[SweepProgress],
    reuse: Reuse | None = None,
    comparison: ComparisonDigest | None = None,
    page: int | None = None,
) -> Sticky | None:
    """Return the kept comment about the sweeps of one pull request that have results; None if there are none.

    An existing comment stays when the artifacts expire, because its links do not become wrong.

    Args:
        reuse: the decision about reuse, which is shown if a run is reused.
        comparison: of the newest sweep that has results.
        page: the artifact with the page of its results.
    """
    visualizer = policy.comments.visualizer
    shown = list_shown(sweeps)
    if not shown:
        return None
    return Sticky(
        key="visualizer",
        marker=visualizer.marker,
        text=render(policy, shown, reuse, comparison, page),
        order=shown[0].order,
        adopt=visualizer.adopt,
        adopt_order=_run_pattern(policy),
        languages=policy.comments.languages,
    )


def list_shown(sweeps: Iterable[SweepProgress]) -> list[SweepProgress]:
    """Return the sweeps that have results, newest first."""
    return sorted(
        (sweep for sweep in sweeps if sweep.has_results), key=lambda sweep: sweep.order, reverse=True
    )


def render(
    policy: Policy,
    sweeps: Sequence[SweepProgress],
    reuse: Reuse | None = None,
    comparison: ComparisonDigest | None = None,
    page: int | None = None,
) -> str:
    """Render the comment. sweeps: at least one, with results, newest first."""
    newest, *earlier = sweeps
    languages = policy.comments.languages
    run = newest.run
    links = [f"{link.text}: {link.url.format(run=run.id)}" for link in policy.comments.visualizer.links]
    if page is not None:
        links.append(f"{join_inline(_PAGE, languages)}: {run.url}/artifacts/{page}")
    words_of_state = join_inline(_WORDS[newest.state], languages)
    state = f"{_MARKS[newest.state]} **{words_of_state}** — {_render_run(newest, languages)}"
    parts = [
        "\n".join(links),
        state,
        _render_table(newest, languages),
        render_comparison(comparison, languages),
        _render_reuse(reuse, languages) if reuse is not None and reuse.is_accepted else "",
        _render_earlier(policy, earlier),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def find_page(body: str, run_url: str) -> int | None:
    """Return the artifact with the page that the body of a comment links; None if it links none."""
    titles = "|".join(map(re.escape, _PAGE.values()))
    link = re.search(rf"(?m)^[^\n]*(?:{titles}): {re.escape(run_url)}/artifacts/([0-9]{{1,19}})\r?$", body)
    return int(link[1]) if link else None


def _render_table(sweep: SweepProgress, languages: Sequence[Language]) -> str:
    """Render the numbers of rows. The column of stopped rows is there only if a row was stopped."""
    if not sweep.rows.total + sweep.evals.total:
        return ""  # the jobs were not read, so zeros would be wrong
    kinds = {join_inline(_ROWS, languages, " "): sweep.rows, join_inline(_EVALS, languages, " "): sweep.evals}
    hidden = {"stopped"} - {"stopped" for counts in kinds.values() if counts.stopped}
    columns = {
        name: join_inline(head, languages, " ") for name, head in _COLUMNS.items() if name not in hidden
    }
    rows = [[name, *(str(getattr(counts, column)) for column in columns)] for name, counts in kinds.items()]
    text = table(["", *columns.values()], rows, [":--", *["--:"] * len(columns)])
    return text.replace("|  |", "| |", 1)  # keeps existing comments equal


def _render_reuse(reuse: Reuse, languages: Sequence[Language]) -> str:
    """Render which run is reused and how complete it is; counts of rows are only in the first language."""
    mark, title = ("⚠️", _INCOMPLETE) if reuse.is_incomplete else ("♻️", _REUSED)
    run = words(
        f"[run {reuse.run_id}]({reuse.url}), attempt {reuse.attempt}, commit {reuse.head_sha}",
        f"[运行 {reuse.run_id}]({reuse.url})，第 {reuse.attempt} 次尝试，提交 {reuse.head_sha}",
    )
    extent = f": {reuse.extent}" if reuse.extent else ""
    return f"{mark} **{join_inline(title, languages)}** — {run[languages[0]]}{extent}"


def _render_earlier(policy: Policy, sweeps: Sequence[SweepProgress]) -> str:
    if not sweeps:
        return ""
    languages = policy.comments.languages
    lines = [_render_line(policy, sweep) for sweep in sweeps[:MAX_EARLIER]]
    if rest := len(sweeps) - len(lines):
        lines.append(f"- {join_inline(words(f'and {rest} more', f'另有 {rest} 次'), languages)}")
    title = words(count(len(sweeps), "earlier run"), f"之前的 {len(sweeps)} 次运行")
    summary = f"<summary>{join_inline(title, languages)}</summary>"
    return "\n".join(["<details>", summary, "", *lines, "", "</details>"])


def _render_line(policy: Policy, sweep: SweepProgress) -> str:
    run = sweep.run
    links = " · ".join(
        f"[{link.short}]({link.url.format(run=run.id)})" for link in policy.comments.visualizer.links
    )
    run_text = _render_run(sweep, policy.comments.languages)
    return f"- {_MARKS[sweep.state]} {run_text}" + (f" · {links}" if links else "")


def _render_run(sweep: SweepProgress, languages: Sequence[Language]) -> str:
    """Render the run of a sweep, only in the first language because it is mostly numbers."""
    run = sweep.run
    text = words(
        f"[run {run.id}]({run.url}), attempt {run.attempt}, commit {run.commit}",
        f"[运行 {run.id}]({run.url})，第 {run.attempt} 次尝试，提交 {run.commit}",
    )
    return text[languages[0]]


def _run_pattern(policy: Policy) -> str:
    """Return the pattern that finds the run's number in a comment of an older system, which has the same links."""
    links = policy.comments.visualizer.links
    return "|".join(re.escape(link.url).replace(r"\{run\}", "([0-9]+)") for link in links[:1])
