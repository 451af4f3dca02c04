"""What the run's summary says about a changelog: the problems, the lines as they should be, the command."""

from __future__ import annotations

from collections.abc import Sequence

from infx.changelog.fix import Repair
from infx.changelog.subject import Context
from infx.changelog.validate import ChangelogVerdict
from infx.errors import Level, Problem
from infx.phrases import count
from infx.policy.stage import Stage

_MOST_LINES = 200  # of a repair; the file itself is in the repository


def render_summary(verdict: ChangelogVerdict, repair: Repair | None, head: bytes, context: Context) -> str:
    """Markdown. Texts of the file stand in code fences, where nothing of them is markup.

    repair: what `--fix` would do, or None if there is nothing to repair.
    """
    errors = [problem for problem in verdict.problems if problem.level is Level.ERROR]
    if not errors:
        entries = count(len(verdict.blocks), "new entry", "new entries") if verdict.blocks else "no new entry"
        corrected = f", {count(verdict.corrected, 'corrected link')}" if verdict.corrected else ""
        return f"### Changelog: {entries}{corrected}, nothing to repair\n" + _list(verdict.problems)
    parts = [f"### Changelog: {len(errors)} to repair\n", _list(verdict.problems)]
    if context.stage is Stage.MAIN:
        parts = [f"### Changelog: {count(len(errors), 'problem')} merged\n", _list(verdict.problems)]
        parts.append("Past entries stay as they are now, but for links that are not canonical.\n")
    elif repair and repair.head is not None:
        parts.append(
            f"Every repair is certain. This command makes them:\n\n{_fence(context.fix_command, 'sh')}"
        )
        parts.append(f"The lines as they should be:\n\n{_fence(_difference(head, repair.head), 'diff')}")
    elif repair:
        parts.append("Not every repair is certain, so `--fix` makes none; a person must decide.\n")
    return "\n".join(parts)


def _list(problems: Sequence[Problem]) -> str:
    if not problems:
        return ""
    return _fence("\n".join(" ".join(str(problem).split()) for problem in problems), "text")


def _difference(before: bytes, after: bytes) -> str:
    import difflib

    old, new = (data.decode(errors="replace").split("\n") for data in (before, after))
    lines = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    more = [f"… {count(len(lines) - _MOST_LINES, 'more line')}"] if len(lines) > _MOST_LINES else []
    return "\n".join(lines[:_MOST_LINES] + more)


def _fence(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}\n"
