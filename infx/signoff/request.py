"""Is this comment a sign-off, and may it start a verification?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from infx.errors import InfxError
from infx.markdown import BlockKind, read_blocks
from infx.model import Collaborator, Comment, CommentKind, PullRequest
from infx.signoff.checklist import starts_with_phrase

_FRAGMENT = re.compile(r"(?P<kind>issuecomment-|pullrequestreview-|discussion_r)(?P<id>[1-9][0-9]{0,17})")
_KINDS = {
    "issuecomment-": CommentKind.ISSUE,
    "pullrequestreview-": CommentKind.REVIEW,
    "discussion_r": CommentKind.REVIEW_COMMENT,
}


class CommentUrlError(InfxError):
    """An address that names no comment of this repository's pull requests, or not the one it leads to."""


@dataclass(frozen=True, kw_only=True)
class CommentRef:
    """One comment, as its address names it."""

    kind: CommentKind
    pull: int
    id: int


def parse_comment_url(url: str, repository: str, server: str = "https://github.com") -> CommentRef:
    """The comment that an address names, strictly: this server, this repository, one of three forms, no more.

    Raises CommentUrlError.
    """
    forms = "#issuecomment-<id>, #pullrequestreview-<id> or #discussion_r<id>"
    wanted = f"{server}/{repository}/pull/<number> followed by {forms}"
    match = re.fullmatch(r"(https?://[^/\s]+)/([^/\s]+/[^/\s]+)/pull/([1-9][0-9]{0,9})#(\S+)", url)
    if match is None or match[1].lower() != server.rstrip("/").lower():
        raise CommentUrlError(f"{url!r} is no address of a comment. Expected {wanted}.")
    if match[2].lower() != repository.lower():
        raise CommentUrlError(f"The address names the repository {match[2]}; expected {repository}.")
    fragment = _FRAGMENT.fullmatch(match[4])
    if fragment is None:
        raise CommentUrlError(f"{match[4]!r} names no comment. Expected {forms}.")
    return CommentRef(kind=_KINDS[fragment["kind"]], pull=int(match[3]), id=int(fragment["id"]))


def check_comment(ref: CommentRef, comment: Comment) -> None:
    """Does the comment that the id leads to belong to the pull request that the address names?"""
    if (comment.kind, comment.id) != (ref.kind, ref.id):
        raise CommentUrlError(f"Asked for {ref.kind} {ref.id}, got {comment.kind} {comment.id}.")
    if comment.pull_number != ref.pull:
        raise CommentUrlError(
            f"The comment {ref.id} belongs to #{comment.pull_number}, not to #{ref.pull} as the address says.",
            hint="Copy the address from the comment itself.",
        )


def find_refusal(comment: Comment, pull: PullRequest, phrase: str) -> str | None:
    """Why a comment is no sign-off that could be verified; None if it is one."""
    if not comment.author.is_human:
        return f"{comment.author.login} is no person; only people sign."
    if not pull.is_open:
        return f"#{pull.number} is closed."
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


def find_signer_refusal(signer: Collaborator | None, login: str) -> str | None:
    """Why a person's sign-off starts nothing; None if it does. What could not be read counts against it."""
    if signer is None:
        return f"What {login} may do here could not be read."
    if not signer.can_write:
        return (
            f"{login} has the role {signer.role or 'none'} here; a sign-off takes write, maintain or admin."
        )
    return None
