"""Render the steps of a merge for programs and for the summary of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infx.escape import prose
from infx.merge.steps import Done, Enqueue, MergePull, PublishStatuses, Refuse, Step, UpdateBranch, Wait

_NAMES: dict[type, str] = {
    Done: "done",
    Refuse: "refuse",
    Wait: "wait",
    UpdateBranch: "update-branch",
    PublishStatuses: "publish-statuses",
    MergePull: "merge",
    Enqueue: "enqueue",
}


def render_report(number: int, head: str, steps: Sequence[Step], *, is_dry: bool) -> dict[str, Any]:
    """Return the report for `--format json`."""
    end = steps[-1]
    outcome = (
        end.outcome.value if isinstance(end, Done) else "refused" if isinstance(end, Refuse) else "planned"
    )
    return {
        "pull": number,
        "head": head,
        "dry-run": is_dry,
        "outcome": outcome,
        "reason": end.reason.value if isinstance(end, Refuse) else None,
        "fix": end.advice if isinstance(end, Refuse) else None,
        "steps": [{"step": _NAMES[type(step)], "words": str(step)} for step in steps],
    }


def render_summary(number: int, head: str, steps: Sequence[Step], *, is_dry: bool) -> str:
    """Return the summary of a run, with the text of the pull request made harmless."""
    title = f"### Merge of pull request {number}{' (dry run)' if is_dry else ''}"
    lines = [f"{at}. {prose(str(step))}" for at, step in enumerate(steps, 1)]
    end = steps[-1]
    if isinstance(end, Refuse) and end.command:
        lines += ["", "```bash", end.command, "```"]
    return "\n".join([title, "", f"Head: {head}", "", *lines]) + "\n"
