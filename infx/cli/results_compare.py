"""infx results compare: compare results with the newest published ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx import actions
from infx.cli.options import OutputPath, examples, format_option, policy_option
from infx.cli.report import print_json, print_problems, print_text
from infx.cli.tables import Cell
from infx.errors import InfxError, Level, Problem
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.results.compare import ComparedRow, ReadResults, ResultComparison
    from infx.results.compare_metrics import MetricChange

_COLORS = {"better": "green", "worse": "red"}
_SHOWN = ("TPUT/GPU", "TTFT", "Intvty", "E2EL")  # the start of the labels of the metrics that the table shows


@examples("infx results compare results/results_bmk")
@click.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=OutputPath(folder=True),
    help="Folder for results_compare, the counts and the largest changes, which the comment with results shows.",
)
@click.option(
    "--clone",
    default=".",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Clone of the repository, for a store that is a branch. Default: the current folder.",
)
@policy_option
@format_option
@click.pass_context
def compare(
    ctx: click.Context, results: Path, out: Path | None, clone: Path, policy: Policy, *, as_json: bool
) -> None:
    """Compare results with the newest published results of the same series and concurrency.

    RESULTS is a JSON file, or a folder with JSON files at any depth. On Actions, the run's summary shows the tables. If the
    store of published results cannot be read, the results have no baseline, and the exit code is 3.
    """
    from infx.results.compare import flatten_results, read_results
    from infx.results.compare_report import render_json

    read = read_results(flatten_results(read_files(results)), policy.results)
    comparison, code = compare_with_store(read, policy, clone)
    write_digest(out, comparison)
    write_summary(comparison)
    print_problems(list_problems(comparison), os.environ)
    if as_json:
        print_json(render_json(comparison), indent=None)
    else:
        print_comparison(comparison)
    ctx.exit(code)


def read_files(path: Path) -> list[tuple[str, object]]:
    """Return the value of each JSON file, with its path; a file that is not JSON is a problem of the result."""
    from infx.files import read_file, refuse

    if not path.is_dir():
        return [(str(path), parse_file(path.name, read_file(path, "file with results")))]
    try:
        files = sorted(file for file in path.rglob("*.json") if file.is_file() and not file.is_symlink())
    except OSError as error:
        raise refuse(error, path, "folder with results") from None
    return [
        (name := file.relative_to(path).as_posix(), parse_file(name, read_file(file, "file with results")))
        for file in files
    ]


def parse_file(name: str, data: bytes) -> object:
    """Return the value of a JSON file, or the fault instead of a value."""
    from infx.results.artifact import ArtifactFile, JsonFaultError, read_json

    try:
        return read_json(ArtifactFile(path=name, data=data))
    except JsonFaultError as error:
        return error


def compare_with_store(results: ReadResults, policy: Policy, clone: Path) -> tuple[ResultComparison, int]:
    """Return the comparison, and the exit code: that of the error if the store cannot be read."""
    from infx.cli.store import open_results
    from infx.results.compare import compare

    if not results.rows:
        return compare(results, {}), 0
    try:
        return compare(results, open_results(policy, clone).read_newest(results.list_series())), 0
    except InfxError as error:
        return compare(results, {}, fault=error.problems[0].message.rstrip(".")), error.exit_code


def write_digest(out: Path | None, comparison: ResultComparison) -> None:
    """Write the counts and the largest changes below the folder, if there is one."""
    import json

    from infx.results.compare_digest import DIGEST_FILE, make_digest, render_digest

    if out is not None:
        target = out / DIGEST_FILE
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            json.dumps(render_digest(make_digest(comparison)), indent=1) + "\n", encoding="utf-8"
        )


def write_summary(comparison: ResultComparison) -> None:
    """Append the comparison to the step's summary on Actions."""
    from infx.results.compare_report import render_summary

    if room := actions.find_summary_room(os.environ):
        actions.write_summary(os.environ, render_summary(comparison, room))


def list_problems(comparison: ResultComparison) -> list[Problem]:
    """Return a warning for each result that cannot be compared, and for a store that cannot be read."""
    problems = [
        Problem(
            rule="result-not-comparable",
            level=Level.WARNING,
            message=f"The result cannot be compared: {'; '.join(item.faults)[:1000]}.",
            path=item.where,
        )
        for item in comparison.refused
    ]
    if comparison.fault is not None:
        problems.append(
            Problem(
                rule="store-unavailable",
                level=Level.WARNING,
                message=f"No baseline could be read: {comparison.fault}.",
            )
        )
    return problems


def print_comparison(comparison: ResultComparison) -> None:
    """Print a table with the median of each metric, and the counts."""
    from infx.cli.tables import Column, Section, print_table
    from infx.results.compare_digest import describe_digest, make_digest

    columns = [
        Column(name="result", wraps=True),
        Column(name="conc", number=True),
        *(Column(name=name, number=True) for name in ("TPUT/GPU", "change")),
        *(Column(name=name, number=True, spare=1) for name in _SHOWN[1:]),
        Column(name="baseline", spare=2),
    ]
    if comparison.rows:
        print_table(columns, [Section(rows=[_render_row(row) for row in comparison.rows])])
    if comparison.fault is None:
        print_text(describe_digest(make_digest(comparison)), os.environ)


def _render_row(row: ComparedRow) -> list[str | Cell]:
    throughput, *others = [
        next(change for change in row.changes if change.metric.label.startswith(start)) for start in _SHOWN
    ]
    baseline = row.baseline
    return [
        row.row.series.key,
        str(row.row.conc),
        throughput.value_text,
        *(_render_percent(change) for change in (throughput, *others)),
        "none" if baseline is None else f"run {baseline.run} of {baseline.measured_at:%Y-%m-%d}",
    ]


def _render_percent(change: MetricChange) -> Cell:
    return Cell(text=change.percent_text, color=_COLORS.get(change.trend or ""))
