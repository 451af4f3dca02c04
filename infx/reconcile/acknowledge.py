"""Decide infx's answer to reuse commands: a thumb on the comment that counts, and on no other comment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from infx.model import GHOST, THUMBS_DOWN, THUMBS_UP, Comment, CommentKind
from infx.policy.identity import is_identity
from infx.policy.model import Policy
from infx.reconcile.actions import AddReaction, RemoveReaction
from infx.reconcile.facts import PlacedReaction
from infx.records import record
from infx.reuse.decision import ReuseDecision, ReuseVerdict

THUMBS = frozenset({THUMBS_UP, THUMBS_DOWN})
MAX_ANSWERED = 5  # comments, other than the one that counts, whose reactions are read


@record
class Acknowledgement:
    """The thumb that a comment should carry."""

    comment_id: int
    content: str


def acknowledge(decision: ReuseDecision | None) -> Acknowledgement | None:
    """Return the answer to the command that counts: up if a run is reused, else down; None without such a command."""
    if decision is None or decision.command is None:
        return None
    content = THUMBS_UP if decision.verdict is ReuseVerdict.REUSE else THUMBS_DOWN
    return Acknowledgement(comment_id=decision.command.comment.id, content=content)


def plan_reactions(
    wanted: Acknowledgement | None, reactions: Iterable[PlacedReaction], number: int, policy: Policy
) -> list[RemoveReaction | AddReaction]:
    """Return the writes after which only the wanted thumb is left of infx's own; people's are never touched.

    Args:
        number: the pull request.
    """
    # GitHub lets an account remove only its own reactions, and infx publishes as the first identity.
    own = [
        placed
        for placed in reactions
        if placed.reaction.content in THUMBS and is_identity(placed.reaction.author, policy.publisher)
    ]
    wrong = [placed for placed in own if not _is_wanted(placed, wanted)]
    actions: list[RemoveReaction | AddReaction] = [
        RemoveReaction(
            pull=number,
            comment_id=placed.comment_id,
            id=placed.reaction.id,
            content=placed.reaction.content,
        )
        for placed in wrong
    ]
    if wanted is not None and len(own) == len(wrong):
        actions.append(AddReaction(pull=number, comment_id=wanted.comment_id, content=wanted.content))
    return actions


def _is_wanted(placed: PlacedReaction, wanted: Acknowledgement | None) -> bool:
    return wanted is not None and (placed.comment_id, placed.reaction.content) == (
        wanted.comment_id,
        wanted.content,
    )


def find_answered(comments: Sequence[Comment], counting: int | None, policy: Policy) -> list[int]:
    """Return the ids of comments that may carry a thumb of infx for a reuse command, the one that counts first.

    Args:
        counting: the id of the comment that counts.
    """
    others = [
        comment.id for comment in comments if comment.id != counting and _may_be_answered(comment, policy)
    ]
    newest = sorted(others, reverse=True)[:MAX_ANSWERED]
    return newest if counting is None else [counting, *newest]


def _may_be_answered(comment: Comment, policy: Policy) -> bool:
    """Return whether a person's comment with a thumb names a reuse command, or may have named one before an edit."""
    is_person = comment.author.is_human or comment.author == GHOST  # whose account was deleted since
    if comment.kind is not CommentKind.ISSUE or not is_person:
        return False
    if comment.reactions is not None and THUMBS.isdisjoint(comment.reactions):
        return False
    # infx answers approvals of forks with thumbs as well, and these are final.
    if policy.sweep.approve_command in comment.body:
        return False
    is_edited = comment.editor is not None or comment.updated_at > comment.created_at
    return is_edited or any(word in comment.body for word in policy.reuse.commands)
