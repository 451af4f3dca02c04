"""Decide whether a comment is a sign-off that may be verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from infx.markdown import BlockKind, parse_markdown
from infx.model import Collaborator, Comment, CommentKind, PullRequest, ReviewState
from infx.signoff.checklist import starts_with_phrase

_SUBMITTED = {ReviewState.APPROVED, ReviewState.CHANGES_REQUESTED, ReviewState.COMMENTED}


def find_scope_refusal(pull: PullRequest, base_branch: str) -> str | None:
    """Return why a pull request's sign-offs are not verified; None if they are.

    Comments and statuses of a closed pull request stay as they were.
    """
    if not pull.is_open:
        return f"#{pull.number} is closed."
    # A status belongs to a commit, and a pull request into another branch may have the same commit.
    if pull.base_ref != base_branch:
        return (
            f"#{pull.number} targets {pull.base_ref}; only pull requests into {base_branch} are signed off."
        )
    return None


def find_refusal(comment: Comment, phrase: str) -> str | None:
    """Return why a comment is not a valid sign-off; None if it is valid."""
    if not comment.author.is_human:
        return f"{comment.author.login} is not a person; only people can sign."
    return find_missing_part(comment.body, phrase)


def find_missing_part(body: str, phrase: str) -> str | None:
    """Return what a text lacks to be a sign-off, outside of quotes, code and hidden HTML; None if nothing."""
    if phrase.split(maxsplit=1)[0].casefold() not in body.casefold():
        return "It does not contain the phrase of a sign-off."
    blocks = parse_markdown(body)
    if not any(
        block.kind is BlockKind.PARAGRAPH and block.depth == 0 and starts_with_phrase(block.text, phrase)
        for block in blocks
    ):
        return f"No paragraph outside of quotes and code starts with {phrase!r}."
    if not any(block.is_task for block in blocks):
        return "It has no task list."
    return None


def find_outdated(comments: Iterable[Comment]) -> dict[int, str]:
    """Return the reviews that no longer count, by id, each with the reason.

    Only a person's newest review counts. If it is dismissed or a draft, no older review takes its place.
    A review that only carries comments on lines, without text of its own, is ignored.
    """
    newest: dict[str, Comment] = {}
    reviews = [comment for comment in comments if comment.kind is CommentKind.REVIEW]
    for review in sorted(reviews, key=lambda review: (review.created_at, review.id)):
        if review.review_state is not ReviewState.COMMENTED or review.body.strip():
            newest[review.author.login.lower()] = review
    outdated = {}
    for review in reviews:
        latest = newest.get(review.author.login.lower())
        if review.review_state not in _SUBMITTED:
            outdated[review.id] = f"The review is {(review.review_state or 'in an unknown state').lower()}."
        elif latest is not None and latest.id != review.id:
            outdated[review.id] = f"{review.author.login} has written a newer review."
    return outdated


def find_tampered_signoffs(
    signoffs: Sequence[Comment], editors: Mapping[str, str]
) -> tuple[tuple[Comment, str], ...]:
    """Return sign-offs last edited by someone other than their author, with the reason for rejecting each.

    editors: who edited a comment last, by node id.
    """
    edited = [(signoff, editors.get(signoff.node_id)) for signoff in signoffs]
    return tuple(
        (signoff, f"{editor} edited it last; only its author may edit a sign-off.")
        for signoff, editor in edited
        if editor and editor.lower() != signoff.author.login.lower()
    )


def find_signer_refusal(signer: Collaborator | None, login: str) -> str | None:
    """Return why a person may not sign off; None if the person may. An unknown role counts as missing."""
    if signer is None or not signer.is_known:
        return f"The role of {login} could not be read."
    if not signer.can_write:
        return f"{login} has the role {signer.role or 'none'}; a sign-off requires write, maintain or admin."
    return None
