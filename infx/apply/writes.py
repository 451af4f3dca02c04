"""Carry out planned writes: one request each, never repeated before a read.

A write with an unknown outcome ends the work on that pull request; the next reconciliation reads and
continues. The exception is a cancelled run, which is read at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from infx.comments.sticky import Sticky
from infx.errors import InfxError
from infx.git import GitError
from infx.github.errors import LockedError, NotFoundError, PermissionDeniedError, UnknownOutcomeError
from infx.model import GHOST, Comment, CommitStatus, Reaction, Run, StatusState, User
from infx.policy.identity import is_identity
from infx.policy.model import Policy
from infx.reconcile.actions import (
    Action,
    AddReaction,
    CancelRun,
    CommentAction,
    CreateComment,
    DeleteComment,
    PushCommit,
    RemoveReaction,
    SetStatus,
    UpdateComment,
)
from infx.reconcile.desired import plan_comments

_T = TypeVar("_T")

LOOK_BACK = timedelta(hours=1)  # longer than the longest wait between reading and creating comments


class WrongIdentityError(InfxError):
    """Raised when the token's identity is not in the policy: infx would not recognize its own writes."""


def check_publisher(creator: User, policy: Policy) -> None:
    """Raise WrongIdentityError unless a status was written by the policy's publishing identity."""
    # GitHub reports the token's identity only after a write, and a status cannot be deleted.
    if creator != GHOST and not is_identity(creator, policy.publisher):
        expected = ", ".join(policy.publisher) or "none"
        raise WrongIdentityError(
            f"The token writes statuses as {creator.login}, but the policy's publishing identity is {expected}, "
            "so infx would not trust its own statuses.",
            hint=f"Put {creator.login!r} first under identities in the policy, or use that identity's token.",
        )


class Writer(Protocol):
    """The requests that applying actions makes."""

    def issue_comments(self, number: int, *, since: datetime | None = None) -> list[Comment]: ...
    def create_comment(self, number: int, body: str) -> Comment: ...
    def edit_comment(self, comment_id: int, body: str) -> Comment: ...
    def delete_comment(self, comment_id: int) -> None: ...
    def add_reaction(self, comment_id: int, content: str) -> Reaction: ...
    def remove_reaction(self, comment_id: int, reaction_id: int) -> None: ...
    def create_status(
        self, sha: str, *, context: str, state: StatusState, description: str, target_url: str = ""
    ) -> CommitStatus: ...
    def cancel_run(self, run_id: int) -> bool: ...
    def run(self, run_id: int) -> Run: ...
    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T: ...


@dataclass
class WriteOutcome:
    """The writes that were done, in order, and the writes that GitHub or git refused."""

    done: list[Action] = field(default_factory=list)
    refused: list[tuple[Action, InfxError]] = field(default_factory=list)


@dataclass
class Applier:
    """Carries out actions."""

    writer: Writer
    policy: Policy
    push: Callable[[PushCommit], None] | None = (
        None  # carries out a PushCommit; None if nothing may be pushed
    )

    def apply(self, actions: Sequence[Action], stickies: Sequence[Sticky], outcome: WriteOutcome) -> None:
        """Carry out actions, and record each in `outcome` as it happens, in case a later write fails.

        After creating comments, read the conversation once to find duplicates created by another run.
        """
        denied: dict[str, PermissionDeniedError] = {}  # by kind: later writes of that kind are not tried
        created: dict[str, Comment] = {}
        for action in actions:
            kind = "comments" if isinstance(action, CommentAction) else type(action).__name__
            if kind in denied:
                outcome.refused.append((action, denied[kind]))
                continue
            try:
                comment = self._do(action)
            except (PermissionDeniedError, GitError) as error:
                outcome.refused.append((action, error))
                if isinstance(error, PermissionDeniedError) and not isinstance(error, LockedError):
                    denied[kind] = error
                continue
            except UnknownOutcomeError as error:
                if not isinstance(action, CancelRun):
                    raise
                outcome.refused.append((action, error))  # GitHub answers 500 to a run that is stuck
                continue
            outcome.done.append(action)
            if comment is not None:
                created[_key(action)] = comment
        if created:
            self._look_back(created, stickies, outcome)

    def _do(self, action: Action) -> Comment | None:
        """Carry out one action, and return the comment that it created, if any."""
        match action:
            case CreateComment():
                return self._create(action.pull, action.body)
            case UpdateComment():
                return self._update(action)
            case DeleteComment():
                self.writer.delete_comment(action.id)
            case AddReaction():
                self._react(action)
            case RemoveReaction():
                self.writer.remove_reaction(action.comment_id, action.id)
            case SetStatus():
                status = action.status
                made = self.writer.create_status(
                    action.sha,
                    context=status.context,
                    state=status.state,
                    description=status.description,
                    target_url=status.target_url,
                )
                check_publisher(made.creator, self.policy)
            case CancelRun():
                self._cancel(action.run_id)
            case PushCommit() if self.push is not None:
                self.push(action)
        return None

    def _react(self, action: AddReaction) -> None:
        try:
            reaction = self.writer.add_reaction(action.comment_id, action.content)
        except NotFoundError:  # the comment was deleted since the comments were read
            return
        if is_identity(reaction.author, self.policy.publisher):
            return
        self.writer.remove_reaction(action.comment_id, reaction.id)
        expected = ", ".join(self.policy.publisher) or "none"
        raise WrongIdentityError(
            f"The token reacts as {reaction.author.login}, but the policy's publishing identity is {expected}, so infx "
            "would not find its reactions again. The new reaction was removed.",
            hint=f"Put {reaction.author.login!r} first under identities in the policy, or use that identity's token.",
        )

    def _cancel(self, run_id: int) -> None:
        self.writer.write_then_look(  # until the run has ended: it uses GPU time
            lambda: self.writer.cancel_run(run_id), lambda: self.writer.run(run_id).is_completed or None
        )

    def _create(self, pull: int, body: str) -> Comment:
        comment = self.writer.create_comment(pull, body)
        if is_identity(comment.author, self.policy.identities):
            return comment
        self.writer.delete_comment(comment.id)
        login = comment.author.login
        raise WrongIdentityError(
            f"The token writes as {login}, which is not among the identities of the policy, so infx would not find "
            "its comments again. The new comment was deleted.",
            hint=f"Put {login!r} first under identities in the policy, in place of the former identity.",
        )

    def _update(self, action: UpdateComment) -> Comment | None:
        try:
            self.writer.edit_comment(action.id, action.body)
        except NotFoundError:  # deleted since the comments were read
            return self._create(action.pull, action.body)
        return None

    def _look_back(
        self, created: dict[str, Comment], stickies: Sequence[Sticky], outcome: WriteOutcome
    ) -> None:
        """Delete duplicates: if two runs created a comment at once, both delete the newer comment."""
        new_comments = {comment.id: comment for comment in created.values()}
        first = new_comments[min(new_comments)]
        listed = self.writer.issue_comments(first.pull_number, since=first.created_at - LOOK_BACK)
        # GitHub's list may not contain the new comments yet.
        comments = new_comments | {comment.id: comment for comment in listed}
        wanted = [sticky for sticky in stickies if sticky.key in created]
        for action in plan_comments(wanted, first.pull_number, tuple(comments.values()), self.policy):
            self._do(action)
            outcome.done.append(action)


def _key(action: Action) -> str:
    assert isinstance(action, CommentAction)
    return action.key
