"""How problems are shown: lines on stderr, JSON on stdout, annotations and a summary on Actions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import click

from infx import actions
from infx.errors import Level, Problem, has_errors, sort_problems


def print_problems(problems: Sequence[Problem], environ: Mapping[str, str]) -> None:
    """Every problem on stderr, one a line; on Actions also as annotations, the overflow in the summary."""
    for problem in problems:
        mark = "warning: " if problem.level is Level.WARNING else ""
        click.echo(
            actions.neutralise(f"{mark}{problem}") if actions.is_actions(environ) else f"{mark}{problem}",
            err=True,
        )
    if actions.is_actions(environ):
        commands, rest = actions.format_annotations(problems)
        for command in commands:
            click.echo(command)
        if rest:
            lines = "".join(f"- {_code(str(problem))}\n" for problem in rest)
            actions.write_summary(environ, f"### Problems beyond the annotations\n\n{lines}")


def report(problems: Sequence[Problem], environ: Mapping[str, str], *, as_json: bool) -> int:
    """Show what a check found and return its exit code: 1 if there is an error, else 0."""
    ordered = sort_problems(problems)
    print_problems(ordered, environ)
    if as_json:
        click.echo(render_json(ordered))
    return int(has_errors(ordered))


def render_json(problems: Sequence[Problem]) -> str:
    rows = [
        {
            "rule": problem.rule,
            "level": problem.level.value,
            "message": problem.message,
            "path": problem.path,
            "line": problem.line,
            "hint": problem.hint,
        }
        for problem in problems
    ]
    return json.dumps({"ok": not has_errors(problems), "problems": rows}, ensure_ascii=False, indent=2)


def _code(text: str) -> str:
    """Foreign text as Markdown code, whatever backticks it holds."""
    flat = " ".join(text.split())
    fence = "`"
    while fence in flat:
        fence += "`"
    return f"{fence} {flat} {fence}"
