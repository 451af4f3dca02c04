"""infx signoff: print the review checklist, and verify sign-offs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from infx.cli.group import LazyGroup
from infx.cli.options import examples, policy_option
from infx.errors import UsageError
from infx.files import refuse
from infx.gather.local import find_root
from infx.policy.model import Policy


@click.group(
    cls=LazyGroup,
    commands_by_name={
        "retry": (
            "infx.cli.signoff_retry:retry",
            "Re-run sign-off workflow runs that failed within a day.",
        ),
        "template": ("infx.cli.signoff:template", "Print the checklist that a reviewer fills in."),
        "verify": ("infx.cli.signoff_verify:verify", "Verify the sign-offs of a pull request."),
    },
)
def signoff() -> None:
    """Print the review checklist, and verify reviewers' sign-offs."""


@examples("infx signoff template --signed noor")
@click.command()
@click.option("--signed", metavar="LOGIN", help="Login of the reviewer. Default: GITHUB_ACTOR, else empty.")
@click.option(
    "--language", metavar="CODE", help="Language, such as zh. Default: the first checklist of the policy."
)
@click.option(
    "--base-ref",
    metavar="REV",
    help="Revision of the checklist. Default: the file in the working tree.",
)
@policy_option
def template(signed: str | None, language: str | None, base_ref: str | None, policy: Policy) -> None:
    """Print the checklist that a reviewer fills in."""
    from infx.signoff.checklist import fill_signature, parse_template

    path = _checklist_path(policy, language)
    text = parse_template(_read_here(path, base_ref), policy.signoff.phrase)
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
            raise UsageError(f"There is no {path} at {base_ref}.", hint="Name a revision that has it.")
        return data.decode(errors="replace")
    try:
        return (root / path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise refuse(
            error,
            path,
            "checklist",
            hint="Run this in a repository that has the checklist; `infx init --signoffs` writes one.",
        ) from None
