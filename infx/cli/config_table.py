"""How `infx config check` shows what it found: a table for people, JSON for programs."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from infx import actions
from infx.cli.report import as_rows, print_json, print_problems, print_text
from infx.errors import Level, Problem, has_errors, sort_problems
from infx.matrix.check import Summary

_COLUMNS = ("configuration", "model", "runner", "framework", "precision", "scenarios", "rows", "problems")
_LEAST_NEEDED = ("precision", "framework", "model", "runner")


def show(
    configs: Sequence[Summary], problems: Sequence[Problem], environ: Mapping[str, str], *, as_json: bool
) -> int:
    """Print the table or JSON on stdout and the problems on stderr; return the exit code."""
    ordered = sort_problems(problems)
    if not as_json:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        text = "\n".join(_render(configs, width))
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


def _render(configs: Sequence[Summary], width: int | None) -> Iterator[str]:
    """Lines of the table; where the terminal is too narrow, the columns that the key repeats go first.

    Plain formatting, because drawing 200 rows with a table library takes longer than checking them.
    """
    cells = [_cells(config) for config in configs]
    columns = list(_COLUMNS)
    widths = {name: max(len(text) for text in (name, *(row[name] for row in cells))) for name in columns}
    for name in _LEAST_NEEDED:
        if width is not None and _total_width(columns, widths) > width:
            columns.remove(name)
    if width is not None and (excess := _total_width(columns, widths) - width) > 0:
        widths["configuration"] = max(20, widths["configuration"] - excess)
    yield click.style(_line({name: name for name in columns}, columns, widths), bold=True)
    path = None
    for config, row in zip(configs, cells, strict=True):
        if config.path != path:
            path = config.path
            yield click.style(_plain(path), dim=True)
        color = "red" if config.errors else "yellow" if config.warnings else None
        yield click.style(_line(row, columns, widths), fg=color)


def _cells(config: Summary) -> dict[str, str]:
    texts = (
        config.key,
        config.model_prefix,
        config.runner,
        config.framework,
        config.precision,
        ", ".join(config.scenarios),
        "?" if config.rows is None else str(config.rows),
        _state(config),
    )
    return {name: _plain(text) for name, text in zip(_COLUMNS, texts, strict=True)}


def _state(config: Summary) -> str:
    counts = ((config.errors, "error"), (config.warnings, "warning"))
    return ", ".join(_count(number, noun) for number, noun in counts if number)


def _total_width(columns: Sequence[str], widths: Mapping[str, int]) -> int:
    return sum(widths[name] for name in columns) + 2 * (len(columns) - 1)


def _line(row: Mapping[str, str], columns: Sequence[str], widths: Mapping[str, int]) -> str:
    parts = []
    for name in columns:
        text, width = row[name], widths[name]
        cut = text if len(text) <= width else text[: width - 1] + "…"
        parts.append(cut.rjust(width) if name == "rows" else cut.ljust(width))
    return "  ".join(parts).rstrip()


def _plain(text: str) -> str:
    """Nothing in a foreign file may move the cursor."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
