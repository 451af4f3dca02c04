"""infx comment: print one of the bot's comments as Markdown, without posting it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from infx.cli.github import Connect, github_options
from infx.cli.options import examples, policy_option
from infx.cli.report import print_text
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.comments.sticky import Sticky
    from infx.reconcile.facts import ReconcileFacts, RepositoryContext


@click.group()
def comment() -> None:
    """Print a comment as the bot would write it."""


@examples("infx comment greeting")
@comment.command()
@policy_option
@github_options
def greeting(connect: Connect, policy: Policy) -> None:
    """Print the greeting of a pull request that touches benchmarks."""
    from infx.comments.greeting import list_linked, make_greeting, make_links
    from infx.gather.base_files import BaseFiles

    github = connect()
    files = BaseFiles(github, policy, list_linked(policy)).find(None)
    links = make_links(policy, github.repository, policy.pr_link.server, files)
    _print([make_greeting(policy, links, policy.comments.greeting.phrase)], policy)


@examples("infx comment visualizer --pr 77")
@comment.command()
@click.option(
    "--pr", "number", type=click.IntRange(1), required=True, metavar="N", help="Number of the pull request."
)
@policy_option
@github_options
def visualizer(number: int, connect: Connect, policy: Policy) -> None:
    """Print the comment that links to the results of a pull request's sweeps.

    Prints nothing if no sweep has results yet.
    """
    from infx.comments.visualizer import make_visualizer

    facts = _gather(number, connect, policy)[0]
    sticky = make_visualizer(policy, facts.sweeps, facts.gate.reuse, facts.comparison, facts.page)
    _print([sticky] if sticky else [], policy)


@examples("infx comment notice --pr 77")
@comment.command()
@click.option(
    "--pr", "number", type=click.IntRange(1), required=True, metavar="N", help="Number of the pull request."
)
@policy_option
@github_options
def notice(number: int, connect: Connect, policy: Policy) -> None:
    """Print the notices that a pull request should have now.

    Prints nothing if nothing stops its sweep.
    """
    from infx.reconcile.desired import decide_state

    facts, place = _gather(number, connect, policy)
    stickies = decide_state(facts, policy, place).comments
    _print([sticky for sticky in stickies if sticky.key.startswith("notice ") and sticky.text], policy)


def _gather(number: int, connect: Connect, policy: Policy) -> tuple[ReconcileFacts, RepositoryContext]:
    from infx.cli.reconcile import make_reconciler

    reconciler = make_reconciler(policy, connect(), dry_run=True)
    return reconciler.gather(number), reconciler.place


def _print(stickies: list[Sticky], policy: Policy) -> None:
    limit = policy.limits.comment_characters
    text = "\n".join(sticky.body(limit) for sticky in stickies)
    print_text(text, os.environ, err=False, nl=False)
