"""infx gate and explain: decide whether a sweep starts, for a workflow and for people."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infx import actions
from infx.cli.github import Connect, github_options
from infx.cli.options import (
    event_options,
    examples,
    facts_options,
    find_policy_path,
    format_option,
    policy_option,
)
from infx.cli.report import print_json, print_text
from infx.errors import UnavailableError, UsageError
from infx.files import read_file
from infx.gate.decision import Decision, Reason
from infx.gate.event import Event, EventName, parse_event
from infx.gate.facts import GateFacts
from infx.gather.local import Receive
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.gather.gate import Judge
    from infx.github.api import GitHub
    from infx.model import PullRequest


clone_option = click.option(
    "--clone",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Clone of the repository, to compute how much a reused sweep covers. Default: the current folder.",
)


def question_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what the gate decides about, and pass `facts: GateFacts`, gathered or read."""

    @event_options
    @click.option(
        "--pr",
        type=click.IntRange(min=1),
        metavar="N",
        help="Pull request to ask about, without an event.",
    )
    @clone_option
    @facts_options
    @policy_option
    @github_options
    @wraps(function)
    def wrapper(
        *args: Any,
        receive: Receive,
        pr: int | None,
        clone: Path | None,
        facts_file: Path | None,
        save_facts: Path | None,
        connect: Connect,
        policy: Policy,
        **kwargs: Any,
    ) -> Any:
        if sum(source is not None for source in (receive.file, pr, facts_file)) > 1:
            raise UsageError("--event, --pr and --facts exclude each other.", hint="Give only one of them.")
        if facts_file:
            facts = read_facts(facts_file)
        else:
            event = Event(name=EventName.ASKED, pull=pr) if pr else read_event(receive)
            is_explained = "output_format" in kwargs
            facts = gather(event, policy, connect, clone or Path.cwd(), is_explained=is_explained)
        if facts.pull is None and facts.event.name in {EventName.PULL_REQUEST, EventName.ASKED}:
            raise UsageError("The event names no pull request.", hint="Give --pr.")
        if save_facts:
            from infx.saved import dump_json

            save_facts.write_text(dump_json(facts), encoding="utf-8")
        return function(*args, facts=facts, policy=policy, **kwargs)

    return wrapper


@examples("infx gate --event event.json", "infx gate --pr 77 --save-facts facts.json")
@click.command()
@question_options
def gate(facts: GateFacts, policy: Policy) -> None:
    """Decide whether a sweep starts, and print the decision as JSON."""
    from infx.gate.decide import decide
    from infx.gate.show import render_decision, render_outputs, render_summary

    if facts.actor_is_hidden:
        message = "The permission of the account that caused the event is unknown; only infx explain can use these facts."
        raise UnavailableError(message, hint="Use a token that may read permissions of collaborators.")
    decision = decide(facts, policy)
    if decision.reason is Reason.MERGEABLE_UNKNOWN:
        raise UnavailableError(f"{decision.sentence}", hint="Run the job again.")
    if decision.reason is Reason.BASE_UNKNOWN:
        raise UnavailableError(decision.sentence)
    actions.write_outputs(os.environ, render_outputs(decision))
    actions.write_summary(os.environ, render_summary(facts, policy, decision))
    print_decision(decision)
    print_json(render_decision(decision))


@examples("infx explain --pr 77", "infx explain --facts facts.json")
@click.command()
@question_options
@format_option
def explain(facts: GateFacts, policy: Policy, *, as_json: bool) -> None:
    """Explain whether a sweep starts, why, and what to do; list the facts behind the answer."""
    from infx.gate.decide import decide
    from infx.gate.show import list_also, list_facts, render_decision

    decision = decide(facts, policy)
    also, named_facts = list_also(facts, policy, decision), list_facts(facts, policy)
    if as_json:
        print_decision(decision)
        values = {**render_decision(decision), "also": also, "looked-at": dict(named_facts)}
        print_json(values)
        return
    width = max(len(name) for name, _ in named_facts)
    lines = [decision.sentence, *also, *decision.notes, "", "Looked at:"]
    lines += [f"  {name:<{width}}  {value}" for name, value in named_facts]
    if facts.pull is not None and facts.pull.is_open:
        lines += ["", f"infx merge {facts.pull.number} --dry-run shows what its merge still needs."]
    print_text("\n".join(lines), os.environ, err=False)


def print_decision(decision: Decision) -> None:
    """Print the sentence and the notes on stderr; on Actions, annotate a refusal too."""
    print_text("\n".join((decision.sentence, *decision.notes)), os.environ)
    if decision.refused and actions.is_actions(os.environ):
        from infx.errors import Problem

        problem = Problem(rule=f"gate-{decision.reason}", message=decision.sentence)
        click.echo(actions.format_annotation(problem), err=True)


def read_event(receive: Receive) -> Event:
    """Return the event of --event or of this run."""
    received = receive()
    if received is None:
        raise UsageError("No event is given.", hint="Give --event, --pr or --facts.")
    own = received.is_own  # the run's variables describe its own event only
    return parse_event(
        received.name,
        received.payload,
        run_id=_read_number("GITHUB_RUN_ID"),
        attempt=(own and _read_number("GITHUB_RUN_ATTEMPT")) or 1,
        triggering_actor=os.environ.get("GITHUB_TRIGGERING_ACTOR", "") if own else "",
    )


def _read_number(name: str) -> int | None:
    value = os.environ.get(name, "")
    return int(value) if re.fullmatch(r"[0-9]{1,18}", value, re.ASCII) else None


def read_facts(path: Path) -> GateFacts:
    from infx.saved import parse_json

    return parse_json(GateFacts, read_file(path, "facts file"), str(path))


def gather(event: Event, policy: Policy, connect: Connect, clone: Path, *, is_explained: bool) -> GateFacts:
    from infx.cli.reuse import open_gatherer
    from infx.gather.gate import gather_facts

    github = connect()
    path = find_policy_path()
    return gather_facts(
        event,
        policy,
        github,
        rules=(path,),
        judge=_open_judge(policy, github, path),
        # Opened only for a request, because most events are about no reuse.
        ask_reuse=lambda event, pull: open_gatherer(policy, github, clone).answer(event, pull),
        is_explained=is_explained,
    )


def _open_judge(policy: Policy, github: GitHub, policy_path: str) -> Judge | None:
    """Return a function that judges a changelog, or None if the current folder is not a clone of the repository."""
    from infx.gather.clone import open_clone
    from infx.git import Git
    from infx.github.api import read_token
    from infx.reconcile.facts import RepositoryContext

    place = RepositoryContext(server=policy.pr_link.server, repository=github.repository)
    clone = open_clone(Git(Path.cwd()), place, read_token(os.environ))

    def judge(pull: PullRequest) -> tuple[str, ...] | None:
        assert clone is not None, "a judge needs a clone"
        try:
            branches = clone.open_branches(policy, place, [pull.number], policy_path)
            changes = branches.read(pull.number, pull.head_sha).changes
        except UnavailableError as error:
            print_text(f"The changelog could not be judged in this clone: {error.message}", os.environ)
            return None
        return tuple(str(problem) for problem in changes.problems)

    return judge if clone is not None else None
