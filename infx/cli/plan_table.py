"""A plan as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from infx.cli.tables import Column, Section, print_table

if TYPE_CHECKING:
    from infx.matrix.summary import PlanSummary

_NUMBERS = {"rows", "accuracy", "GPUs", "nodes", "GPU-hours", "runners", "hours until done"}
_WRAPPING = {"why", "concurrency", "evaluated"}


def print_summary(summary: PlanSummary) -> None:
    from infx.matrix.summary import CONFIG_COLUMNS, LABEL_COLUMNS, config_cells, describe_total, label_cells

    if summary.lines:
        print_table(
            _make_columns(CONFIG_COLUMNS), [Section(rows=[config_cells(line) for line in summary.lines])]
        )
        click.echo()
        print_table(
            _make_columns(LABEL_COLUMNS), [Section(rows=[label_cells(load) for load in summary.loads])]
        )
        click.echo()
    click.echo(describe_total(summary))


def _make_columns(names: tuple[str, ...]) -> list[Column]:
    return [Column(name=name, number=name in _NUMBERS, wraps=name in _WRAPPING) for name in names]
