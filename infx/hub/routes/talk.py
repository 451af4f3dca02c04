"""Routes for comments of the three kinds, and reactions."""

from __future__ import annotations

from infx.hub import render
from infx.hub.exchange import Answer
from infx.hub.refusal import Refused, refuse_field
from infx.hub.router import Call, Field, paginate, route
from infx.hub.routes.pulls import EITHER_WRITE, READ, REPO, find_pull
from infx.hub.state import Comment
from infx.model import CommentKind

LONGEST_COMMENT = 65_536


def _find(call: Call, kind: CommentKind) -> Comment:
    comment = call.hub.state.comments.get((kind, call.number("id")))
    if comment is None or comment.pull != int(call.arguments.get("number", comment.pull)):
        raise Refused(404, "Not Found")
    return comment


TEXT = {"body": Field(is_required=True)}


def _body(call: Call) -> str:
    body: str = call.body["body"]
    if not body.strip():
        raise refuse_field("Body can't be blank", resource="IssueComment", field="body", code="missing_field")
    if len(body) > LONGEST_COMMENT:
        raise refuse_field(
            f"Body is too long (maximum is {LONGEST_COMMENT} characters)", resource="IssueComment"
        )
    return body


def _check_own(call: Call, author: str | None) -> None:
    """Raise Refused if a person without write access changes another account's comment."""
    if call.login != author and call.is_person_without("write"):
        raise Refused(403, "Resource not accessible by personal access token")


@route("GET", f"{REPO}/issues/{{number:int}}/comments", needs="pull_requests=read")
def list_comments(call: Call) -> Answer:
    """List the comments in the conversation by ascending id."""
    since = call.query.get("since", "").replace("+00:00", "Z")
    comments = [c for c in call.hub.comments_of(find_pull(call).number) if c.updated_at >= since]
    return paginate(call, comments, render=render.issue_comment)


@route(
    "POST",
    f"{REPO}/issues/{{number:int}}/comments",
    needs=EITHER_WRITE,
    role="none",
    resource="IssueComment",
    fields=TEXT,
)
def create_comment(call: Call) -> Answer:
    """Create a comment; in a locked conversation only with write access."""
    pull = find_pull(call)
    if pull.locked and not call.hub.account(call.login).has_role("write"):
        raise Refused(403, "Unable to create comment because issue is locked.")
    comment = call.hub.comment(pull.number, _body(call), by=call.login)
    data = render.issue_comment(call.hub, comment)
    return Answer(status=201, data=data, headers={"Location": data["url"]})


@route("GET", f"{REPO}/issues/comments/{{id:int}}", needs="pull_requests=read")
def get_comment(call: Call) -> Answer:
    return Answer(data=render.issue_comment(call.hub, _find(call, CommentKind.ISSUE)))


@route(
    "PATCH",
    f"{REPO}/issues/comments/{{id:int}}",
    needs=EITHER_WRITE,
    role="none",
    resource="IssueComment",
    fields=TEXT,
)
def edit_comment(call: Call) -> Answer:
    comment = _find(call, CommentKind.ISSUE)
    _check_own(call, comment.author)
    call.hub.edit_comment(comment.id, _body(call), by=call.login)
    return Answer(data=render.issue_comment(call.hub, comment))


@route("DELETE", f"{REPO}/issues/comments/{{id:int}}", needs=EITHER_WRITE, role="none")
def delete_comment(call: Call) -> Answer:
    comment = _find(call, CommentKind.ISSUE)
    _check_own(call, comment.author)
    call.hub.delete_comment(comment.id, by=call.login)
    return Answer(status=204)


@route(
    "POST",
    f"{REPO}/issues/comments/{{id:int}}/reactions",
    needs=EITHER_WRITE,
    role="none",
    resource="Reaction",
    fields={"content": Field(is_required=True, choices=render.REACTIONS)},
)
def add_reaction(call: Call) -> Answer:
    comment = _find(call, CommentKind.ISSUE)
    reaction, is_new = call.hub.react(comment.id, call.body["content"], by=call.login)
    return Answer(status=201 if is_new else 200, data=render.reaction(call.hub, reaction))


@route("GET", f"{REPO}/issues/comments/{{id:int}}/reactions", needs="pull_requests=read")
def list_reactions(call: Call) -> Answer:
    """List the reactions to a comment, oldest first."""
    return paginate(call, _find(call, CommentKind.ISSUE).reactions, render=render.reaction)


@route(
    "DELETE",
    f"{REPO}/issues/comments/{{id:int}}/reactions/{{reaction:int}}",
    needs=EITHER_WRITE,
    role="none",
)
def remove_reaction(call: Call) -> Answer:
    """Remove a reaction of the token's own account."""
    comment = _find(call, CommentKind.ISSUE)
    known = next((one for one in comment.reactions if one.id == call.number("reaction")), None)
    if known is None:
        raise Refused(404, "Not Found")
    if known.author != call.login:
        raise Refused(403, "Resource not accessible by integration")
    call.hub.unreact(comment.id, known.id)
    return Answer(status=204)


@route("GET", f"{REPO}/pulls/{{number:int}}/reviews", needs=READ)
def list_reviews(call: Call) -> Answer:
    reviews = call.hub.comments_of(find_pull(call).number, CommentKind.REVIEW)
    return paginate(call, reviews, render=render.review)


@route("GET", f"{REPO}/pulls/{{number:int}}/reviews/{{id:int}}", needs=READ)
def get_review(call: Call) -> Answer:
    find_pull(call)
    return Answer(data=render.review(call.hub, _find(call, CommentKind.REVIEW)))


@route("GET", f"{REPO}/pulls/{{number:int}}/comments", needs=READ)
def list_review_comments(call: Call) -> Answer:
    comments = call.hub.comments_of(find_pull(call).number, CommentKind.REVIEW_COMMENT)
    return paginate(call, comments, render=render.review_comment)


@route("GET", f"{REPO}/pulls/comments/{{id:int}}", needs=READ)
def get_review_comment(call: Call) -> Answer:
    return Answer(data=render.review_comment(call.hub, _find(call, CommentKind.REVIEW_COMMENT)))
