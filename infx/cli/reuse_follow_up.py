"""infx reuse follow-up: choose the rows that complete an earlier sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.decision import read_decision
from infx.cli.github import Connect, github_options
from infx.cli.options import examples, policy_option
from infx.cli.report import print_text
from infx.cli.reuse import open_gatherer
from infx.errors import InfxError, UsageError
from infx.policy.model import Policy, SweepScope

if TYPE_CHECKING:
    from infx.gate.decision import Decision
    from infx.reuse.facts import ReuseFacts


@examples("infx reuse follow-up --pr 77 --run 42", "infx reuse follow-up --decision decision.json")
@click.command("follow-up")
@click.option(
    "--pr", type=click.IntRange(min=1), metavar="N", help="Pull request whose full sweep is planned."
)
@click.option("--run", type=click.IntRange(min=1), metavar="N", help="Run whose good rows do not run again.")
@click.option(
    "--decision",
    "decision_file",
    type=click.Path(),
    metavar="FILE",
    help="Decision of infx gate, instead of --pr and --run.",
)
@policy_option
@github_options
def follow_up(
    pr: int | None, run: int | None, decision_file: str | None, policy: Policy, connect: Connect
) -> None:
    """List the rows of a pull request that a sweep does not cover.

    The JSON is for infx shards --follow-up: the rows that run, and the run and attempt of every other row.
    Nothing is written to GitHub.
    """
    from infx.reuse.follow_up import choose_rows
    from infx.saved import dump_json

    if (decision_file is None) is (pr is None or run is None) or (decision_file and (pr or run)):
        raise UsageError("Name either --pr and --run, or --decision.")
    decision = read_decision(decision_file) if decision_file else None
    facts = gather(pr, run, decision, policy, connect)
    chosen = choose_rows(facts, decision.only if decision else (), policy)
    print_text(dump_json(chosen), {}, err=False, nl=False)


def gather(
    pr: int | None, run: int | None, decision: Decision | None, policy: Policy, connect: Connect
) -> ReuseFacts:
    """Gather what a follow-up depends on. Raises InfxError unless the gate decided about the current head."""
    from infx.evidence.rows import FULL, make_kind

    kind = FULL
    if decision is not None:
        pr, run = decision.pull, decision.complete
        kind = make_kind(decision.scope or SweepScope.FULL, decision.effects)
    if pr is None or run is None:
        raise UsageError("The decision completes no run of a pull request.")
    facts = open_gatherer(policy, connect(), Path.cwd()).gather_follow_up(pr, run, kind)
    if decision is not None and facts.pull and facts.pull.head_sha != decision.head_sha:
        raise InfxError(
            "The pull request has another head now.", hint="Dispatch the follow-up for that head."
        )
    return facts
