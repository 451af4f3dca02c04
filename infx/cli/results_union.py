"""Collect the results of a follow-up sweep together with the rows that it repeats from earlier runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from infx.errors import UsageError

if TYPE_CHECKING:
    from infx.bench.follow_up import CompletedRun, FollowUp
    from infx.bench.jobs import RowJob
    from infx.cli.github import Connect
    from infx.github.api import GitHub
    from infx.policy.results import ResultRules
    from infx.results.artifact import ReadArtifact
    from infx.results.collect import Collection


def collect_union(
    jobs: Sequence[RowJob],
    follow_up: FollowUp,
    others: Sequence[RowJob],
    artifacts: Iterable[ReadArtifact],
    run: int | None,
    connect: Connect,
    rules: ResultRules,
) -> Collection:
    """Return the rows of a follow-up sweep and those that it repeats, all compared with the plan in the same way.

    Args:
        jobs: rows that this sweep runs; of these only its own results count.
        others: the other rows of the plan.
        artifacts: of this run.
    """
    from dataclasses import replace

    from infx.bench.follow_up import RowOrigin
    from infx.gather.reuse_runs import find_attempts
    from infx.results.collect import collect

    if run is None:
        raise UsageError("The results of a follow-up sweep name its run.", hint="Give --run.")
    github = connect()
    collection = collect([*jobs, *others], join_artifacts(follow_up, others, artifacts, github), rules)
    attempts = find_attempts(github.jobs(run, every_attempt=True))
    own = (RowOrigin(id=job.id, run=run, attempt=attempts.get(job.id, 1)) for job in jobs)
    return replace(collection, origins=(*own, *follow_up.origins))


def join_artifacts(
    follow_up: FollowUp, others: Sequence[RowJob], artifacts: Iterable[ReadArtifact], github: GitHub
) -> Iterator[ReadArtifact]:
    """Return the artifacts of a follow-up sweep without those of rows that it does not run, then the repeated ones."""
    from infx.bench.uploads import artifact_name

    foreign = {artifact_name(job) for job in others}
    yield from (artifact for artifact in artifacts if artifact.name not in foreign)
    yield from fetch_repeated(github, follow_up, others)


def fetch_repeated(github: GitHub, follow_up: FollowUp, others: Sequence[RowJob]) -> Iterator[ReadArtifact]:
    """Download the artifacts of rows that other runs have measured."""
    from infx.bench.uploads import artifact_name
    from infx.cli.results import fetch
    from infx.results.artifact import ReadArtifact

    runs = {origin.id: origin.run for origin in follow_up.origins}
    for completed in follow_up.runs:
        names = {artifact_name(job) for job in others if runs.get(job.id) == completed.run}
        if not names:
            continue
        if fault := find_change(github, completed):
            yield from (ReadArtifact(name=name, fault=fault) for name in sorted(names))
        else:
            yield from fetch(github, completed.run, names)


def find_change(github: GitHub, completed: CompletedRun) -> str | None:
    """Return why a run no longer has the artifacts that the plan chose, as a clause; None if it has them."""
    run = github.find_run(completed.run)
    if run is None:
        return f"run {completed.run}, which measured it, does not exist any more"
    if run.attempt != completed.attempt:  # a later attempt replaces artifacts
        return f"run {completed.run}, which measured it, was run again after this sweep was planned"
    return None
