"""Read what decides whether a comment shows a sweep on the staging site."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from infx.errors import UnavailableError
from infx.model import Artifact, Collaborator, Comment, CommentReference, Commit, LabelEvent, PullRequest, Run
from infx.policy.model import Policy
from infx.publish.staging import StageFacts, StageRun, find_early_fault, find_stage_fault, parse_command
from infx.reuse.facts import SourceArtifact

NEWEST_RUNS = 100  # of the head branch, one page
MAX_LOOKED = 5  # runs whose artifacts are listed


class StageReader(Protocol):
    """The requests that staging makes before it writes."""

    def comment(self, reference: CommentReference) -> Comment: ...
    def permission(self, login: str) -> Collaborator: ...
    def pull(self, number: int) -> PullRequest: ...
    def commits(self, pull: PullRequest) -> list[Commit]: ...
    def label_events(self, number: int) -> list[LabelEvent]: ...
    def runs(
        self,
        *,
        workflow: str | None = None,
        event: str | None = None,
        branch: str | None = None,
        newest: int | None = None,
    ) -> list[Run]: ...
    def find_run(self, run_id: int) -> Run | None: ...
    def artifacts(self, run_id: int) -> list[Artifact]: ...


def gather_stage(reference: CommentReference, policy: Policy, github: StageReader) -> StageFacts:
    """Return the current comment, and if it is a command of a person who may write, the runs that it may show."""
    comment = github.comment(reference)
    facts = StageFacts(comment=comment)
    command = parse_command(comment.body, policy.publish.stage.command)
    if command is None or not command.is_valid or not comment.author.is_human:
        return facts
    person = github.permission(comment.author.login)
    if not person.is_known:
        raise UnavailableError(
            f"GitHub does not tell what {person.login} may do here, who wrote the command.",
            hint="Run it again.",
        )
    pull = github.pull(comment.pull_number)
    facts = replace(facts, person=person, pull=pull)
    if not person.can_write or policy.publish.stage.target is None:
        return facts
    facts = replace(
        facts,
        commits=tuple(commit.sha for commit in github.commits(pull)),
        label_events=tuple(github.label_events(pull.number)),
    )
    if command.run_id is not None:
        named = github.find_run(command.run_id)
        runs = [named] if named else []
    else:
        runs = github.runs(
            workflow=policy.sweep.workflow_file,
            event="pull_request",
            branch=pull.head_ref,
            newest=NEWEST_RUNS,
        )
    return _add_runs(facts, runs, policy, github, is_named=command.run_id is not None)


def _add_runs(
    facts: StageFacts, runs: list[Run], policy: Policy, github: StageReader, *, is_named: bool
) -> StageFacts:
    """Add runs, newest first, until one can be shown. Artifacts are listed only of a run with no other fault."""
    candidates: list[StageRun] = []
    looked = 0
    for run in sorted(runs, key=lambda run: (run.created_at, run.id), reverse=True):
        if find_early_fault(run, facts, policy, is_named=is_named) is not None:
            candidates.append(StageRun(run=run))
            continue
        if looked == MAX_LOOKED:
            break
        looked += 1
        listed = github.artifacts(run.id)
        artifacts = tuple(SourceArtifact(name=item.name, expired=item.expired) for item in listed)
        candidates.append(StageRun(run=run, artifacts=artifacts))
        if find_stage_fault(candidates[-1], facts, policy, is_named=is_named) is None:
            break
    return replace(facts, runs=tuple(candidates))
