"""infx signoff: the checklist to fill in, and whether a filled-in one is true."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infx import actions
from infx.cli.github import Connect, github_options
from infx.cli.group import LazyGroup
from infx.cli.options import POLICY_PATH, examples, find_root, format_option, policy_option
from infx.errors import InfxError, UsageError
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.github.signoff.verify import Verified, Verifier
    from infx.model import CommentReference
    from infx.signoff.facts import Facts
    from infx.signoff.judge import Judgement
    from infx.signoff.publish import Assessment

SERVER_URL = "https://github.com"


@click.group(
    cls=LazyGroup,
    commands_by_name={
        "template": ("infx.cli.signoff:template", "Print the checklist that a reviewer fills in."),
        "verify": ("infx.cli.signoff:verify", "Verify the sign-offs of a pull request."),
    },
)
def signoff() -> None:
    """The checklist of a review, and whether what it says is true."""


@examples("infx signoff template --signed noor")
@click.command()
@click.option("--signed", metavar="LOGIN", help="Who signs. Default: GITHUB_ACTOR, else left open.")
@click.option("--language", metavar="CODE", help="Such as zh; default: the first checklist of the policy.")
@click.option("--base-ref", metavar="REV", help="Read it at a revision. Default: the file as it stands here.")
@policy_option
def template(signed: str | None, language: str | None, base_ref: str | None, policy: Policy) -> None:
    """Print the checklist that a reviewer fills in."""
    from infx.signoff.checklist import fill_signature, read_template

    path = _checklist_path(policy, language)
    text = read_template(_read_here(path, base_ref), policy.signoff.phrase)
    click.echo(fill_signature(text, signed or os.environ.get("GITHUB_ACTOR") or "").rstrip("\n"))


def _checklist_path(policy: Policy, language: str | None) -> str:
    paths = policy.signoff.paths.checklists
    if language is None:
        return paths[0]
    for path in paths:
        if re.search(rf"[_.-]{re.escape(language)}\.\w+$", path):
            return path
    raise UsageError(f"There is no checklist for {language!r}.", hint=f"The policy has {', '.join(paths)}.")


def _read_here(path: str, base_ref: str | None) -> str:
    root = find_root(Path.cwd())
    if base_ref:
        from infx.git import Git

        data = Git(root).read(base_ref, path)
        if data is None:
            raise UsageError(f"There is no {path} at {base_ref}.")
        return data.decode(errors="replace")
    try:
        return (root / path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        words, hint = f"The checklist cannot be read: {error.strerror}.", "Run it in the repository."
        raise UsageError(words, hint=hint, where=path) from None


@examples("infx signoff verify --pr 77", "infx signoff verify --pr 77 --explain 1")
@click.command()
@click.option("--pr", type=click.IntRange(1), metavar="N", help="The pull request.")
@click.option("--comment-url", metavar="URL", help="One sign-off; its pull request is then known.")
@click.option(
    "--event",
    "event_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Payload. Default: that of the run.",
)
@click.option("--event-name", metavar="NAME", help="Default: GITHUB_EVENT_NAME.")
@click.option(
    "--facts",
    "facts_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Judge by facts saved before.",
)
@click.option(
    "--save-facts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what was looked at to a file.",
)
@click.option("--publish", is_flag=True, help="Write the comments and the commit status.")
@click.option("--explain", metavar="CHECK", help="Everything that one check looked at.")
@policy_option
@github_options
@format_option
def verify(policy: Policy, connect: Connect, as_json: bool, **options: Any) -> int:
    """Verify the sign-offs of a pull request."""
    _check_options(options)
    if options["facts_file"]:
        return _replay(options["facts_file"], policy, options["explain"], as_json=as_json)
    verifier = _open_verifier(policy, connect)
    numbers, only = _choose(verifier, options)
    results = _verify_all(verifier, numbers, only, policy)
    if options["publish"]:
        for verified in results:
            _publish(verifier, verified)
    shown = [a for verified in results for a in verified.assessments if _is_meant(a, only)]
    if options["save_facts"]:
        _save(shown, options["save_facts"])
    _show(shown, policy, options["explain"], as_json=as_json)
    return 0 if options["publish"] else int(any(_is_rejected(assessment) for assessment in shown))


def _check_options(options: dict[str, Any]) -> None:
    """What cannot be meant together, before anything is asked."""
    from infx.signoff.show import require_check

    if options["facts_file"]:
        for name in ("pr", "event_file", "comment_url", "save_facts"):
            if options[name] is not None:
                raise UsageError(
                    f"--facts and --{name.removesuffix('_file').replace('_', '-')} exclude each other."
                )
        if options["publish"]:
            raise UsageError("Saved facts are judged, never published.", hint="Leave --publish out.")
    elif options["event_file"] and (options["pr"] is not None or options["comment_url"]):
        raise UsageError("--event says which pull request; leave --pr and --comment-url out.")
    if options["explain"] is not None:
        require_check(options["explain"])


def _verify_all(
    verifier: Verifier, numbers: Sequence[int], only: CommentReference | None, policy: Policy
) -> list[Verified]:
    from infx.github.signoff.verify import PassedOver

    results = []
    for number in numbers:
        verified = verifier.verify(number, only)
        if isinstance(verified, PassedOver):
            click.echo(actions.neutralise(f"Passed over. {verified.why}"), err=True)
            continue
        _say(verified, policy)
        results.append(verified)
    return results


def _open_verifier(policy: Policy, connect: Connect) -> Verifier:
    from infx.git import Git
    from infx.github.reconcile import open_clone
    from infx.github.signoff.links import fetch_page
    from infx.github.signoff.verify import Verifier
    from infx.reconcile.facts import Place

    github = connect()
    git = Git(Path.cwd())
    place = Place(server=os.environ.get("GITHUB_SERVER_URL") or SERVER_URL, repository=github.repository)
    token = os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN")
    return Verifier(
        github=github,
        git=git,
        clone=open_clone(git, place, token),
        policy=policy,
        policy_path=find_policy_path(click.get_current_context().params.get("policy_source")),
        repository=github.repository,
        fetch_page=fetch_page,
    )


def find_policy_path(source: str | None) -> str:
    """Where the policy stands in the repository; a pull request that edits it edits the rules."""
    if source is None:
        return POLICY_PATH
    if match := re.fullmatch(r"[0-9A-Za-z_][^:]*:(.+)", source):
        return match[1]
    root, path = find_root(Path.cwd()).resolve(), Path(source).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else source


def _choose(verifier: Verifier, options: dict[str, Any]) -> tuple[list[int], CommentReference | None]:
    """The pull requests to look at, and the one sign-off that is meant, if one is."""
    url, number = options["comment_url"], options["pr"]
    only = None
    if url:
        from infx.github.conversation import parse_comment_url

        only = parse_comment_url(url, server=os.environ.get("GITHUB_SERVER_URL") or SERVER_URL)
        if only.repository.lower() != verifier.repository.lower():
            raise UsageError(f"The comment is of {only.repository}, not of {verifier.repository}.")
        if number not in (None, only.pull_number):
            raise UsageError(f"The comment is on #{only.pull_number}, not on #{number}.")
        number = only.pull_number
    if number is not None:
        return [number], only
    from infx.signoff.wake import read_wake

    path = options["event_file"] or os.environ.get("GITHUB_EVENT_PATH")
    if path is None:
        raise UsageError("Which pull request?", hint="Give --pr, --comment-url, --event or --facts.")
    name = options["event_name"] or os.environ.get("GITHUB_EVENT_NAME") or ""
    wake = read_wake(name, actions.read_event(Path(path)), verifier.policy)
    numbers = verifier.find_pulls(wake)
    if not numbers:
        click.echo(actions.neutralise(wake.reason or "No open pull request has this head."), err=True)
    return numbers, None


def _replay(path: Path, policy: Policy, explain: str | None, *, as_json: bool) -> int:
    """Judge saved facts; nothing else is asked, so a verdict can be argued about."""
    from infx.saved import parse_json
    from infx.signoff.facts import Facts
    from infx.signoff.judge import judge

    try:
        facts = parse_json(Facts, path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"The facts cannot be read: {error.strerror}.", where=str(path)) from None
    judgement = judge(facts, policy)
    _print([(facts, judgement)], policy, explain, as_json=as_json)
    return int(judgement.is_rejected)


def _publish(verifier: Verifier, verified: Verified) -> None:
    outcome = verifier.publish(verified)
    for action in outcome.done:
        click.echo(str(action), err=True)
    for action, error in outcome.refused:
        click.echo(actions.neutralise(f"warning: not allowed to {action}. {error.hint or ''}"), err=True)
    if outcome.refused:
        raise InfxError("The token may not write what was found.", hint="See the warnings above.")


def _say(verified: Verified, policy: Policy) -> None:
    """What is not in any verdict: the scope, comments passed over, the status."""
    from infx.signoff.publish import make_status

    status = make_status(verified.scope, verified.assessments, policy)
    lines = [verified.scope.reason]
    lines += [f"{comment.url}: passed over. {why}" for comment, why in verified.passed_over]
    judgements = [assessment.judgement for assessment in verified.assessments if assessment.judgement]
    refused = dict.fromkeys((r.comment.url, r.why) for judgement in judgements for r in judgement.refused)
    lines += [f"{url}: settles nothing. {why}" for url, why in refused]
    lines += [f"{status.context}: {status.state}: {status.description}"] if status else []
    text = "\n".join(f"#{verified.pull.number}: {line}" for line in lines)
    click.echo(actions.neutralise(text), err=True)


def _is_meant(assessment: Assessment, only: CommentReference | None) -> bool:
    return only is None or (only.kind, only.id) == (assessment.signoff.kind, assessment.signoff.id)


def _is_rejected(assessment: Assessment) -> bool:
    return assessment.error is not None or (
        assessment.judgement is not None and assessment.judgement.is_rejected
    )


def _save(shown: Sequence[Assessment], path: Path) -> None:
    from infx.saved import dump_json

    facts = [assessment.facts for assessment in shown if assessment.facts]
    if len(facts) != 1:
        raise UsageError(f"There are facts of {len(facts)} sign-offs.", hint="Name one with --comment-url.")
    path.write_text(dump_json(facts[0]), encoding="utf-8")


def _show(shown: Sequence[Assessment], policy: Policy, explain: str | None, *, as_json: bool) -> None:
    judged = [(a.facts, a.judgement) for a in shown if a.facts and a.judgement]
    for assessment in shown:
        if not assessment.judgement:
            why = assessment.error or f"{assessment.binding.standing} since {assessment.binding.record.sha}"
            click.echo(actions.neutralise(f"{assessment.signoff.url}: {why}"), err=True)
    _print(judged, policy, explain, as_json=as_json)


def _print(
    judged: Sequence[tuple[Facts, Judgement]], policy: Policy, explain: str | None, *, as_json: bool
) -> None:
    """As JSON one object for one sign-off, else a list of them: always one document."""
    from infx.signoff.judge import make_verdict
    from infx.signoff.show import render_explanation, render_json
    from infx.signoff.verdict import render_verdict

    if explain is not None:
        texts = [render_explanation(judgement, explain) for _, judgement in judged]
    elif as_json:
        documents = [render_json(facts, judgement) for facts, judgement in judged]
        shown = documents[0] if len(documents) == 1 else documents
        texts = [json.dumps(shown, ensure_ascii=False, indent=2)]
    else:
        texts = [
            render_verdict(make_verdict(judgement, facts, policy)).rstrip("\n") for facts, judgement in judged
        ]
    for text in texts:
        click.echo(actions.neutralise(text) if actions.is_actions(os.environ) else text)
