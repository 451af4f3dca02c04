"""infx results publications, withdraw: what the store of published results has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from infx.cli.options import examples, format_option, policy_option
from infx.cli.report import print_json, print_text
from infx.cli.store import open_results
from infx.errors import UsageError
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.results.series import PublicationSummary


@examples("infx results publications --format table")
@click.command()
@policy_option
@format_option
def publications(policy: Policy, *, as_json: bool) -> None:
    """List the published runs, newest first, also those that were withdrawn."""
    listed = open_results(policy).list_publications()
    if as_json:
        from infx.saved import to_json

        print_json(to_json(listed))
    else:
        _print_table(listed)


@examples('infx results withdraw --run 4711 --reason "The power limit of the node was wrong."')
@click.command()
@click.option(
    "--run",
    required=True,
    type=click.IntRange(min=1, max=2**63 - 1),
    metavar="N",
    help="Run to withdraw, with all its attempts.",
)
@click.option("--reason", required=True, metavar="TEXT", help="Reason, which the store keeps.")
@click.option("--by", metavar="NAME", help="Who decided it. Default: GITHUB_ACTOR, else git's user.name.")
@policy_option
def withdraw(run: int, reason: str, by: str | None, policy: Policy) -> None:
    """Withdraw a run, so that no result is compared with its rows.

    The older rows of the same series become the newest again. A withdrawal is final.
    """
    from infx.results.series import Withdrawal

    if not reason.strip():
        raise UsageError("The reason is empty.", hint="Say why the results of the run are wrong.")
    now = datetime.now(UTC)
    withdrawal = Withdrawal(run=run, reason=reason, by=by or find_person(os.environ), withdrawn_at=now)
    is_new = open_results(policy).withdraw(withdrawal)
    print_text(f"Run {run} is withdrawn." if is_new else f"Run {run} was withdrawn before.", os.environ)


def find_person(environ: Mapping[str, str]) -> str:
    """Return the name of the person who runs the command. Raises UsageError if it is unknown."""
    from pathlib import Path

    from infx.git import Git

    actor = environ.get("GITHUB_TRIGGERING_ACTOR") or environ.get("GITHUB_ACTOR")
    if (
        name := actor
        or Git(Path.cwd()).call("config", "--get", "user.name").stdout.decode(errors="replace").strip()
    ):
        return name
    raise UsageError("It is unknown who withdraws the run.", hint="Give --by.")


def _print_table(listed: tuple[PublicationSummary, ...]) -> None:
    from infx.cli.tables import Column, Section, print_table

    columns = [
        Column(name="run", number=True),
        Column(name="attempt", number=True),
        Column(name="rows", number=True),
        Column(name="published"),
        Column(name="commit"),
        Column(name="origin"),
        Column(name="withdrawn", wraps=True),
    ]
    rows = [
        (
            str(item.run), str(item.attempt), str(item.row_count), f"{item.published_at:%Y-%m-%d %H:%M}", item.commit[:12],
            item.origin, f"by {item.withdrawal.by}: {item.withdrawal.reason}" if item.withdrawal else "",
        )
        for item in listed
    ]  # fmt: skip
    print_table(columns, [Section(rows=rows)])
