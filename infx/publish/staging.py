"""Whether a comment shows a finished sweep on the staging site, and which sweep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from infx.gate.case import one_line
from infx.gate.facts import read_labels
from infx.model import Collaborator, Comment, LabelEvent, PullRequest, Run, is_same_repository
from infx.phrases import join_some
from infx.policy.model import Policy, SweepScope
from infx.records import record
from infx.results.collect import PLAN
from infx.reuse.facts import SourceArtifact, SourceRun
from infx.reuse.source import PINNABLE, find_result_fault

METADATA = "changelog-metadata"  # of a sweep by existing tools; infx's own sweeps have the plan
MAX_DIGITS = 18
SHOWN = 3  # runs that a sentence names


class StageAnswer(StrEnum):
    """The answer to a comment."""

    NOTHING = "nothing"  # the comment is not a command
    REFUSED = "refused"
    STAGED = "staged"  # the sweep is shown


@record
class StageCommand:
    """A command in a comment.

    Attributes:
        run_id: the run that it names; None for the newest one.
        is_valid: False if the comment begins with the command, but has other text.
    """

    run_id: int | None = None
    is_valid: bool = True


@record
class StageRun:
    """A run that may be shown. artifacts: None if they were not listed."""

    run: Run
    artifacts: tuple[SourceArtifact, ...] | None = None


@record
class StageFacts:
    """Everything that `decide_stage` needs, except for the policy.

    Attributes:
        person: what the author of the comment may do here; None if the comment is not a valid command.
        commits: SHAs of the pull request's commits.
        label_events: labels added and removed, oldest first.
        runs: candidates, newest first; with a number, the named run only.
    """

    comment: Comment
    person: Collaborator | None = None
    pull: PullRequest | None = None
    commits: tuple[str, ...] = ()
    label_events: tuple[LabelEvent, ...] = ()
    runs: tuple[StageRun, ...] = ()


@record
class StageDecision:
    """The answer, and why.

    Attributes:
        words: the reason, as a full sentence.
        run: the run that is shown; None unless the answer is `staged`.
    """

    answer: StageAnswer
    words: str
    run: Run | None = None


def parse_command(body: str, word: str) -> StageCommand | None:
    """Return the command of a comment; None for any other comment. Blanks around the whole comment do not matter."""
    text = body.strip()
    if not text.startswith(word):
        return None
    match = re.fullmatch(rf"{re.escape(word)}(?:[ \t]+([0-9]{{1,{MAX_DIGITS}}}))?", text, re.ASCII)
    if match is None:
        return StageCommand(is_valid=False)
    return StageCommand(run_id=int(match[1]) if match[1] else None)


def decide_stage(facts: StageFacts, policy: Policy) -> StageDecision:
    """Return which sweep a comment shows on the staging site, or why it shows none."""
    stage, pull = policy.publish.stage, facts.pull
    command = parse_command(facts.comment.body, stage.command)
    if command is None or not facts.comment.author.is_human:
        return StageDecision(answer=StageAnswer.NOTHING, words="The comment is not a command of a person.")
    if refusal := _refuse_early(command, facts, policy):
        return StageDecision(answer=StageAnswer.REFUSED, words=refusal)
    assert pull is not None, "the pull request of a valid command was read"
    faults = []
    for candidate in facts.runs:
        fault = find_stage_fault(candidate, facts, policy, is_named=command.run_id is not None)
        if fault is None:
            run = candidate.run
            words = f"Run {run.id} (attempt {run.attempt}) is sent to {stage.target}."
            return StageDecision(answer=StageAnswer.STAGED, words=words, run=run)
        faults.append(f"run {candidate.run.id}: {fault}")
    if command.run_id is not None:
        why = faults[0] if faults else f"there is no run {command.run_id}"
        return StageDecision(answer=StageAnswer.REFUSED, words=f"The run cannot be shown: {why}.")
    tail = f" ({join_some(faults, SHOWN, separator='; ')})" if faults else ""
    words = f"The pull request has no run that can be shown{tail}."
    return StageDecision(answer=StageAnswer.REFUSED, words=words)


def _refuse_early(command: StageCommand, facts: StageFacts, policy: Policy) -> str | None:
    """Return why no run can be shown, as a sentence; None if that depends on the runs."""
    stage, pull = policy.publish.stage, facts.pull
    if not command.is_valid:
        return (
            f"The whole comment must be `{stage.command}`, or `{stage.command} <run>` with the number of a run, and "
            "nothing else."
        )
    if stage.target is None:
        return "The policy of this repository names no staging site (publish.stage.target)."
    if facts.person is None or not facts.person.can_write:
        return f"{facts.comment.author.login} may not write to this repository."
    if pull is None:
        return "The pull request was not read."
    if not _find_full(pull.labels, policy):
        names = [name for name, label in policy.labels.primary.items() if label.scope is SweepScope.FULL]
        return f"The pull request needs a label that starts a full sweep: {', '.join(names)}."
    return None


def find_stage_fault(candidate: StageRun, facts: StageFacts, policy: Policy, *, is_named: bool) -> str | None:
    """Return why a run cannot be shown, as a clause; None if it can."""
    return find_early_fault(candidate.run, facts, policy, is_named=is_named) or _find_artifact_fault(
        candidate
    )


def find_early_fault(run: Run, facts: StageFacts, policy: Policy, *, is_named: bool) -> str | None:
    """Return why a run cannot be shown, whatever it left behind, as a clause; None if it may be shown."""
    pull = facts.pull
    assert pull is not None, "runs are only read for a pull request"
    if run.path.partition("@")[0] != policy.sweep.workflow:
        return f"it is a run of {one_line(run.path) or 'an unknown workflow'}"
    if run.event != "pull_request" or not is_same_repository(run.head_repository, pull.head_repository):
        return "no event of this pull request started it"
    is_associated = is_named and pull.number in run.pull_numbers
    if run.head_sha not in facts.commits and not is_associated:
        return f"its commit {run.head_sha[:12]} is not in the pull request"
    if not _was_full(facts.label_events, run.created_at, policy):
        return "it began while no label that starts a full sweep was on"
    if not run.is_completed:
        return "it has not completed"
    if run.conclusion not in PINNABLE:
        return f"it ended as {run.conclusion}"
    return None


def _find_artifact_fault(candidate: StageRun) -> str | None:
    if candidate.artifacts is None:
        return "its artifacts were not looked at"
    fresh = {artifact.name for artifact in candidate.artifacts if not artifact.expired}
    if fresh.isdisjoint({PLAN, METADATA}):
        return "its plan does not exist any more"
    fault = find_result_fault(SourceRun(run=candidate.run, artifacts=candidate.artifacts))
    return fault.words if fault else None


def _find_full(names: Iterable[str], policy: Policy) -> list[str]:
    """Return the labels that start a full sweep."""
    on = read_labels(tuple(names), policy.labels)
    return [name for name, label in on.primary if label.scope is SweepScope.FULL]


def _was_full(events: Sequence[LabelEvent], moment: datetime, policy: Policy) -> bool:
    """Return whether a label that starts a full sweep was on at a moment."""
    on: set[str] = set()
    for event in events:
        if event.created_at > moment:
            break
        on.discard(event.label)
        if event.added:
            on.add(event.label)
    return bool(_find_full(sorted(on), policy))
