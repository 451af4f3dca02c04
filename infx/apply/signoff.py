"""Verification of a pull request's sign-offs, end to end: gather, decide, and bring what stands there in line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from infx.apply.shared_status import agree_on_status
from infx.apply.writes import Applier, WriteOutcome, Writer
from infx.comments.status import DesiredStatus
from infx.errors import InfxError, UnavailableError
from infx.gather.choose import SharedHeads
from infx.gather.signoff import SignoffGatherer
from infx.github.errors import RateLimitError
from infx.model import CommentReference, CommitStatus, PullRequest, StatusState
from infx.policy.model import Policy
from infx.reconcile.actions import Action, DeleteComment, SetStatus
from infx.reconcile.desired import plan_comments
from infx.signoff.decide import SignoffDecision, SkippedPull, decide_signoffs
from infx.signoff.request import find_scope_refusal

_S = TypeVar("_S")
_T = TypeVar("_T")


class SignoffWriter(Writer, Protocol):
    """What is written, and what is looked at before."""

    def pull(self, number: int) -> PullRequest: ...
    def statuses(self, sha: str) -> list[CommitStatus]: ...
    def look_then_write(self, look: Callable[[], _S], write: Callable[[_S], _T]) -> _T: ...


@dataclass(frozen=True, kw_only=True)
class Verifier:
    """shared: finds the other pull requests of a head, because a commit has one status."""

    gatherer: SignoffGatherer
    github: SignoffWriter
    policy: Policy
    shared: SharedHeads

    def verify(self, number: int, only: CommentReference | None = None) -> SignoffDecision | SkippedPull:
        """Every sign-off of a pull request. only: raise if this comment is not one of them."""
        found = self.gatherer.gather(number, only)
        return found if isinstance(found, SkippedPull) else decide_signoffs(found, self.policy)

    def verify_and_publish(
        self, number: int, only: CommentReference | None, outcome: WriteOutcome
    ) -> SignoffDecision | SkippedPull:
        """What was found, once it stands there; what was written goes into `outcome` as it happens."""

        def write(found: SignoffDecision | SkippedPull) -> SignoffDecision | SkippedPull:
            if isinstance(found, SignoffDecision):
                self.publish(found, outcome)
            return found

        def look() -> SignoffDecision | SkippedPull:
            found = self.verify(number, only)
            return self._agree(found) if isinstance(found, SignoffDecision) else found

        return self.github.look_then_write(look, write)

    def _agree(self, decided: SignoffDecision) -> SignoffDecision:
        """Return the decision with the least favorable status of all open pull requests that have this head."""
        if decided.status is None:
            return decided
        own, unread = decided.status, list(decided.unread)

        def ask(number: int) -> tuple[str, DesiredStatus | None]:
            try:
                other = self.verify(number)
            except RateLimitError:
                raise
            except (
                InfxError
            ) as error:  # the other's comments are its own turn's; the status is never green unseen
                unread.append(f"#{number}, which has the same head: {error.message}")
                unseen = replace(own, state=StatusState.PENDING, description="Could not be read")
                return decided.pull.head_sha, unseen
            return other.pull.head_sha, other.status if isinstance(other, SignoffDecision) else None

        status = agree_on_status(self.shared, decided.pull, own, ask)
        return replace(decided, status=status, unread=tuple(unread))

    def publish(self, decided: SignoffDecision, outcome: WriteOutcome) -> None:
        """Comments and status as they should be; nothing is written where it stands there already, and nothing
        green on a head that is no longer the one that was looked at.
        """
        pull = decided.pull
        live = self.github.pull(pull.number)
        if why := find_scope_refusal(live, self.policy.base_branch):
            raise UnavailableError(f"While #{pull.number} was looked at, it changed: {why}")
        if live.head_sha != pull.head_sha:
            raise UnavailableError(
                f"#{pull.number} was pushed to while it was looked at.", hint="The push starts this again."
            )
        own = replace(self.policy, identities=self.policy.publisher)
        actions: list[Action] = [*plan_comments(decided.stickies, pull.number, decided.comments, own)]
        actions += [
            DeleteComment(pull=pull.number, key="former verdict", id=comment.id) for comment in decided.former
        ]
        if status := decided.status:
            there = decided.statuses
            if there is None:
                there = tuple(self.github.statuses(pull.head_sha))
            if not status.is_published(there, own.identities):
                actions.append(SetStatus(pull=pull.number, sha=pull.head_sha, status=status))
        Applier(self.github, own).apply(actions, decided.stickies, outcome)
