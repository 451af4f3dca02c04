"""Verify the sign-offs of a pull request: gather, decide, and update the comments and the status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
from infx.records import record
from infx.signoff.decide import SignoffDecision, SkippedPull, decide_signoffs
from infx.signoff.request import find_scope_refusal

_S = TypeVar("_S")
_T = TypeVar("_T")


class SignoffWriter(Writer, Protocol):
    """The requests that publishing makes: writes, and the reads that precede them."""

    def pull(self, number: int) -> PullRequest: ...
    def statuses(self, sha: str) -> list[CommitStatus]: ...
    def look_then_write(self, look: Callable[[], _S], write: Callable[[_S], _T]) -> _T: ...


@record
class Verifier:
    """Verifies the sign-offs of pull requests."""

    gatherer: SignoffGatherer
    github: SignoffWriter
    policy: Policy
    shared: SharedHeads

    def verify(self, number: int, only: CommentReference | None = None) -> SignoffDecision | SkippedPull:
        """Verify every sign-off of a pull request, or only one comment; raise if it is not a sign-off."""
        gathered = self.gatherer.gather(number, only)
        return gathered if isinstance(gathered, SkippedPull) else decide_signoffs(gathered, self.policy)

    def verify_and_publish(
        self, number: int, only: CommentReference | None, outcome: WriteOutcome
    ) -> SignoffDecision | SkippedPull:
        """Return the published decision, and record each write in `outcome` as it happens."""

        def write(decision: SignoffDecision | SkippedPull) -> SignoffDecision | SkippedPull:
            if isinstance(decision, SignoffDecision):
                self.publish(decision, outcome)
            return decision

        def look() -> SignoffDecision | SkippedPull:
            decision = self.verify(number, only)
            return self._agree(decision) if isinstance(decision, SignoffDecision) else decision

        return self.github.look_then_write(look, write)

    def _agree(self, decided: SignoffDecision) -> SignoffDecision:
        """Return the decision with the worst status of all open pull requests with this head."""
        if decided.status is None:
            return decided
        own, unread = decided.status, list(decided.unread)

        def ask(number: int) -> tuple[str, DesiredStatus | None]:
            try:
                other = self.verify(number)
            except RateLimitError:
                raise
            except InfxError as error:  # the shared status must not be green without this pull request
                unread.append(f"#{number}, which has the same head: {error.message}")
                unseen = replace(own, state=StatusState.PENDING, description="Could not be read")
                return decided.pull.head_sha, unseen
            return other.pull.head_sha, other.status if isinstance(other, SignoffDecision) else None

        status = agree_on_status(self.shared, decided.pull, own, ask)
        return replace(decided, status=status, unread=tuple(unread))

    def publish(self, decided: SignoffDecision, outcome: WriteOutcome) -> None:
        """Write the comments and the status that differ. Raise if the pull request has changed."""
        pull = decided.pull
        live = self.github.pull(pull.number)
        if why := find_scope_refusal(live, self.policy.base_branch):
            raise UnavailableError(f"#{pull.number} changed while its sign-offs were verified: {why}")
        if live.head_sha != pull.head_sha:
            raise UnavailableError(
                f"#{pull.number} has a new head since its sign-offs were read.",
                hint="Nothing to do: the push starts another verification.",
            )
        own = replace(self.policy, identities=self.policy.publisher)
        actions: list[Action] = [*plan_comments(decided.stickies, pull.number, decided.comments, own)]
        actions += [
            DeleteComment(pull=pull.number, key="former verdict", id=comment.id) for comment in decided.former
        ]
        if status := decided.status:
            present = decided.statuses
            if present is None:
                present = tuple(self.github.statuses(pull.head_sha))
            if not status.is_published(present, own.identities):
                actions.append(SetStatus(pull=pull.number, sha=pull.head_sha, status=status))
        Applier(self.github, own).apply(actions, decided.stickies, outcome)
