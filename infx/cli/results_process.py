"""infx results process: make result rows from the output of a benchmark client."""

from __future__ import annotations

import os
from pathlib import Path

import click

from infx.cli.options import OutputPath, examples
from infx.cli.report import print_problems, print_text
from infx.rowfile.clients import DETECT, NAMES


@examples("infx results process --result output.json --out results")
@click.command()
@click.option(
    "--result",
    type=click.Path(path_type=Path, exists=True),
    metavar="FILE",
    help=(
        "The client's output. Default: $RESULT_FILENAME.json; for AgentX the folder $RESULT_DIR. With --all, the folder "
        "of the outputs."
    ),
)
@click.option(
    "--client",
    type=click.Choice(NAMES),
    default=DETECT,
    show_default=True,
    help="The client that wrote it.",
)
@click.option(
    "--requests",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of requests, if the client's output does not have it.",
)
@click.option(
    "--out",
    type=OutputPath(folder=True),
    default=Path(),
    help=(
        "Folder for agg_$RESULT_FILENAME.json. Default: the current folder; for AgentX $AGENTIC_OUTPUT_DIR, if it is set, "
        "and there without agg_."
    ),
)
@click.option("--all", "has_all", is_flag=True, help="Make a row of every $RESULT_FILENAME_*.json.")
@click.pass_context
def process(
    ctx: click.Context, result: Path | None, client: str, requests: int | None, out: Path, *, has_all: bool
) -> None:
    """Make result rows from the output of a benchmark client.

    The environment says what was measured, as infx row env prints it. A row's machine runs the same with python3
    "$INFX_ROW_FILE" process, without infx.
    """
    from infx.errors import Problem
    from infx.rowfile.process import ProcessOptions
    from infx.rowfile.process import process as make_rows

    options = ProcessOptions(
        result=str(result or ""), out=str(out), client=client, requested=requests, has_all=has_all
    )
    report = make_rows(options, os.environ)
    for line in [*report.notes, *(f"Wrote {path}." for path in report.written)]:
        print_text(line, os.environ)
    print_problems(
        [Problem(rule=fault.rule, message=fault.message, path=fault.path or None) for fault in report.faults],
        os.environ,
    )
    ctx.exit(int(bool(report.faults)))
