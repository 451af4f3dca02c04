"""Tables on a terminal, in a file or in a log: the one way in which infx draws them."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click

from infx import actions

# Columns beyond a terminal's edge help nobody; a file or a log has no edge.
_LOG_WIDTH = 200


@dataclass(frozen=True, kw_only=True)
class Column:
    """number: right-aligned. wraps: may be broken into lines where the terminal is narrow."""

    name: str
    number: bool = False
    wraps: bool = False


@dataclass(frozen=True, kw_only=True)
class Cell:
    """style: a style of rich, such as `bold red`; only seen on a terminal."""

    text: str
    style: str = ""


def print_table(columns: Sequence[Column], sections: Sequence[Sequence[Sequence[str | Cell]]]) -> None:
    """On stdout. sections: groups of rows, with a line between them."""
    text = render_table(columns, sections)
    click.echo(actions.neutralise(text) if actions.is_actions(os.environ) else text)


def render_table(columns: Sequence[Column], sections: Sequence[Sequence[Sequence[str | Cell]]]) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        justify = "right" if column.number else "left"
        table.add_column(column.name, justify=justify, no_wrap=not column.wraps, overflow="fold")  # type: ignore[arg-type] # two of its literals
    for rows in sections:
        for row in rows:
            cells = [cell if isinstance(cell, Cell) else Cell(text=cell) for cell in row]
            # Text, not strings: nothing in a foreign file may act as markup or move the cursor.
            table.add_row(*(Text(_plain(cell.text), style=cell.style) for cell in cells))
        table.add_section()
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else _LOG_WIDTH
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=is_terminal, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())


def _plain(text: str) -> str:
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
