"""infx reuse: whether a finished sweep serves as a merge's sweep."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx import actions
from infx.cli.gate import read_event
from infx.cli.github import Connect, github_options
from infx.cli.group import LazyGroup
from infx.cli.options import (
    event_options,
    examples,
    facts_options,
    find_policy_path,
    format_option,
    policy_option,
)
from infx.cli.report import print_json, print_text
from infx.errors import UsageError
from infx.files import read_file
from infx.gate.event import Event, EventName
from infx.gather.local import Receive
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.gather.reuse import ReuseGatherer
    from infx.github.api import GitHub
    from infx.reuse.decision import ReuseDecision
    from infx.reuse.facts import ReuseFacts


@click.group(
    cls=LazyGroup,
    commands_by_name={
        "check": (
            "infx.cli.reuse:check",
            "Decide whether a finished sweep serves as the merge's, and how much of it.",
        ),
        "validate": ("infx.cli.reuse_validate:validate", "Check the artifacts of a source run."),
        "follow-up": (
            "infx.cli.reuse_follow_up:follow_up",
            "List the rows of a pull request that a sweep does not cover.",
        ),
    },
)
def reuse() -> None:
    """Reuse a finished sweep for a merge."""


@examples("infx reuse check --pr 77", "infx reuse check --event event.json --save-facts facts.json")
@click.command()
@click.option(
    "--pr", type=click.IntRange(min=1), metavar="N", help="Ask about a pull request, without an event."
)
@event_options
@facts_options
@policy_option
@github_options
@format_option
def check(
    pr: int | None,
    receive: Receive,
    facts_file: Path | None,
    save_facts: Path | None,
    policy: Policy,
    connect: Connect,
    *,
    as_json: bool,
) -> None:
    """Decide whether a finished sweep serves as the merge's, and how much of it.

    The exit code is 0 for every decision; the verdict is reuse, refused or nothing.
    """
    from infx.reuse.decide import decide_reuse

    facts = find_facts(pr, receive, facts_file, policy, connect)
    if save_facts:
        from infx.saved import dump_json

        save_facts.write_text(dump_json(facts), encoding="utf-8")
    show(decide_reuse(facts, policy), as_json=as_json)


def find_facts(
    pr: int | None, receive: Receive, facts_file: Path | None, policy: Policy, connect: Connect
) -> ReuseFacts:
    """Return saved facts, or gather those of an event or a pull request."""
    if sum(option is not None for option in (receive.file, pr, facts_file)) > 1:
        raise UsageError("--event, --pr and --facts exclude each other.", hint="Give only one of them.")
    if facts_file:
        from infx.reuse.facts import ReuseFacts
        from infx.saved import parse_json

        return parse_json(ReuseFacts, read_file(facts_file, "facts file"), str(facts_file))
    event = Event(name=EventName.ASKED, pull=pr) if pr else read_event(receive)
    return open_gatherer(policy, connect(), Path.cwd()).gather(event)


def open_gatherer(policy: Policy, github: GitHub, folder: Path) -> ReuseGatherer:
    """Return what gathers from GitHub and from the clone in a folder, if it is one of the repository."""
    from infx.gather.clone import open_clone
    from infx.gather.reuse import ReuseGatherer
    from infx.git import Git
    from infx.github.api import read_token
    from infx.reconcile.facts import RepositoryContext

    place = RepositoryContext(server=policy.pr_link.server, repository=github.repository)
    clone = open_clone(Git(folder), place, read_token(os.environ))
    return ReuseGatherer(github=github, policy=policy, clone=clone, policy_path=find_policy_path())


def show(decision: ReuseDecision, *, as_json: bool) -> None:
    """Print a decision; on Actions, also write the step's outputs and summary, and annotate a refusal."""
    from infx.reuse.show import list_details, render_decision, render_outputs, render_summary

    actions.write_outputs(os.environ, render_outputs(decision))
    actions.write_summary(os.environ, render_summary(decision))
    annotate(decision)
    if as_json:
        print_text(decision.sentence, os.environ)
        print_json(render_decision(decision))
        return
    details = list_details(decision)
    width = max((len(name) for name, _ in details), default=0)
    lines = [decision.sentence, *(f"  {name:<{width}}  {value}" for name, value in details)]
    print_text("\n".join(lines), os.environ, err=False)


def annotate(decision: ReuseDecision) -> None:
    """Print a refusal as an annotation of the run."""
    from infx.errors import Problem
    from infx.reuse.decision import ReuseVerdict

    if decision.verdict is ReuseVerdict.REFUSED and actions.is_actions(os.environ):
        problem = Problem(rule=f"reuse-{decision.reason}", message=decision.sentence)
        click.echo(actions.format_annotation(problem), err=True)
