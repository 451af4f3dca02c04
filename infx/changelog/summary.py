"""Render a changelog's part of the run summary: the problems, the repaired lines and the command."""

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
    """Render the summary as Markdown. repair: the result of `--fix`, or None if there is nothing to repair."""
    # Texts of the file go into code fences, where they are not read as markup.
    errors = [problem for problem in verdict.problems if problem.level is Level.ERROR]
    if not errors:
        entries = count(len(verdict.blocks), "new entry", "new entries") if verdict.blocks else "no new entry"
        corrected = f", {count(verdict.corrected, 'corrected link')}" if verdict.corrected else ""
        return f"### Changelog: {entries}{corrected}, nothing to repair\n" + _list(verdict.problems)
    parts = [f"### Changelog: {len(errors)} to repair\n", _list(verdict.problems)]
    if context.stage is Stage.MAIN:
        parts = [f"### Changelog: {count(len(errors), 'problem')} merged\n", _list(verdict.problems)]
        parts.append("Do not change merged entries; only links that are not canonical may be corrected.\n")
    elif repair and repair.head is not None:
        parts.append(
            f"Every repair is certain. Make them with this command:\n\n{_fence(context.fix_command, 'sh')}"
        )
        parts.append(f"The repaired lines:\n\n{_fence(_difference(head, repair.head), 'diff')}")
    elif repair:
        parts.append("Not every repair is certain, so `--fix` changes nothing. Fix the problems by hand.\n")
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
