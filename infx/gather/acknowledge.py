"""Read what the answers to reuse commands depend on; a conversation without commands takes no request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from infx.github.errors import NotFoundError
from infx.model import Comment, PullRequest, Reaction
from infx.policy.model import Policy
from infx.reconcile.acknowledge import find_answered
from infx.reconcile.facts import PlacedReaction, ReuseRequests
from infx.records import record
from infx.reuse.command import find_associated
from infx.reuse.decide import find_request
from infx.reuse.facts import ReuseFacts


class ReuseAsker(Protocol):
    """Gathers the facts of reuse; `infx.gather.reuse` implements it."""

    def ask(self, pull: PullRequest, comments: Sequence[Comment], *, tip: str | None) -> ReuseFacts: ...


class ReactionReader(Protocol):
    def reactions(self, comment_id: int) -> list[Reaction]: ...


@record
class RequestReader:
    """Reads the reuse commands of a pull request, and the reactions to them.

    Attributes:
        asker: None without a clone, without which a decision would differ.
        tip: the fetched base branch's; None without a clone.
    """

    reader: ReactionReader
    policy: Policy
    asker: ReuseAsker | None
    tip: str | None

    def read(self, pull: PullRequest, comments: Sequence[Comment]) -> ReuseRequests | None:
        """Return the commands and the reactions; None if the answers stay as they are."""
        if pull.is_merged:  # the answers belong to the history of the merge
            return None
        can_count = pull.is_open and pull.base_ref == self.policy.base_branch
        commands = find_associated(comments, self.policy.reuse) if can_count else []
        facts = None
        if commands:
            if self.asker is None:
                return None
            facts = self.asker.ask(pull, [command.comment for command in reversed(commands)], tip=self.tip)
        counting = None if facts is None else find_request(facts.pulls[0], facts, self.policy)
        answered = find_answered(comments, counting.comment.id if counting else None, self.policy)
        reactions = tuple(placed for comment_id in answered for placed in self._list(comment_id))
        return ReuseRequests(facts=facts, reactions=reactions)

    def _list(self, comment_id: int) -> list[PlacedReaction]:
        try:
            reactions = self.reader.reactions(comment_id)
        except NotFoundError:  # GitHub at times answers 404 for things that exist
            reactions = self.reader.reactions(comment_id)
        return [PlacedReaction(comment_id=comment_id, reaction=reaction) for reaction in reactions]
