"""Judge two versions of the changelog, with what only the other files of their revisions show."""

from __future__ import annotations

from dataclasses import replace

from infx.changelog.validate import ChangelogVerdict, validate
from infx.errors import Problem, sort_problems
from infx.gather.changelog import ChangelogSources


def judge_changelog(sources: ChangelogSources) -> ChangelogVerdict:
    """Return the verdict on what the head adds to the changelog, and on the merge that made the head's file."""
    if sources.base is None and sources.head is None:
        return ChangelogVerdict(problems=[_report_no_changelog(sources.context.path)])
    verdict = validate(sources.base, sources.head, sources.context)
    sides = sources.find_merge() if sources.find_merge else None
    if sides is None or sources.head is None:
        return verdict
    from infx.changelog.merge import check_commit

    lost = check_commit(sides, sources.head, sources.context.links)
    problems = [replace(problem, path=sources.context.path) for problem in lost]
    return replace(verdict, problems=sort_problems([*verdict.problems, *problems]))


def expand_entries(sources: ChangelogSources, verdict: ChangelogVerdict) -> list[Problem]:
    """Return what prevents the new entries' configurations from being planned."""
    if not verdict.blocks:  # load nothing for a changelog without new entries
        return []
    from infx.gather.changelog_expand import find_unplannable

    return find_unplannable(sources, verdict)


def _report_no_changelog(path: str) -> Problem:
    return Problem(
        rule="changelog-missing",
        message="Neither the base nor the head has a changelog.",
        path=path,
        hint="Create the file, or name another one in the policy (`changelog`).",
    )
