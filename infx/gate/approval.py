"""Approving one revision of a fork: what a comment says, and whether it may have its way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from infx.gate.decide import decide
from infx.gate.decision import Decision, Reason
from infx.gate.event import DispatchInputs, Event, EventName
from infx.gate.facts import Approval, GateFacts, MergeCheck
from infx.markdown import MAX_UNTRUSTED, find_command_lines
from infx.model import Collaborator, Comment, CommitStatus, PullRequest, StatusState
from infx.policy.identity import find_status
from infx.policy.model import Policy

_SHA = re.compile(r"[0-9a-fA-F]{40}")  # as people paste it
_MERGE = re.compile(r"test merge ([0-9a-f]{40})")


class ApprovalAnswer(StrEnum):
    """nothing: the comment asks for nothing. refused: it asks in vain. approved: the revision may run."""

    NOTHING = "nothing"
    REFUSED = "refused"
    APPROVED = "approved"


@dataclass(frozen=True, kw_only=True)
class ApprovalFacts:
    """comment: the one that was made. actor: permission and role of its author, None if the comment asks nothing.

    gate: what the gate would look at for a dispatch of this pull request, without the approval itself.
    merge: the test merge of the live head; None if GitHub has none.
    """

    comment: Comment
    actor: Collaborator | None = None
    gate: GateFacts | None = None
    merge: MergeCheck | None = None

    @property
    def pull(self) -> PullRequest | None:
        return self.gate.pull if self.gate else None


@dataclass(frozen=True, kw_only=True)
class ApprovalDecision:
    """words: why, as a full sentence. inputs: those of the dispatch that follows an approval."""

    answer: ApprovalAnswer
    words: str
    head_sha: str | None = None
    inputs: DispatchInputs | None = None


def find_request(body: str, command: str) -> str | None:
    """What the comment asks to be approved, as typed; None if it holds no such command, '' if it names nothing.

    A command is a line of its own in visible text. Of several different ones none counts. A long comment is not read:
    anybody may have written it, and parsing takes seconds for what is made to be slow.
    """
    if command not in body or is_too_long(body):
        return None
    pattern = re.compile(rf"{re.escape(command)}(?:[ \t]+(.*))?")
    found = {
        (match[1] or "").strip() for line in find_command_lines(body) if (match := pattern.fullmatch(line))
    }
    if not found:
        return None
    return found.pop() if len(found) == 1 else ""


def may_ask_in_vain(comment: Comment, command: str) -> bool:
    """Whether a person's comment holds the command's word, and is too long to be read."""
    return comment.author.is_human and command in comment.body and is_too_long(comment.body)


def is_too_long(body: str) -> bool:
    """Whether a comment is too long to be read for a command."""
    return len(body) > MAX_UNTRUSTED


def find_approved(comments: Sequence[Comment], command: str) -> str | None:
    """The commit that the newest approving comment of a person names. Whether it was allowed to, its status tells;
    our own notices name the head as an example. comments: oldest first.
    """
    people = (comment for comment in reversed(comments) if comment.author.is_human)
    asked = (find_request(comment.body, command) or "" for comment in people)
    return next((sha.lower() for sha in asked if _SHA.fullmatch(sha)), None)


def decide_approval(facts: ApprovalFacts, policy: Policy) -> ApprovalDecision:
    """Whether the comment approves the live head of a fork. Raises ValueError where the facts are incomplete."""
    command, author = policy.sweep.approve_command, facts.comment.author
    asked = find_request(facts.comment.body, command)
    if may_ask_in_vain(facts.comment, command) and facts.actor is not None and facts.actor.can_write:
        return _refuse(
            f"The comment is longer than {MAX_UNTRUSTED:,} characters, so it is not read; make one that only approves."
        )
    if asked is None or not author.is_human:
        return ApprovalDecision(answer=ApprovalAnswer.NOTHING, words="The comment asks for no approval.")
    if not _SHA.fullmatch(asked):
        return _refuse(f"Expected one line `{command} <SHA>` with the full SHA of the head, 40 digits.")
    if facts.comment.updated_at != facts.comment.created_at:
        return _refuse("The comment was edited after it was made; make a new one.")
    if facts.actor is None or not facts.actor.can_write:
        return _refuse(f"{author.login} has no write access to the repository, by permission and by role.")
    if facts.gate is None or facts.pull is None:
        raise ValueError("an approval needs the pull request")
    return _decide_revision(facts, facts.gate, facts.pull, asked.lower(), policy)


def _decide_revision(
    facts: ApprovalFacts, gate: GateFacts, pull: PullRequest, asked: str, policy: Policy
) -> ApprovalDecision:
    if not pull.is_fork:
        return _refuse("The branch is in this repository; its sweeps start by label.")
    if asked != pull.head_sha:
        return _refuse(f"The comment approves {asked[:12]}, but the head is {pull.head_sha[:12]}.")
    merge = facts.merge
    inputs = DispatchInputs(
        pull=pull.number,
        head_ref=pull.head_sha,
        base_ref=merge.parents[0] if merge and merge.parents else "",
        merge_sha=merge.sha if merge else "",
    )
    decision = _ask_gate(gate, pull, inputs, merge, policy)
    if not decision.runs:
        return _refuse(f"{decision.words[:1].upper()}{decision.words[1:]}. {_fix(decision)}".strip())
    words = f"{facts.comment.author.login} approved {pull.head_sha[:12]}: {decision.words}."
    return ApprovalDecision(
        answer=ApprovalAnswer.APPROVED, words=words, head_sha=pull.head_sha, inputs=inputs
    )


def _ask_gate(
    gate: GateFacts, pull: PullRequest, inputs: DispatchInputs, merge: MergeCheck | None, policy: Policy
) -> Decision:
    """What the gate will say to the dispatch once the approval stands."""
    event = Event(
        name=EventName.DISPATCH,
        actor=policy.identities[0],
        pull=pull.number,
        head_sha=pull.head_sha,
        inputs=inputs,
    )
    approval = Approval(sha=pull.head_sha)
    return decide(replace(gate, event=event, approval=approval, merge=merge), policy)


def _fix(decision: Decision) -> str:
    """The gate's advice, but for that to make the comment that was just made."""
    return "" if decision.reason is Reason.TEST_MERGE else decision.fix or ""


def _refuse(words: str) -> ApprovalDecision:
    return ApprovalDecision(answer=ApprovalAnswer.REFUSED, words=words)


def pick_approval(sha: str, statuses: Sequence[CommitStatus], policy: Policy) -> Approval | None:
    """A commit's approval. statuses: newest first."""
    status = find_status(statuses, policy.sweep.contexts.approval, policy.publisher)
    if status is None or status.state is not StatusState.SUCCESS:
        return None
    merge = _MERGE.search(status.description)
    return Approval(sha=sha, url=status.target_url, merge_sha=merge[1] if merge else None)


def describe_approver(login: str, merge_sha: str) -> str:
    """Return who approved what, for the status: it remembers the test merge, because GitHub makes another one as soon as
    the base branch moves.
    """
    return f"{login} (test merge {merge_sha})"
