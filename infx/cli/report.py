"""How problems are shown: lines on stderr, JSON on stdout, annotations and a summary on Actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from infx import actions, escape
from infx.errors import Level, Problem, has_errors, sort_problems


def print_problems(problems: Sequence[Problem], environ: Mapping[str, str]) -> None:
    """Every problem on stderr, one a line; on Actions also as annotations, the overflow in the summary.

    Annotations go to stderr too, where the runner reads them as well: stdout belongs to JSON.
    """
    for problem in problems:
        mark = "warning: " if problem.level is Level.WARNING else ""
        print_text(f"{mark}{problem}", environ)
    if actions.is_actions(environ):
        commands, rest = actions.format_annotations(problems)
        for command in commands:
            click.echo(command, err=True)
        if rest:
            lines = "".join(f"- {escape.code(str(problem))}\n" for problem in rest)
            actions.write_summary(environ, f"### Problems beyond the annotations\n\n{lines}")


def print_text(text: str, environ: Mapping[str, str], *, err: bool = True, nl: bool = True) -> None:
    """Words for people; on Actions no line of them can start a workflow command. err: not on stdout."""
    click.echo(actions.neutralize(text) if actions.is_actions(environ) else text, err=err, nl=nl)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """A result on stdout, safe to print on Actions whatever its texts hold."""
    import json

    click.echo(actions.neutralize_json(json.dumps(value, ensure_ascii=False, indent=indent)))


def report(problems: Sequence[Problem], environ: Mapping[str, str], *, as_json: bool) -> int:
    """Show what a check found and return its exit code: 1 if there is an error, else 0."""
    ordered = sort_problems(problems)
    print_problems(ordered, environ)
    if as_json:
        print_json(as_rows(ordered))
    return int(has_errors(ordered))


def as_rows(problems: Sequence[Problem]) -> dict[str, Any]:
    """Problems in the form of `--format json`."""
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
