"""The output of `infx launch render`: a table for people, JSON for programs."""

from __future__ import annotations

import os
import shlex

from infx.cli.report import print_json, print_text
from infx.cli.tables import Column, Section, print_table
from infx.launch.bind import render_bound
from infx.launch.steps import Launch, Step

_COLUMNS = (
    Column(name="step"),
    Column(name="limit", number=True),
    Column(name="command", wraps=True),
)


def show(launch: Launch, *, as_json: bool) -> None:
    """Print a launch on stdout."""
    if as_json:
        print_json(render_bound(launch))
        return
    rows = [line for step in launch.steps for line in _list_lines(step)]
    print_table(_COLUMNS, [Section(rows=rows)])
    secrets = ", ".join(launch.secrets) or "none"
    print_text(
        f"\n{launch.cluster}: {launch.driver.value}. Secrets by name: {secrets}.", os.environ, err=False
    )


def _list_lines(step: Step) -> list[tuple[str, str, str]]:
    """Return a step's lines: the command, its variables and its release. A script is shown by its name only."""
    lines = [(step.name.value, _show_time(step.seconds), shlex.join(_shorten(step.argv)))]
    lines += [("", "", f"{name}={shlex.quote(value)}") for name, value in sorted(step.environment.items())]
    if step.release:
        lines.append(("", "", f"released by: {shlex.join(_shorten(step.release))}"))
    return lines


def _shorten(argv: tuple[str, ...]) -> list[str]:
    return [part if "\n" not in part else "(script)" for part in argv]


def _show_time(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
