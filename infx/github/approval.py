"""Approving a fork's revision on GitHub: read what it depends on, then status, dispatch, and the link between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from infx.comments.status import fit_description
from infx.errors import InfxError
from infx.github.gate import GateReader, gather_facts, read_merge
from infx.model import Comment, CommentReference, CommitStatus, DispatchedRun, Reaction, Run, StatusState
from infx.policy.approval import Answer, ApprovalDecision, ApprovalFacts, describe_approver, find_request
from infx.policy.event import Event, EventName, Inputs
from infx.policy.facts import MergeCheck
from infx.policy.model import Policy

_T = TypeVar("_T")

CLOCK_SKEW = timedelta(seconds=30)


class ApprovalReader(GateReader, Protocol):
    def comment(self, reference: CommentReference) -> Comment: ...


class ApprovalWriter(Protocol):
    def create_status(
        self, sha: str, *, context: str, state: StatusState, description: str, target_url: str = ""
    ) -> CommitStatus: ...
    def dispatch_workflow(self, workflow: str, *, ref: str, inputs: Mapping[str, str]) -> DispatchedRun: ...
    def add_reaction(self, comment_id: int, content: str) -> Reaction: ...
    def runs(self, *, workflow: str, event: str, created_since: datetime) -> list[Run]: ...
    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T: ...


def gather_approval(reference: CommentReference, policy: Policy, github: ApprovalReader) -> ApprovalFacts:
    """The comment as it is now, who wrote it, and how the pull request stands; little if it asks for nothing."""
    comment = github.comment(reference)
    asked = find_request(comment.body, policy.sweep.approve_command)
    if asked is None or not comment.author.is_human:
        return ApprovalFacts(comment=comment)
    actor = github.permission(comment.author.login)
    if not actor.can_write:
        return ApprovalFacts(comment=comment, actor=actor)
    event = Event(name=EventName.ASKED, pull=comment.pull_number)
    gate = gather_facts(event, policy, github)
    return ApprovalFacts(comment=comment, actor=actor, gate=gate, merge=_test_merge(comment, policy, github))


def _test_merge(comment: Comment, policy: Policy, github: ApprovalReader) -> MergeCheck | None:
    """GitHub makes it anew only when somebody asks for `mergeable`, which the gate's facts have just done."""
    sha = github.ref(f"pull/{comment.pull_number}/merge")
    return read_merge(sha, comment.pull_number, policy, github) if sha else None


def publish_approval(
    facts: ApprovalFacts, decision: ApprovalDecision, policy: Policy, github: ApprovalWriter, *, now: datetime
) -> DispatchedRun | None:
    """The status goes on the head before the dispatch, because the dispatched gate goes by it.

    Returns the run. A dispatch that fails takes the approval back and raises.
    """
    comment = facts.comment
    if decision.answer is Answer.NOTHING:
        return None
    if decision.answer is Answer.REFUSED or decision.head_sha is None or decision.inputs is None:
        github.add_reaction(comment.id, "-1")
        return None
    who = describe_approver(comment.author.login, decision.inputs.merge_sha)
    sign = _Signer(github, policy, decision.head_sha, who)
    sign(StatusState.SUCCESS, "Approved by {who}", comment.url)
    try:
        run = _dispatch(decision.inputs, policy, github, now)
    except InfxError:
        sign(StatusState.ERROR, "Approved by {who}, but the sweep could not be dispatched", comment.url)
        raise
    sign(StatusState.SUCCESS, "Approved by {who}; the sweep is linked", run.url)
    github.add_reaction(comment.id, "+1")
    return run


@dataclass(frozen=True)
class _Signer:
    github: ApprovalWriter
    policy: Policy
    sha: str
    who: str

    def __call__(self, state: StatusState, words: str, url: str) -> None:
        """Writing the same status twice harms nobody, so an unknown outcome is simply written again."""
        description = fit_description(words.format(who=self.who), self.policy.limits.status_characters)
        context = self.policy.sweep.contexts.approval
        self.github.write_then_look(
            lambda: self.github.create_status(
                self.sha, context=context, state=state, description=description, target_url=url
            ),
            lambda: None,
        )


def _dispatch(inputs: Inputs, policy: Policy, github: ApprovalWriter, now: datetime) -> DispatchedRun:
    """Started once: when the reply is lost, the run is looked for by the title that its workflow gives it."""
    workflow = policy.sweep.workflow_file
    given = {
        "pr": str(inputs.pull),
        "base-ref": inputs.base_ref,
        "head-ref": inputs.head_ref,
        "merge-sha": inputs.merge_sha,
    }

    def look() -> DispatchedRun | None:
        runs = github.runs(workflow=workflow, event="workflow_dispatch", created_since=now - CLOCK_SKEW)
        found = [run for run in runs if inputs.head_ref in run.title]
        return DispatchedRun(id=found[0].id, url=found[0].url) if found else None

    return github.write_then_look(
        lambda: github.dispatch_workflow(workflow, ref=policy.base_branch, inputs=given), look
    )
