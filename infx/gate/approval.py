"""Decide whether a comment approves the head of a fork for a sweep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from infx.gate.decide import decide
from infx.gate.decision import Decision, Reason
from infx.gate.event import DispatchInputs, Event, EventName
from infx.gate.facts import Approval, GateFacts, MergeCheck
from infx.markdown import MAX_UNTRUSTED, find_command_lines
from infx.model import Collaborator, Comment, CommitStatus, PullRequest, StatusState
from infx.policy.identity import find_status
from infx.policy.model import Policy
from infx.records import record

_SHA = r"[0-9a-fA-F]{40}"  # as people paste it
_MERGE = r"test merge ([0-9a-f]{40})"


class ApprovalAnswer(StrEnum):
    """The answer to a comment."""

    NOTHING = "nothing"  # the comment does not ask for an approval
    REFUSED = "refused"
    APPROVED = "approved"  # the revision may run


@record
class ApprovalFacts:
    """Everything that `decide_approval` needs, except the policy.

    Attributes:
        actor: permission and role of the comment's author; None if the comment does not ask for an approval.
        gate: the gate's facts for a dispatch of this pull request, without the approval itself.
        merge: the test merge of the live head; None if GitHub has not made it.
    """

    comment: Comment
    actor: Collaborator | None = None
    gate: GateFacts | None = None
    merge: MergeCheck | None = None

    @property
    def pull(self) -> PullRequest | None:
        return self.gate.pull if self.gate else None


@record
class ApprovalDecision:
    """The answer to a comment, and its reason.

    Attributes:
        words: the reason, as a full sentence.
        inputs: inputs of the dispatch that follows an approval.
    """

    answer: ApprovalAnswer
    words: str
    head_sha: str | None = None
    inputs: DispatchInputs | None = None


def find_request(body: str, command: str) -> str | None:
    """Return what the approval command of a comment names, as typed.

    None: the comment has no such command. '': the command names nothing, or several commands differ. A command is a
    separate line of visible text.
    """
    # Anyone can write a long comment that takes seconds to parse, so long comments are not read.
    if command not in body or is_too_long(body):
        return None
    pattern = re.compile(rf"{re.escape(command)}(?:[ \t]+(.*))?")
    named = {
        (match[1] or "").strip() for line in find_command_lines(body) if (match := pattern.fullmatch(line))
    }
    if not named:
        return None
    return named.pop() if len(named) == 1 else ""


def has_unread_command(comment: Comment, command: str) -> bool:
    """Return whether a person's comment contains the command's word, but is too long to be read."""
    return comment.author.is_human and command in comment.body and is_too_long(comment.body)


def is_too_long(body: str) -> bool:
    """Return whether a comment is too long to be searched for commands."""
    return len(body) > MAX_UNTRUSTED


def find_approved(comments: Sequence[Comment], command: str) -> str | None:
    """Return the commit that the newest approval comment of a person names. comments: oldest first.

    The commit's status says whether that person was allowed to approve.
    """
    # infx's own notices show the command with the head as an example.
    human_comments = (comment for comment in reversed(comments) if comment.author.is_human)
    requests = (find_request(comment.body, command) or "" for comment in human_comments)
    return next((sha.lower() for sha in requests if re.fullmatch(_SHA, sha)), None)


def decide_approval(facts: ApprovalFacts, policy: Policy) -> ApprovalDecision:
    """Decide whether the comment approves the live head of a fork. Raises ValueError for incomplete facts."""
    command, author = policy.sweep.approve_command, facts.comment.author
    asked = find_request(facts.comment.body, command)
    if has_unread_command(facts.comment, command) and facts.actor is not None and facts.actor.can_write:
        return _refuse(
            f"The comment is longer than {MAX_UNTRUSTED:,} characters, so it was not read; post one that only approves."
        )
    if asked is None or not author.is_human:
        return ApprovalDecision(
            answer=ApprovalAnswer.NOTHING, words="The comment does not ask for an approval."
        )
    if not re.fullmatch(_SHA, asked):
        return _refuse(f"Expected exactly one line `{command} <SHA>` with the full head SHA (40 digits).")
    if facts.comment.updated_at != facts.comment.created_at:
        return _refuse("The comment was edited after it was posted; post a new one.")
    if facts.actor is None or not facts.actor.can_write:
        return _refuse(
            f"{author.login} does not have write access to the repository; approving requires it by permission and by role."
        )
    if facts.gate is None or facts.pull is None:
        raise ValueError("an approval needs the pull request")
    return _decide_revision(facts, facts.gate, facts.pull, asked.lower(), policy)


def _decide_revision(
    facts: ApprovalFacts, gate: GateFacts, pull: PullRequest, asked: str, policy: Policy
) -> ApprovalDecision:
    if not pull.is_fork:
        return _refuse("The branch is in this repository; a label starts its sweeps.")
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
    """Return the gate's decision about the dispatch, as if the approval had been published."""
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
    """Return the gate's advice, unless it is to post the comment that was just posted."""
    return "" if decision.reason is Reason.TEST_MERGE else decision.fix or ""


def _refuse(words: str) -> ApprovalDecision:
    return ApprovalDecision(answer=ApprovalAnswer.REFUSED, words=words)


def pick_approval(sha: str, statuses: Sequence[CommitStatus], policy: Policy) -> Approval | None:
    """Return the approval of a commit. statuses: newest first."""
    status = find_status(statuses, policy.sweep.contexts.approval, policy.publisher)
    if status is None or status.state is not StatusState.SUCCESS:
        return None
    merge = re.search(_MERGE, status.description)
    return Approval(sha=sha, url=status.target_url, merge_sha=merge[1] if merge else None)


def describe_approver(login: str, merge_sha: str) -> str:
    """Return the words of the approval status that name the approver and the test merge."""
    # The status keeps the test merge, because GitHub replaces it as soon as the base branch moves.
    return f"{login} (test merge {merge_sha})"
