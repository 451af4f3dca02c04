"""Actions on comments, reviews and reactions."""

from __future__ import annotations

from infx.hub import render
from infx.hub.pulls import PullActions
from infx.hub.state import Comment, Reaction
from infx.hub.world import locked
from infx.model import CommentKind

_FIRST_IDS = {CommentKind.ISSUE: 11001, CommentKind.REVIEW: 13001, CommentKind.REVIEW_COMMENT: 12001}


class ConversationActions(PullActions):
    @locked
    def comment(
        self, number: int, body: str | None, *, by: str | None = "cody", comment_id: int | None = None
    ) -> Comment:
        """Add a comment to the conversation. by: None for a deleted account."""
        comment = self._add(CommentKind.ISSUE, number, body, by, comment_id)
        self.emit("issue_comment", "created", by or "ghost", self._payload(comment))
        return comment

    @locked
    def edit_comment(self, comment_id: int, body: str, *, by: str | None = None) -> Comment:
        comment = self.state.comments[CommentKind.ISSUE, comment_id]
        before, comment.body = comment.body, body
        comment.updated_at = self.now()
        self.touch(self.state.pulls[comment.pull])
        changes = {"body": {"from": before or ""}}
        sender = comment.editor = by or comment.author or "ghost"
        self.emit("issue_comment", "edited", sender, {**self._payload(comment), "changes": changes})
        return comment

    @locked
    def delete_comment(self, comment_id: int, *, by: str = "mia") -> None:
        comment = self.state.comments.pop((CommentKind.ISSUE, comment_id))
        self.emit("issue_comment", "deleted", by, self._payload(comment))

    @locked
    def review(
        self, number: int, body: str, *, state: str = "COMMENTED", by: str = "amy", sha: str | None = None
    ) -> Comment:
        """Submit a review. sha: the head that it is about; the pull request's head by default."""
        comment = self._add(CommentKind.REVIEW, number, body, by, None)
        comment.state = state
        comment.commit_sha = sha or self.state.pulls[number].head_sha
        self.emit("pull_request_review", "submitted", by, self._review_payload(comment))
        return comment

    @locked
    def edit_review(self, review_id: int, body: str, *, by: str | None = None) -> Comment:
        review = self.state.comments[CommentKind.REVIEW, review_id]
        review.body, review.updated_at = body, self.now()
        sender = review.editor = by or review.author or "ghost"
        self.emit("pull_request_review", "edited", sender, self._review_payload(review))
        return review

    @locked
    def dismiss_review(self, review_id: int, *, by: str = "mia") -> None:
        review = self.state.comments[CommentKind.REVIEW, review_id]
        review.state = "DISMISSED"
        self.emit("pull_request_review", "dismissed", by, self._review_payload(review))

    @locked
    def review_comment(self, number: int, body: str, *, path: str, line: int = 1, by: str = "amy") -> Comment:
        """Add a comment on a line of a file."""
        comment = self._add(CommentKind.REVIEW_COMMENT, number, body, by, None)
        comment.path, comment.line = path, line
        comment.commit_sha = self.state.pulls[number].head_sha
        pull = self.state.pulls[number]
        payload = {
            "comment": render.review_comment(self, comment),
            "pull_request": render.pull(self, pull),
        }
        self.emit("pull_request_review_comment", "created", by, payload)
        return comment

    @locked
    def react(self, comment_id: int, content: str, *, by: str) -> tuple[Reaction, bool]:
        """Add an account's reaction; return it, and whether it is new."""
        comment = self.state.comments[CommentKind.ISSUE, comment_id]
        self.account(by)
        for known in comment.reactions:
            if (known.author, known.content) == (by, content):
                return known, False
        reaction = Reaction(
            id=self.next_id("reaction", 3001), content=content, author=by, created_at=self.now()
        )
        comment.reactions.append(reaction)
        return reaction, True

    @locked
    def unreact(self, comment_id: int, reaction_id: int) -> None:
        comment = self.state.comments[CommentKind.ISSUE, comment_id]
        comment.reactions = [reaction for reaction in comment.reactions if reaction.id != reaction_id]

    def _add(
        self, kind: CommentKind, number: int, body: str | None, by: str | None, comment_id: int | None
    ) -> Comment:
        pull = self.state.pulls[number]
        if by is not None:
            self.account(by)
        now = self.now()
        comment = Comment(
            id=comment_id or self.next_id(kind, _FIRST_IDS[kind]),
            kind=kind,
            pull=number,
            author=by,
            body=body,
            created_at=now,
            updated_at=now,
        )
        self.state.comments[kind, comment.id] = comment
        self.touch(pull)
        return comment

    def comments_of(self, number: int, kind: CommentKind = CommentKind.ISSUE) -> list[Comment]:
        """Return the comments of one kind on a pull request, oldest first."""
        comments = [c for c in self.state.comments.values() if c.kind is kind and c.pull == number]
        return sorted(comments, key=lambda comment: comment.id)

    def all_comments_of(self, number: int) -> list[Comment]:
        """Return the comments of all kinds on a pull request."""
        return [comment for comment in self.state.comments.values() if comment.pull == number]

    def _payload(self, comment: Comment) -> dict[str, object]:
        pull = self.state.pulls[comment.pull]
        return {"issue": render.issue(self, pull), "comment": render.issue_comment(self, comment)}

    def _review_payload(self, review: Comment) -> dict[str, object]:
        pull = self.state.pulls[review.pull]
        shown = render.review(self, review)
        # events spell the state in lower case, the API in capitals
        return {
            "review": {**shown, "state": shown["state"].lower()},
            "pull_request": render.pull(self, pull),
        }
