"""infx changelog validate and canonicalize."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from infx import actions
from infx.changelog.validate import ChangelogVerdict
from infx.changelog.validate import validate as judge
from infx.cli.changelog_options import source_options
from infx.cli.options import examples, format_option
from infx.cli.report import print_text, report
from infx.errors import Problem, UsageError, sort_problems
from infx.files import write_file
from infx.gather.changelog import ChangelogSources
from infx.gather.changelog_verdict import expand_entries, judge_changelog
from infx.phrases import count

if TYPE_CHECKING:
    from infx.changelog.fix import Repair


@examples("infx changelog validate", "infx changelog validate --fix --pr 77")
@click.command()
@click.option(
    "--fix", "repair", is_flag=True, help="Write the repaired file, if every repair is unambiguous."
)
@source_options
@format_option
def validate(sources: ChangelogSources, *, repair: bool, as_json: bool) -> int:
    """Check what a head adds to the changelog, and repair it."""
    verdict = judge_changelog(sources)
    expanded = expand_entries(sources, verdict)
    on_actions = actions.is_actions(os.environ)
    repaired = _repair(sources, verdict) if repair or on_actions else None
    if on_actions:
        from infx.changelog.summary import render_summary

        everything = replace(verdict, problems=sort_problems([*verdict.problems, *expanded]))
        text = render_summary(everything, repaired, sources.head or b"", sources.context)
        actions.write_summary(os.environ, text)
    if repair and repaired is not None:
        return _apply(sources, repaired, expanded, as_json=as_json)
    return report([*verdict.problems, *expanded], os.environ, as_json=as_json)


def _repair(sources: ChangelogSources, verdict: ChangelogVerdict) -> Repair | None:
    """Return the repair of the head, or None if nothing needs repair."""
    if verdict.ok or sources.head is None:
        return None
    from infx.changelog.fix import Repair, fix

    if any(problem.rule == "merge-lost" for problem in verdict.problems):
        return Repair(head=None, remaining=tuple(verdict.problems))
    return fix(sources.base, sources.head, sources.context)


def _apply(sources: ChangelogSources, repaired: Repair, expanded: Sequence[Problem], *, as_json: bool) -> int:
    """Write the repaired changelog and return the exit code.

    expanded: problems of the configurations, which a repair of the changelog does not change.
    """
    if repaired.head is None:
        code = report([*repaired.remaining, *expanded], os.environ, as_json=as_json)
        print_text("Nothing was written: some problems have no unambiguous repair.", os.environ)
        return code
    target = sources.find_target()
    if target is None:
        raise UsageError(
            "--fix writes to the working tree, and --head-ref names another version of the file.",
            hint="Check out that revision, or leave out --head-ref.",
        )
    write_file(target, repaired.head)
    for problem in repaired.repaired:
        print_text(f"repaired: {replace(problem, hint=None)}", os.environ)
    remaining = judge(sources.base, repaired.head, sources.context).problems
    return report([*remaining, *expanded], os.environ, as_json=as_json)


@examples("infx changelog canonicalize --pr 77 --write")
@click.command()
@click.option("--write", is_flag=True, help="Write the file instead of printing it.")
@click.option("--check", is_flag=True, help="Print nothing; exit 1 if a link is not canonical yet.")
@source_options
def canonicalize(sources: ChangelogSources, *, write: bool, check: bool) -> int:
    """Write the canonical pull request link into new entries."""
    from infx.changelog.canonicalize import canonicalize as make_canonical

    if write and check:
        raise UsageError("--write and --check exclude each other.", hint="Give only one of them.")
    if sources.head is None:
        raise UsageError(f"There is no {sources.context.path} to canonicalize.")
    canonical = make_canonical(sources.base, sources.head, sources.context)
    if check:
        return report(
            [_report_not_canonical(block.line("pr-link"), sources) for block in canonical.changed],
            os.environ,
            as_json=False,
        )
    if not write:
        sys.stdout.flush()
        sys.stdout.buffer.write(canonical.head)
        return 0
    target = sources.find_target()
    if target is None:
        raise UsageError(
            "--write writes to the working tree, and --head-ref names another version of the file.",
            hint="Check out that revision, or leave out --head-ref.",
        )
    if canonical.changed:
        write_file(target, canonical.head)
    print_text(
        f"{count(len(canonical.changed), 'link')} made canonical in {sources.context.path}.", os.environ
    )
    return 0


def _report_not_canonical(line: int, sources: ChangelogSources) -> Problem:
    command = "infx changelog canonicalize --write"
    number = sources.context.number
    return Problem(
        rule="pr-link-canonical",
        message="The pr-link is not canonical yet.",
        path=sources.context.path,
        line=line,
        hint=f"Run `{command} --pr {number}`." if number else f"Run `{command}`.",
    )
