"""Is this comment a sign-off, and may it start a verification?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from infx.markdown import BlockKind, read_blocks
from infx.model import Collaborator, Comment, CommentKind, PullRequest, ReviewState
from infx.signoff.checklist import starts_with_phrase

_SAID = {ReviewState.APPROVED, ReviewState.CHANGES_REQUESTED, ReviewState.COMMENTED}  # and not taken back


def find_scope_refusal(pull: PullRequest, base_branch: str) -> str | None:
    """Why nothing is said about a pull request's sign-offs; None if they are verified.

    What stood there when it was closed stays. One against another branch is not judged by that branch's owners: its
    status would stand on the same commit as that of a pull request against the right one.
    """
    if not pull.is_open:
        return f"#{pull.number} is closed."
    if pull.base_ref != base_branch:
        return f"#{pull.number} is against {pull.base_ref}; sign-offs are for {base_branch}."
    return None


def find_refusal(comment: Comment, phrase: str) -> str | None:
    """Why a comment is no sign-off that could be verified; None if it is one."""
    if not comment.author.is_human:
        return f"{comment.author.login} is no person; only people sign."
    return find_missing_part(comment.body, phrase)


def find_missing_part(body: str, phrase: str) -> str | None:
    """What a text lacks to be a sign-off; None if it is one. Quotes, code and hidden HTML do not count."""
    if phrase.split(maxsplit=1)[0].casefold() not in body.casefold():
        return "It does not have the phrase that makes a sign-off."
    blocks = read_blocks(body)
    if not any(
        block.kind is BlockKind.PARAGRAPH and block.depth == 0 and starts_with_phrase(block.text, phrase)
        for block in blocks
    ):
        return f"No paragraph of it starts with {phrase!r}, outside of quotes and code."
    if not any(block.is_task for block in blocks):
        return "It has no task list."
    return None


def find_outdated(comments: Iterable[Comment]) -> dict[int, str]:
    """Reviews that say nothing any more, by their ids, each with the reason. Of one person the newest counts, whatever
    became of it: what is dismissed or drafted revives none before it. What merely carries comments on lines, and
    has no words of its own, is none.
    """
    newest: dict[str, Comment] = {}
    reviews = [comment for comment in comments if comment.kind is CommentKind.REVIEW]
    for review in sorted(reviews, key=lambda review: (review.created_at, review.id)):
        if review.review_state is not ReviewState.COMMENTED or review.body.strip():
            newest[review.author.login.lower()] = review
    outdated = {}
    for review in reviews:
        latest = newest.get(review.author.login.lower())
        if review.review_state not in _SAID:
            outdated[review.id] = f"The review is {(review.review_state or 'of no state').lower()}."
        elif latest is not None and latest.id != review.id:
            outdated[review.id] = f"{review.author.login} has written another review since."
    return outdated


def find_tampered_signoffs(
    signoffs: Sequence[Comment], editors: Mapping[str, str]
) -> tuple[tuple[Comment, str], ...]:
    """Sign-offs that somebody else has edited last, each with the reason that it is none. editors: by node id."""
    edited = [(signoff, editors.get(signoff.node_id)) for signoff in signoffs]
    return tuple(
        (signoff, f"{editor} edited it last; a sign-off is in its author's own words.")
        for signoff, editor in edited
        if editor and editor.lower() != signoff.author.login.lower()
    )


def find_signer_refusal(signer: Collaborator | None, login: str) -> str | None:
    """Why a person's sign-off starts nothing; None if it does. What could not be read counts against it."""
    if signer is None or not signer.is_known:
        return f"What {login} may do here could not be read."
    if not signer.can_write:
        return (
            f"{login} has the role {signer.role or 'none'} here; a sign-off takes write, maintain or admin."
        )
    return None
