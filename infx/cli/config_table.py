"""How `infx config check` shows what it found: a table for people, JSON for programs."""

from __future__ import annotations

import dataclasses
import io
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from infx import actions
from infx.cli.report import as_rows, print_json, print_problems, print_text
from infx.errors import Level, Problem, has_errors, sort_problems
from infx.matrix.check import Summary

if TYPE_CHECKING:
    from rich.table import Table

# Columns beyond a terminal's edge help nobody; a file or a log has no edge.
_LOG_WIDTH = 200


def show(
    configs: Sequence[Summary], problems: Sequence[Problem], environ: Mapping[str, str], *, as_json: bool
) -> int:
    """Print the table or JSON on stdout and the problems on stderr; return the exit code."""
    ordered = sort_problems(problems)
    if not as_json:
        text = _render(configs)
        click.echo(actions.neutralise(text) if actions.is_actions(environ) else text)
    print_problems(ordered, environ)
    if as_json:
        print_json({**as_rows(ordered), "configs": [_as_row(config) for config in configs]})
    else:
        print_text(_total(configs, ordered), environ)
    return int(has_errors(ordered))


def _as_row(config: Summary) -> dict[str, Any]:
    return {name.replace("_", "-"): value for name, value in dataclasses.asdict(config).items()}


def _total(configs: Sequence[Summary], problems: Sequence[Problem]) -> str:
    errors = sum(problem.level is Level.ERROR for problem in problems)
    files = len({config.path for config in configs})
    rows = sum(config.rows or 0 for config in configs)
    return (
        f"{_count(len(configs), 'configuration')} in {_count(files, 'file')}, {_count(rows, 'row')}: "
        f"{_count(errors, 'error')}, {_count(len(problems) - errors, 'warning')}."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _render(configs: Sequence[Summary]) -> str:
    from rich.console import Console

    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else _LOG_WIDTH
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=is_terminal, highlight=False)
    console.print(_build_table(configs))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _build_table(configs: Sequence[Summary]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("configuration", no_wrap=True, ratio=None, min_width=30)
    for name in ("model", "runner", "framework", "precision", "scenarios"):
        table.add_column(name, no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("problems", no_wrap=True)
    path = None
    for config in configs:
        if config.path != path:
            table.add_section()
            path = config.path
        cells = (
            config.key,
            config.model_prefix,
            config.runner,
            config.framework,
            config.precision,
            ", ".join(config.scenarios),
            "?" if config.rows is None else str(config.rows),
        )
        # Text, not strings: nothing in a foreign file may act as markup or move the cursor.
        table.add_row(*(Text(_plain(cell)) for cell in cells), _state(config))
    return table


def _state(config: Summary) -> Any:
    from rich.text import Text

    if config.errors:
        return Text(_count(config.errors, "error"), style="bold red")
    return Text(_count(config.warnings, "warning"), style="yellow") if config.warnings else Text("")


def _plain(text: str) -> str:
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
