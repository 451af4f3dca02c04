"""infx doctor: list what a repository still lacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.github import Connect, github_options
from infx.cli.options import examples, find_policy_path, format_option, tolerant_policy_option
from infx.errors import ProblemsError, UsageError
from infx.gather.local import find_root
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.doctor.facts import CheckoutFacts
    from infx.doctor.lines import ReportLine


@examples("infx doctor", "infx doctor --offline", "infx doctor --links --format json")
@click.command()
@click.option("--offline", is_flag=True, help="Look at this checkout only, not at GitHub.")
@click.option("--links", is_flag=True, help="Also ask the pages that comments link for an answer.")
@tolerant_policy_option
@github_options
@format_option
def doctor(
    policy: Policy | ProblemsError, connect: Connect, *, offline: bool, links: bool, as_json: bool
) -> int:
    """List what a repository still lacks, here and on GitHub, and how to fix it.

    Each line has a state: ok, missing, wrong, or unknown for what cannot be seen. The exit code is 0 only if every line
    is ok. Nothing is written.
    """
    from infx.cli.doctor_table import show
    from infx.doctor.checkout import judge_broken_policy, judge_checkout

    if offline and links:
        raise UsageError("--offline and --links exclude each other.", hint="Give only one of them.")
    if isinstance(policy, ProblemsError):
        return show(judge_broken_policy(find_policy_path(), policy.problems), as_json=as_json)
    facts = _read_checkout(policy)
    lines = judge_checkout(facts, policy)
    if not offline:
        lines += _look_at_github(connect, facts, policy, links=links)
    return show(lines, as_json=as_json)


def _read_checkout(policy: Policy) -> CheckoutFacts:
    from infx.gather.doctor_checkout import gather_checkout

    given = click.get_current_context().params
    root = find_root(Path.cwd())
    return gather_checkout(root, policy, source=given.get("policy_source"), repo=given.get("repo"))


def _look_at_github(
    connect: Connect, facts: CheckoutFacts, policy: Policy, *, links: bool
) -> list[ReportLine]:
    from infx.doctor.github import judge_github, judge_unseen_github
    from infx.doctor.lines import Unseen
    from infx.gather.doctor_checkout import read_runner_labels
    from infx.gather.doctor_github import gather_github, read_repository
    from infx.github.transport import probe

    github = connect()
    repository = read_repository(github)
    if isinstance(repository, Unseen):
        return judge_unseen_github(github.repository, repository)
    seen = gather_github(
        github,
        repository,
        facts.use,
        policy,
        path=facts.policy_path,
        labels=read_runner_labels(find_root(Path.cwd()), policy),
        probe=probe if links else None,
    )
    return judge_github(seen, facts.use, policy, facts.policy_path)
