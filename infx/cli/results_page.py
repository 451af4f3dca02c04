"""infx results page: make a page from the results of a sweep."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.options import OutputPath, examples, policy_option
from infx.cli.report import print_problems, print_text
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.page.facts import JudgedScore, PlannedResult
    from infx.results.compare import ResultComparison


@examples("infx results page results --out results_page.html")
@click.command()
@click.argument("results", type=click.Path(path_type=Path, file_okay=False))
@click.option("--out", required=True, type=OutputPath(), help="The HTML file.")
@click.option(
    "--run",
    type=click.IntRange(min=1),
    envvar="GITHUB_RUN_ID",
    metavar="N",
    help="Workflow run that the page names and links. Default: GITHUB_RUN_ID.",
)
@click.option(
    "--clone",
    default=".",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Clone with the thresholds, and for a store that is a branch. Default: the current folder.",
)
@policy_option
@click.pass_context
def page(ctx: click.Context, results: Path, out: Path, run: int | None, clone: Path, policy: Policy) -> None:
    """Make a page with charts from the results of a sweep, compared with the newest published ones.

    RESULTS is the folder that infx results collect wrote. The page is one HTML file that needs no network. It also names the rows
    without results and judges accuracy. If the store of published results cannot be read, the page has no baseline, and the exit
    code is 3.
    """
    from infx.cli.results_compare import list_problems
    from infx.files import write_file
    from infx.page.facts import PageFacts
    from infx.page.library import read_library
    from infx.page.results_page import render_results_page

    library = read_library()
    planned, scores = read_planned(results), read_scores(results, clone, policy)
    comparison, code = read_comparison(results, clone, policy)
    links = policy.comments.visualizer.links
    facts = PageFacts(comparison=comparison, planned=planned, scores=scores, run=run, links=links)
    write_file(out, render_results_page(facts, library).encode())
    print_problems(list_problems(comparison), os.environ)
    print_text(f"Wrote {out} ({out.stat().st_size / 1e6:.1f} MB).", os.environ)
    ctx.exit(code)


def read_comparison(results: Path, clone: Path, policy: Policy) -> tuple[ResultComparison, int]:
    """Return the throughput results with their baselines, and the exit code of the command."""
    from infx.cli.results_compare import compare_with_store, read_files
    from infx.results.collect import POINTS
    from infx.results.compare import flatten_results, read_results

    files = read_files(results / POINTS) if (results / POINTS).is_dir() else []
    return compare_with_store(read_results(flatten_results(files), policy.results), policy, clone)


def read_planned(results: Path) -> tuple[PlannedResult, ...]:
    """Return the planned rows."""
    from infx.files import decode_json, read_file
    from infx.page.facts import parse_coverage
    from infx.results.collect import COVERAGE_FILE

    path, what = results / COVERAGE_FILE, "list of planned rows"
    data = read_file(path, what, hint="Name the folder that infx results collect wrote.")
    return parse_coverage(decode_json(data, what, path), str(path))


def read_scores(results: Path, clone: Path, policy: Policy) -> tuple[JudgedScore, ...]:
    """Return the accuracy results with their bars; none if the sweep has no accuracy result."""
    from infx.cli.thresholds import read_thresholds
    from infx.files import decode_json, read_file
    from infx.page.facts import judge_scores
    from infx.results.collect import EVALS_FILE

    path, what = results / EVALS_FILE, "file with accuracy results"
    if not path.is_file():
        return ()
    bars, _ = read_thresholds(None, clone, policy)
    return judge_scores(decode_json(read_file(path, what), what, path), bars)
