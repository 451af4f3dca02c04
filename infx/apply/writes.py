"""Planned writes, carried out: one request each, and nothing is sent twice before anybody looked.

A write whose outcome nobody knows ends the work on that pull request; the next reconciliation looks and goes on. Only
a run that is to be cancelled is looked at at once.
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
from infx.model import GHOST, Comment, CommitStatus, Run, StatusState, User
from infx.policy.identity import is_identity
from infx.policy.model import Policy
from infx.reconcile.actions import (
    Action,
    CancelRun,
    CommentAction,
    CreateComment,
    DeleteComment,
    PushCommit,
    SetStatus,
    UpdateComment,
)
from infx.reconcile.desired import plan_comments

_T = TypeVar("_T")

LOOK_BACK = timedelta(hours=1)  # longer than the longest wait between reading the comments and creating one


class WrongIdentityError(InfxError):
    """Our own comments would not be recognized again."""


class Writer(Protocol):
    """Requests that change something."""

    def issue_comments(self, number: int, *, since: datetime | None = None) -> list[Comment]: ...
    def create_comment(self, number: int, body: str) -> Comment: ...
    def edit_comment(self, comment_id: int, body: str) -> Comment: ...
    def delete_comment(self, comment_id: int) -> None: ...
    def create_status(
        self, sha: str, *, context: str, state: StatusState, description: str, target_url: str = ""
    ) -> CommitStatus: ...
    def cancel_run(self, run_id: int) -> bool: ...
    def run(self, run_id: int) -> Run: ...
    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T: ...


@dataclass
class WriteOutcome:
    """done: in order. refused: writes that GitHub does not let us make, and what it said."""

    done: list[Action] = field(default_factory=list)
    refused: list[tuple[Action, InfxError]] = field(default_factory=list)


@dataclass
class Applier:
    """push: carries out a PushCommit; None where nothing may be pushed."""

    writer: Writer
    policy: Policy
    push: Callable[[PushCommit], None] | None = None

    def apply(self, actions: Sequence[Action], stickies: Sequence[Sticky], outcome: WriteOutcome) -> None:
        """What was done goes into `outcome` as it happens, so that it is known even if a later write fails.

        After a comment was created one look tells whether somebody else created the same in the meantime.
        """
        denied: dict[str, PermissionDeniedError] = {}  # what the same permission covers is not tried again
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
        """The comment that was created, if one was."""
        match action:
            case CreateComment():
                return self._create(action.pull, action.body)
            case UpdateComment():
                return self._update(action)
            case DeleteComment():
                self.writer.delete_comment(action.id)
            case SetStatus():
                status = action.status
                made = self.writer.create_status(
                    action.sha,
                    context=status.context,
                    state=status.state,
                    description=status.description,
                    target_url=status.target_url,
                )
                self._check_publisher(made.creator)
            case CancelRun():
                self._cancel(action.run_id)
            case PushCommit() if self.push is not None:
                self.push(action)
        return None

    def _check_publisher(self, creator: User) -> None:
        """GitHub says who we are only after a write; a status cannot be taken back."""
        if creator != GHOST and not is_identity(creator, self.policy.publisher):
            expected = ", ".join(self.policy.publisher) or "none"
            raise WrongIdentityError(
                f"The token writes statuses as {creator.login}, but the identity that publishes is {expected}, so it "
                "would not be believed.",
                hint=f"Put {creator.login!r} first under identities in the policy, or use that one's token.",
            )

    def _cancel(self, run_id: int) -> None:
        """Until the run is seen to end: GPU time is at stake."""
        self.writer.write_then_look(
            lambda: self.writer.cancel_run(run_id), lambda: self.writer.run(run_id).is_completed or None
        )

    def _create(self, pull: int, body: str) -> Comment:
        comment = self.writer.create_comment(pull, body)
        if is_identity(comment.author, self.policy.identities):
            return comment
        self.writer.delete_comment(comment.id)
        login = comment.author.login
        raise WrongIdentityError(
            f"The token writes as {login}, which is not the policy's identity for it, so its comments would never be "
            "found again. The comment was taken back.",
            hint=f"Put {login!r} first under identities in the policy, in the place of what published before.",
        )

    def _update(self, action: UpdateComment) -> Comment | None:
        try:
            self.writer.edit_comment(action.id, action.body)
        except NotFoundError:  # deleted since we looked
            return self._create(action.pull, action.body)
        return None

    def _look_back(
        self, created: dict[str, Comment], stickies: Sequence[Sticky], outcome: WriteOutcome
    ) -> None:
        """Of two that were created at once both see two, keep the older and delete the younger.

        Ours are there whatever the list says: it may lag behind.
        """
        ours = {comment.id: comment for comment in created.values()}
        first = ours[min(ours)]
        seen = self.writer.issue_comments(first.pull_number, since=first.created_at - LOOK_BACK)
        now = ours | {comment.id: comment for comment in seen}
        wanted = [sticky for sticky in stickies if sticky.key in created]
        for action in plan_comments(wanted, first.pull_number, tuple(now.values()), self.policy):
            self._do(action)
            outcome.done.append(action)


def _key(action: Action) -> str:
    assert isinstance(action, CommentAction)
    return action.key
