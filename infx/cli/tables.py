"""Tables on a terminal, in a file or in a log.

infx draws them itself, because a library needs more time to lay out 200 rows than infx needs to check them.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import click

from infx.cli.report import print_text
from infx.errors import visible
from infx.records import record

_GAP = "  "
_NARROWEST = 12  # characters that a column keeps when the terminal is too narrow for all


@record
class Column:
    """A column of a table."""

    name: str
    number: bool = False  # right-aligned
    wraps: bool = False  # cells may be broken into lines on a narrow terminal
    spare: int = 0  # may be left out on a narrow terminal, the lowest number first; 0: never


@record
class Cell:
    """A cell of a table."""

    text: str
    color: str | None = None  # a name that click knows; visible on a terminal only


@record
class Section:
    """A group of rows, under a title if it has one."""

    rows: Sequence[Sequence[str | Cell]]
    title: str = ""


@dataclass(kw_only=True)
class _Layout:
    """The columns that are shown, and their widths."""

    shown: list[int] = field(default_factory=list)  # indexes of columns
    widths: dict[int, int] = field(default_factory=dict)  # index of a column → characters

    def excess(self, width: int | None) -> int:
        total = sum(self.widths[index] for index in self.shown) + len(_GAP) * (len(self.shown) - 1)
        return 0 if width is None else max(0, total - width)


def print_table(columns: Sequence[Column], sections: Sequence[Section]) -> None:
    """Print a table on stdout, at most as wide as the terminal; in a file or a log it may have any width."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    text = render_table(columns, sections, width=width)
    print_text(text, os.environ, err=False)


def render_table(columns: Sequence[Column], sections: Sequence[Section], *, width: int | None) -> str:
    """Return a table as text. width: the most characters of a line, or None for no limit."""
    rows = [[_make_cell(cell) for cell in row] for section in sections for row in section.rows]
    layout = _lay_out(columns, rows, width)
    header = [Cell(text=column.name) for column in columns]
    lines = [click.style(line, bold=True) for line in _draw(header, columns, layout)]
    drawn = iter(rows)
    for number, section in enumerate(sections):
        if section.title:
            lines.append(click.style(visible(section.title), dim=True))
        elif number:
            lines.append("")
        for _ in section.rows:
            lines += _draw(next(drawn), columns, layout)
    return "\n".join(lines)


def _make_cell(cell: str | Cell) -> Cell:
    if isinstance(cell, Cell):
        return Cell(text=visible(cell.text), color=cell.color)
    return Cell(text=visible(cell))


def _lay_out(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int | None) -> _Layout:
    """Make columns as wide as their longest cells; to fit the width, wrap first, then leave out, then cut."""
    layout = _Layout(shown=list(range(len(columns))))
    layout.widths = {
        index: max([len(column.name), *(len(row[index].text) for row in rows)])
        for index, column in enumerate(columns)
    }
    wrapping = [index for index, column in enumerate(columns) if column.wraps]
    _narrow(layout, wrapping, width)
    for index in sorted(layout.shown, key=lambda index: columns[index].spare):
        if columns[index].spare and layout.excess(width):
            layout.shown.remove(index)
    _narrow(layout, list(layout.shown), width)
    return layout


def _narrow(layout: _Layout, indexes: Sequence[int], width: int | None) -> None:
    """Reduce the widths of columns until the table fits: the widest columns get the same width."""
    while excess := layout.excess(width):
        widest = max((layout.widths[index] for index in indexes), default=0)
        if widest <= _NARROWEST:
            return
        level = [index for index in indexes if layout.widths[index] == widest]
        second = max((layout.widths[index] for index in indexes if layout.widths[index] < widest), default=0)
        lower = max(_NARROWEST, second, widest - -(-excess // len(level)))
        for index in level:
            layout.widths[index] = lower


def _draw(row: Sequence[Cell], columns: Sequence[Column], layout: _Layout) -> Iterator[str]:
    """Yield the lines of one row."""
    parts = [_break(row[index].text, layout.widths[index], columns[index]) for index in layout.shown]
    for texts in zip_longest(*parts, fillvalue=""):
        line = ""
        for index, text in zip(layout.shown, texts, strict=True):
            padding = " " * (layout.widths[index] - len(text))
            color = row[index].color
            shown = click.style(text, fg=color) if text and color else text
            line += padding + shown + _GAP if columns[index].number else shown + padding + _GAP
        yield line.rstrip()


def _break(text: str, width: int, column: Column) -> list[str]:
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width) if column.wraps else [f"{text[: width - 1]}…"]
