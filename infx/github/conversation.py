"""Requests about comments on a pull request, of all three kinds, and about reactions to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from infx.errors import UsageError
from infx.github import convert
from infx.github.endpoints import Endpoints
from infx.github.errors import MismatchError, NotFoundError, UnexpectedReplyError
from infx.model import Comment, CommentKind, CommentReference, Reaction

_EDITORS = "query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Comment { lastEditedAt editor { __typename login } } } }"
_WORDS = {
    CommentKind.ISSUE: "comment in the conversation",
    CommentKind.REVIEW: "review",
    CommentKind.REVIEW_COMMENT: "comment on a line of a file",
}


class Conversation(Endpoints):
    def issue_comments(self, number: int, *, since: datetime | None = None, recent: int = 0) -> list[Comment]:
        """Read the comments in the conversation, oldest first.

        Args:
            since: only comments that changed at this time or later.
            recent: the pull request's own count of its comments.
        """
        parameters = {"since": None if since is None else since.isoformat()}
        return self._list(
            convert.parse_issue_comment, "issues", number, "comments", parameters=parameters, recent=recent
        )

    def reviews(self, number: int) -> list[Comment]:
        """Read reviews in any state, oldest first; GitHub hides draft reviews of other accounts."""
        return self._list(convert.parse_review, "pulls", number, "reviews", twice=True)

    def review_comments(self, number: int) -> list[Comment]:
        """Read comments on lines of files, oldest first."""
        return self._list(convert.parse_review_comment, "pulls", number, "comments", twice=True)

    def comment(self, reference: CommentReference) -> Comment:
        """Read one comment, from the endpoint of its kind.

        Raises MismatchError if it belongs to another pull request or repository, NotFoundError if there is no
        comment of that kind.
        """
        if reference.repository.lower() != self.repository.lower():
            message = f"The comment belongs to {reference.repository}, not to {self.repository}."
            raise MismatchError(message, hint="Give the URL of a comment on this pull request.")
        try:
            comment = self._fetch(reference)
        except NotFoundError as error:
            dash = "" if reference.kind is CommentKind.REVIEW_COMMENT else "-"
            name = f"#{reference.kind}{dash}{reference.id}"
            error.message = f"There is no {_WORDS[reference.kind]} {reference.id} ({name})."
            error.hint = "Copy the whole URL: comments, reviews and review comments are numbered separately."
            raise
        if comment.pull_number != reference.pull_number:
            raise MismatchError(
                f"The comment {reference.id} belongs to pull request {comment.pull_number}, "
                f"not to {reference.pull_number}.",
                hint="Copy the URL from the pull request's own page.",
            )
        return comment

    def _fetch(self, reference: CommentReference) -> Comment:
        match reference.kind:
            case CommentKind.ISSUE:
                return self._get(convert.parse_issue_comment, "issues", "comments", reference.id)
            case CommentKind.REVIEW_COMMENT:
                return self._get(convert.parse_review_comment, "pulls", "comments", reference.id)
            case CommentKind.REVIEW:
                return self._get(
                    convert.parse_review, "pulls", reference.pull_number, "reviews", reference.id
                )

    def editors(self, comments: Sequence[Comment]) -> dict[str, str]:
        """Return node id → login of the last editor, for those of the comments that were edited.

        A deleted account is `ghost`. Raises UnexpectedReplyError if the answer lacks a comment.
        """
        # REST does not have the editor. Everyone with write access may edit other people's comments, so a
        # comment without an answer must not be trusted.
        ids = [comment.node_id for comment in comments]
        data = self._seek(lambda: self.connection.query(_EDITORS, {"ids": ids}))
        if data is None or [node["id"] for node in data.get("nodes") or () if node] != ids:
            raise UnexpectedReplyError("GitHub's answer does not say for every comment who edited it.")
        return convert.convert(convert.parse_editors, data)

    def create_comment(self, number: int, body: str) -> Comment:
        """Create a comment and return it as GitHub stored it; its author is the token's account."""
        data = self._write("POST", "issues", number, "comments", body={"body": body})
        return convert.convert(convert.parse_issue_comment, data)

    def edit_comment(self, comment_id: int, body: str) -> Comment:
        """Replace the body of an issue comment. Raises NotFoundError if it was deleted."""
        try:
            data = self._write("PATCH", "issues", "comments", comment_id, body={"body": body})
        except NotFoundError as error:
            self._must_be_gone(error, "issues", "comments", comment_id)
            raise
        return convert.convert(convert.parse_issue_comment, data)

    def delete_comment(self, comment_id: int) -> None:
        """Delete an issue comment, unless it was deleted already."""
        try:
            self._write_silently("DELETE", "issues", "comments", comment_id, expect=204)
        except NotFoundError as error:
            self._must_be_gone(error, "issues", "comments", comment_id)

    def reactions(self, comment_id: int) -> list[Reaction]:
        """Read the reactions to an issue comment, oldest first."""
        return self._list(convert.parse_reaction, "issues", "comments", comment_id, "reactions")

    def add_reaction(self, comment_id: int, content: str) -> Reaction:
        """React with `+1`, `-1`, `eyes`, …; GitHub keeps one reaction of a kind and account.

        Raises NotFoundError if the comment was deleted.
        """
        path = ("issues", "comments", comment_id)
        try:
            data = self._write("POST", *path, "reactions", body={"content": content})
        except NotFoundError as error:
            self._must_be_gone(error, *path)
            raise
        return convert.convert(convert.parse_reaction, data)

    def remove_reaction(self, comment_id: int, reaction_id: int) -> None:
        """Remove one of the token's own reactions from an issue comment, unless it was removed already."""
        path = ("issues", "comments", comment_id, "reactions")
        try:
            self._write_silently("DELETE", *path, reaction_id, expect=204)
        except NotFoundError as error:
            present = self._seek(lambda: self.reactions(comment_id)) or ()
            if any(reaction.id == reaction_id for reaction in present):
                raise UnexpectedReplyError(f"{error.message} But it exists.", status=404) from error


def parse_comment_url(url: str, *, server: str = "https://github.com") -> CommentReference:
    """Parse the URL of a comment, in one of GitHub's three forms. Raises UsageError for anything else."""
    fragments = "issuecomment-|discussion_r|pullrequestreview-"
    pattern = rf"{re.escape(server)}/([\w.-]+/[\w.-]+)/pull/([1-9]\d{{0,17}})(?:/files)?#({fragments})([1-9]\d{{0,17}})"
    match = re.fullmatch(pattern, url, re.ASCII)
    if match is None:
        forms = ", ".join(
            f"#{kind}{'' if kind is CommentKind.REVIEW_COMMENT else '-'}N" for kind in CommentKind
        )
        raise UsageError(
            f"{url[:200]!r} is not the URL of a comment on a pull request; expected "
            f"{server}/owner/name/pull/N and one of {forms}.",
            hint="Use `Copy link` in the comment's menu.",
        )
    repository, number, fragment, comment_id = match.groups()
    return CommentReference(
        repository=repository,
        pull_number=int(number),
        kind=CommentKind(fragment.rstrip("-")),
        id=int(comment_id),
    )
