"""infx results check-replay: check that an AgentX replay counts."""

from __future__ import annotations

import os

import click

from infx.cli.options import examples
from infx.cli.report import print_problems
from infx.rowfile.agentic_errors import LIMIT, LIMIT_VARIABLE, METRIC_VARIABLE


@examples("infx results check-replay --result results")
@click.command("check-replay")
@click.option(
    "--result",
    required=True,
    type=click.Path(exists=True, file_okay=False),
    envvar="RESULT_DIR",
    show_envvar=True,
    metavar="DIR",
    help="Folder of the replay's results.",
)
@click.option(
    "--limit",
    type=click.FloatRange(0, 1),
    default=float(LIMIT),
    envvar=LIMIT_VARIABLE,
    show_envvar=True,
    show_default=True,
    help="Largest share of failed requests.",
)
@click.option(
    "--metric",
    default="",
    envvar=METRIC_VARIABLE,
    show_envvar=True,
    metavar="PREFIX",
    help="Start of a metric's name that the server must have had.",
)
@click.pass_context
def check(ctx: click.Context, result: str, limit: float, metric: str) -> None:
    """Check that an AgentX replay counts: its failed requests, and a metric of the server.

    A row's machine runs the same with python3 "$INFX_ROW_FILE" check-replay, without infx.
    """
    from infx.errors import Problem
    from infx.rowfile.agentic_errors import check_replay
    from infx.rowfile.faults import FaultsError

    try:
        check_replay(result, limit, metric)
    except FaultsError as error:
        problems = [
            Problem(rule=fault.rule, message=fault.message, path=fault.path or None) for fault in error.faults
        ]
        print_problems(problems, os.environ)
        ctx.exit(1)
