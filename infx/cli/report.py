"""Output of problems, text and JSON: stderr, stdout, and annotations and summaries on Actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from infx import actions, escape
from infx.errors import Level, Problem, has_errors, sort_problems


def print_problems(problems: Sequence[Problem], environ: Mapping[str, str]) -> None:
    """Print every problem on a line of stderr; on Actions also as annotations, the overflow in the summary."""
    # Annotations go to stderr, which the runner reads too: stdout is for JSON only.
    for problem in problems:
        mark = "warning: " if problem.level is Level.WARNING else ""
        print_text(f"{mark}{problem}", environ)
    if actions.is_actions(environ):
        commands, overflow = actions.format_annotations(problems)
        for command in commands:
            click.echo(command, err=True)
        if overflow:
            lines = "".join(f"- {escape.code(str(problem))}\n" for problem in overflow)
            actions.write_summary(environ, f"### Problems beyond the annotations\n\n{lines}")


def print_text(text: str, environ: Mapping[str, str], *, err: bool = True, nl: bool = True) -> None:
    """Print words for people; on Actions no line can start a workflow command. err: to stderr."""
    click.echo(actions.neutralize(text) if actions.is_actions(environ) else text, err=err, nl=nl)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a value as JSON on stdout; on Actions no text in it can start a workflow command."""
    import json

    click.echo(actions.neutralize_json(json.dumps(value, ensure_ascii=False, indent=indent)))


def report(problems: Sequence[Problem], environ: Mapping[str, str], *, as_json: bool) -> int:
    """Print the problems of a check and return the exit code: 1 if there is an error, else 0."""
    ordered = sort_problems(problems)
    print_problems(ordered, environ)
    if as_json:
        print_json(render_problems(ordered))
    return int(has_errors(ordered))


def render_problems(problems: Sequence[Problem]) -> dict[str, Any]:
    """Return problems in the form of `--format json`."""
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
    return {"ok": not has_errors(problems), "problems": rows}
