"""The output of `infx config check`: a table for people, JSON for programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from infx.cli.report import print_json, print_problems, print_text, render_problems
from infx.cli.tables import Cell, Column, Section, print_table
from infx.errors import Level, Problem, has_errors, sort_problems
from infx.matrix.check import ConfigSummary
from infx.phrases import count

# A narrow terminal may drop the columns with `spare`, because a configuration's key usually repeats their values.
_COLUMNS = (
    Column(name="configuration"),
    Column(name="model", spare=3),
    Column(name="runner", spare=4),
    Column(name="framework", spare=2),
    Column(name="precision", spare=1),
    Column(name="scenarios"),
    Column(name="rows", number=True),
    Column(name="problems"),
)


def show(
    configs: Sequence[ConfigSummary],
    problems: Sequence[Problem],
    environ: Mapping[str, str],
    *,
    as_json: bool,
) -> int:
    """Print the table or JSON on stdout and the problems on stderr; return the exit code."""
    ordered = sort_problems(problems)
    if not as_json:
        print_table(
            _COLUMNS,
            [
                Section(title=path, rows=[_make_cells(config) for config in configs_of_file])
                for path, configs_of_file in groupby(configs, key=lambda config: config.path)
            ],
        )
    print_problems(ordered, environ)
    if as_json:
        print_json({**render_problems(ordered), "configs": [_render_row(config) for config in configs]})
    else:
        print_text(_describe_total(configs, ordered), environ)
    return int(has_errors(ordered))


def _render_row(config: ConfigSummary) -> dict[str, Any]:
    return {name.replace("_", "-"): value for name, value in dataclasses.asdict(config).items()}


def _describe_total(configs: Sequence[ConfigSummary], problems: Sequence[Problem]) -> str:
    errors = sum(problem.level is Level.ERROR for problem in problems)
    files = len({config.path for config in configs})
    rows = sum(config.rows or 0 for config in configs)
    return (
        f"{count(len(configs), 'configuration')} in {count(files, 'file')}, {count(rows, 'row')}: "
        f"{count(errors, 'error')}, {count(len(problems) - errors, 'warning')}."
    )


def _make_cells(config: ConfigSummary) -> list[str | Cell]:
    return [
        config.key,
        config.model_prefix,
        config.runner,
        config.framework,
        config.precision,
        ", ".join(config.scenarios),
        "?" if config.rows is None else str(config.rows),
        _describe_state(config),
    ]


def _describe_state(config: ConfigSummary) -> Cell:
    counts = ((config.errors, "error"), (config.warnings, "warning"))
    text = ", ".join(count(number, noun) for number, noun in counts if number)
    return Cell(text=text, color="red" if config.errors else "yellow")
