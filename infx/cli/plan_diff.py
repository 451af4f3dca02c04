"""infx plan-diff: describe the differences between two plans."""

from __future__ import annotations

import os
from pathlib import Path

import click

from infx.cli.options import examples, format_option
from infx.cli.plan_folder import read_plan_file
from infx.cli.report import print_json, print_text


@examples("infx plan-diff before.json after.json")
@click.command("plan-diff")
@click.argument("before", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("after", type=click.Path(path_type=Path, dir_okay=False))
@format_option
def plan_diff(before: Path, after: Path, as_json: bool) -> None:
    """Describe the changes from plan BEFORE to plan AFTER."""
    from infx.bench.row import render_row
    from infx.matrix.diff import describe_diff, diff_plans, find_changes

    diff = diff_plans(read_plan_file(before)[1], read_plan_file(after)[1])
    if not as_json:
        for line in describe_diff(diff):
            print_text(line, os.environ, err=False)
        return
    changed = [
        {
            "row": render_row(new),
            "changes": [
                {"key": change.key, "before": change.before, "after": change.after}
                for change in find_changes(old, new)
            ],
        }
        for old, new in diff.changed
    ]
    values = {
        "added": [render_row(row) for row in diff.added],
        "removed": [render_row(row) for row in diff.removed],
        "changed": changed,
    }
    print_json(values)
