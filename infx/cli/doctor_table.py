"""The output of `infx doctor`: a table for people, JSON for programs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from infx.cli.report import print_json, print_text
from infx.cli.tables import Cell, Column, Section, print_table
from infx.doctor.lines import Health, Part, ReportLine, describe_permissions, is_healthy
from infx.phrases import count, join_words

_COLUMNS = (
    Column(name="state"),
    Column(name="what", wraps=True),
    Column(name="why it matters", wraps=True),
    Column(name="what fixes it", wraps=True),
)
_COLORS = {Health.MISSING: "red", Health.WRONG: "red", Health.UNKNOWN: "yellow"}  # others: green
_TITLES = {Part.CHECKOUT: "in this checkout", Part.GITHUB: "on GitHub"}


def show(lines: Sequence[ReportLine], *, as_json: bool) -> int:
    """Print the lines on stdout and a summary on stderr; return the exit code: 0 only if every line is ok or advice."""
    if as_json:
        print_json(render_lines(lines))
    else:
        sections = [
            Section(title=title, rows=[_make_cells(line) for line in lines if line.rule.part is part])
            for part, title in _TITLES.items()
            if any(line.rule.part is part for line in lines)
        ]
        print_table(_COLUMNS, sections)
        print_text(_describe_total(lines), os.environ)
    return int(not is_healthy(lines))


def render_lines(lines: Sequence[ReportLine]) -> dict[str, Any]:
    """Return the report in the form of `--format json`."""
    rows = [
        {
            "rule": line.rule.id,
            "part": line.rule.part.value,
            "state": line.health.value,
            "what": line.what,
            "why": line.rule.why,
            "fix": line.fix,
            "permission": line.permission,
        }
        for line in lines
    ]
    return {"ok": is_healthy(lines), "lines": rows}


def _make_cells(line: ReportLine) -> list[str | Cell]:
    state = Cell(text=line.health.value, color=_COLORS.get(line.health, "green"))
    if line.health is Health.OK:  # the reason and the remedy matter only where something is to be done
        return [state, line.what, "", ""]
    return [state, line.what, line.rule.why, line.fix or ""]


def _describe_total(lines: Sequence[ReportLine]) -> str:
    numbers = Counter(line.health for line in lines)
    states = join_words([f"{numbers[health]} {health.value}" for health in Health if numbers[health]])
    needed = describe_permissions(lines)
    hint = f" To see what is unknown, the token needs {needed}." if needed else ""
    return f"{count(len(lines), 'line')}: {states}.{hint}"
