"""One comment that follows the newest sweep of a pull request and remembers the earlier ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from infx.comments.progress import State, Sweep
from infx.comments.sticky import Sticky
from infx.phrases import count
from infx.policy.model import Policy

MAX_EARLIER = 20

_WORDS = {
    State.RUNNING: "Running · 运行中",
    State.DONE: "Finished · 已完成",
    State.FAILED: "Failed · 失败",
    State.CANCELLED: "Cancelled · 已取消",
}
_COLUMNS = {
    "done": "done 完成",
    "failed": "failed 失败",
    "stopped": "stopped 已停止",
    "running": "running 运行中",
    "waiting": "waiting 等待中",
}
_MARKS = {State.RUNNING: "🟡", State.DONE: "✅", State.FAILED: "❌", State.CANCELLED: "⚪"}


def make_visualizer(policy: Policy, sweeps: Sequence[Sweep]) -> Sticky | None:
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
    )


def render(policy: Policy, sweeps: Sequence[Sweep]) -> str:
    """sweeps: those with results, newest first, at least one."""
    newest, *earlier = sweeps
    run = newest.run
    links = [f"{link.text}: {link.url.format(run=run.id)}" for link in policy.comments.visualizer.links]
    state = (
        f"{_MARKS[newest.state]} **{_WORDS[newest.state]}** — [run {run.id}]({run.url}), "
        f"attempt {run.attempt}, commit {newest.run.commit}"
    )
    parts = ["\n".join(links), state, _table(newest), _earlier(policy, earlier)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(sweep: Sweep) -> str:
    """With a column of stopped rows only where there are any."""
    if not sweep.rows.total + sweep.evals.total:
        return ""  # nobody looked at its jobs: zeros would be wrong
    kinds = {"rows 性能": sweep.rows, "evals 精度": sweep.evals}
    hidden = {"stopped"} - {"stopped" for counts in kinds.values() if counts.stopped}
    columns = {name: head for name, head in _COLUMNS.items() if name not in hidden}
    lines = [
        f"| | {' | '.join(columns.values())} |",
        f"| :-- |{' --: |' * len(columns)}",
        *(
            _table_line(name, [getattr(counts, column) for column in columns])
            for name, counts in kinds.items()
        ),
    ]
    return "\n".join(lines)


def _table_line(name: str, numbers: Sequence[int]) -> str:
    return f"| {name} | {' | '.join(map(str, numbers))} |"


def _earlier(policy: Policy, sweeps: Sequence[Sweep]) -> str:
    if not sweeps:
        return ""
    lines = [_line(policy, sweep) for sweep in sweeps[:MAX_EARLIER]]
    if rest := len(sweeps) - len(lines):
        lines.append(f"- and {rest} more · 另有 {rest} 次")
    summary = f"<summary>{count(len(sweeps), 'earlier run')} · 之前的运行</summary>"
    return "\n".join(["<details>", summary, "", *lines, "", "</details>"])


def _line(policy: Policy, sweep: Sweep) -> str:
    run = sweep.run
    links = " · ".join(
        f"[{link.short}]({link.url.format(run=run.id)})" for link in policy.comments.visualizer.links
    )
    where = f"[run {run.id}]({run.url}), attempt {run.attempt}, commit {run.commit}"
    return f"- {_MARKS[sweep.state]} {where}" + (f" · {links}" if links else "")


def _run_pattern(policy: Policy) -> str:
    """Where an older system's comment names its run: in the same links."""
    links = policy.comments.visualizer.links
    return "|".join(re.escape(link.url).replace(r"\{run\}", "([0-9]+)") for link in links[:1])
