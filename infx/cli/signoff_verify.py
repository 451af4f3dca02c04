"""infx signoff verify: choose sign-offs, judge them, and publish verdicts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infx.cli.github import Connect, github_options
from infx.cli.options import (
    event_options,
    examples,
    facts_options,
    find_policy_path,
    format_option,
    policy_option,
)
from infx.cli.report import print_text
from infx.cli.signoff_show import print_context, print_judgments, save_facts, show_assessments
from infx.cli.turn_report import print_trouble
from infx.errors import UnavailableError, UsageError
from infx.files import read_file
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.apply.serialize import TurnReport
    from infx.apply.signoff import Verifier
    from infx.model import CommentReference
    from infx.signoff.decide import SignoffDecision
    from infx.signoff.publish import Assessment


@examples("infx signoff verify --pr 77", "infx signoff verify --pr 77 --explain 1")
@click.command()
@click.option("--pr", type=click.IntRange(1), metavar="N", help="Pull request whose sign-offs are verified.")
@click.option("--comment-url", metavar="URL", help="URL of one sign-off, instead of --pr.")
@event_options
@facts_options
@click.option("--publish", is_flag=True, help="Publish the verdicts as comments, and the commit status.")
@click.option("--explain", metavar="CHECK", help="Print everything that one check looked at, such as 1.")
@policy_option
@github_options
@format_option
def verify(policy: Policy, connect: Connect, as_json: bool, **options: Any) -> int:
    """Verify the sign-offs of a pull request."""
    _check_options(options)
    if options["facts_file"]:
        return _replay(options["facts_file"], policy, options["explain"], as_json=as_json)
    from infx.apply.serialize import TurnReport

    verifier = open_verifier(policy, connect)
    numbers, only = _choose(verifier, options)
    report = TurnReport()
    results = _verify_all(verifier, numbers, only, report, publish=options["publish"])
    print_trouble(report, "Run it again later.")
    shown = [a for verified in results for a in verified.assessments if _is_meant(a, only)]
    if options["save_facts"]:
        save_facts(shown, options["save_facts"])
    show_assessments(shown, policy, options["explain"], as_json=as_json)
    is_rejected = not options["publish"] and any(_is_rejected(assessment) for assessment in shown)
    return report.exit_code or int(is_rejected)


def _check_options(options: dict[str, Any]) -> None:
    """Raise UsageError for options that exclude each other, and for an unknown check."""
    from infx.signoff.show import require_check

    if options["facts_file"]:
        values = {**options, "event": options["receive"].file}
        for name in ("pr", "event", "comment_url", "save_facts"):
            if values[name] is not None:
                raise UsageError(
                    f"--facts and --{name.replace('_', '-')} exclude each other.",
                    hint="Give only one of them.",
                )
        if options["publish"]:
            raise UsageError("Verdicts of saved facts cannot be published.", hint="Leave out --publish.")
    elif options["receive"].file and (options["pr"] is not None or options["comment_url"]):
        raise UsageError("--event already names the pull request.", hint="Leave out --pr and --comment-url.")
    if options["explain"] is not None:
        require_check(options["explain"])


def _verify_all(
    verifier: Verifier,
    numbers: Sequence[int],
    only: CommentReference | None,
    report: TurnReport,
    *,
    publish: bool,
) -> list[SignoffDecision]:
    """Verify each pull request; errors go into `report`, but the error of a single pull request is raised."""
    from infx.apply.serialize import take_turns
    from infx.signoff.decide import SkippedPull

    results = []

    def work(number: int) -> None:
        start = len(report.done)
        try:
            decided = (
                verifier.verify_and_publish(number, only, report)
                if publish
                else verifier.verify(number, only)
            )
        finally:
            for action in report.done[start:]:
                print_text(str(action), os.environ)
        if isinstance(decided, SkippedPull):
            print_text(f"Skipped: {decided.why}", os.environ)
        else:
            print_context(decided)
            results.append(decided)
            if decided.unread:
                raise UnavailableError(
                    f"Could not be read: {'; '.join(decided.unread)}",
                    hint="Verify the sign-offs again later.",
                )

    take_turns(numbers, work, report)
    if report.failed and len(numbers) == 1 and not results:
        raise report.failed[0][1]
    return results


def open_verifier(policy: Policy, connect: Connect) -> Verifier:
    from infx.apply.signoff import Verifier
    from infx.gather.choose import SharedHeads
    from infx.gather.clone import open_clone
    from infx.gather.signoff import SignoffGatherer
    from infx.gather.signoff_links import fetch_page
    from infx.git import Git
    from infx.github.api import read_token
    from infx.reconcile.facts import RepositoryContext

    github = connect()
    git = Git(Path.cwd())
    place = RepositoryContext(server=policy.pr_link.server, repository=github.repository)
    gatherer = SignoffGatherer(
        github=github,
        git=git,
        clone=open_clone(git, place, read_token(os.environ)),
        policy=policy,
        policy_path=find_policy_path(),
        repository=github.repository,
        fetch_page=fetch_page,
    )
    shared = SharedHeads(github, gatherer.clone, policy)
    return Verifier(gatherer=gatherer, github=github, policy=policy, shared=shared)


def _choose(verifier: Verifier, options: dict[str, Any]) -> tuple[list[int], CommentReference | None]:
    """Return the pull requests to verify, and the sign-off that --comment-url names."""
    url, number = options["comment_url"], options["pr"]
    only = None
    if url:
        from infx.github.conversation import parse_comment_url

        only = parse_comment_url(url, server=verifier.policy.pr_link.server)
        if only.repository.lower() != verifier.gatherer.repository.lower():
            raise UsageError(f"The comment is in {only.repository}, not in {verifier.gatherer.repository}.")
        if number not in (None, only.pull_number):
            raise UsageError(f"The comment is on #{only.pull_number}, not on #{number}.")
        number = only.pull_number
    if number is not None:
        return [number], only
    from infx.gather.choose import list_triggered
    from infx.signoff.trigger import parse_trigger

    received = options["receive"]()
    if received is None:
        raise UsageError("No pull request is named.", hint="Give --pr, --comment-url, --event or --facts.")
    trigger = parse_trigger(received.name, received.payload, verifier.policy)
    numbers = list_triggered(verifier.gatherer.github, trigger, verifier.policy)
    if not numbers:
        print_text(trigger.reason or "No open pull request has this head.", os.environ)
    return numbers, None


def _replay(path: Path, policy: Policy, explain: str | None, *, as_json: bool) -> int:
    """Judge saved facts and return the exit code; GitHub is not asked, so anyone can reproduce a verdict."""
    from infx.saved import parse_json
    from infx.signoff.facts import SignoffFacts
    from infx.signoff.judge import judge

    facts = parse_json(SignoffFacts, read_file(path, "facts file"), str(path))
    judgment = judge(facts, policy)
    print_judgments([(facts, judgment)], policy, explain, as_json=as_json)
    return int(judgment.is_rejected)


def _is_meant(assessment: Assessment, only: CommentReference | None) -> bool:
    return only is None or (only.kind, only.id) == (assessment.signoff.kind, assessment.signoff.id)


def _is_rejected(assessment: Assessment) -> bool:
    return assessment.error is not None or (
        assessment.judgment is not None and assessment.judgment.is_rejected
    )
