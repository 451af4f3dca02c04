"""Writes that are missing on a pull request, as values: each action is one write."""

from __future__ import annotations

from typing import Any

from infx.comments.status import DesiredStatus
from infx.phrases import count
from infx.records import record


@record
class CreateComment:
    """A comment to create."""

    pull: int
    key: str
    body: str
    whole: str = ""  # the complete text of a shortened comment

    def __str__(self) -> str:
        return f"PR {self.pull}: create the {self.key} comment ({count(len(self.body), 'character')})"


@record
class UpdateComment:
    """A comment to rewrite."""

    pull: int
    key: str
    id: int
    body: str
    whole: str = ""  # the complete text of a shortened comment

    def __str__(self) -> str:
        return (
            f"PR {self.pull}: update the {self.key} comment {self.id} ({count(len(self.body), 'character')})"
        )


@record
class DeleteComment:
    pull: int
    key: str
    id: int

    def __str__(self) -> str:
        return f"PR {self.pull}: delete the {self.key} comment {self.id}"


@record
class AddReaction:
    pull: int
    comment_id: int
    content: str

    def __str__(self) -> str:
        return f"PR {self.pull}: react with {self.content} to the comment {self.comment_id}"


@record
class RemoveReaction:
    pull: int
    comment_id: int
    id: int
    content: str

    def __str__(self) -> str:
        return f"PR {self.pull}: remove the reaction {self.content} from the comment {self.comment_id}"


@record
class SetStatus:
    pull: int
    sha: str
    status: DesiredStatus

    def __str__(self) -> str:
        status = self.status
        return (
            f"PR {self.pull}: set {status.context} on {self.sha[:12]} to {status.state}: {status.description}"
        )


@record
class CancelRun:
    """A workflow run to cancel."""

    pull: int
    run_id: int
    why: str  # a clause

    def __str__(self) -> str:
        return f"PR {self.pull}: cancel run {self.run_id}, because {self.why}"


@record
class PushCommit:
    """A commit that changes the changelog; the push is refused unless the branch is at the first parent."""

    pull: int
    branch: str
    path: str
    changelog: bytes
    tree: str  # a revision that has every other file
    parents: tuple[str, ...]
    message: str  # one line

    def __str__(self) -> str:
        return f"PR {self.pull}: push {self.message!r} to {self.branch}"


CommentAction = CreateComment | UpdateComment | DeleteComment
Action = CommentAction | AddReaction | RemoveReaction | SetStatus | CancelRun | PushCommit


def render_json(action: Action) -> dict[str, Any]:
    """Return an action for `--format json`, without file contents."""
    shown: dict[str, Any] = {"action": _NAMES[type(action)], "pull": action.pull}
    match action:
        case CreateComment():
            shown |= {"comment": action.key, "body": action.body}
        case UpdateComment():
            shown |= {"comment": action.key, "id": action.id, "body": action.body}
        case DeleteComment():
            shown |= {"comment": action.key, "id": action.id}
        case AddReaction():
            shown |= {"comment-id": action.comment_id, "content": action.content}
        case RemoveReaction():
            shown |= {"comment-id": action.comment_id, "id": action.id, "content": action.content}
        case SetStatus():
            status = action.status
            shown |= {
                "sha": action.sha,
                "context": status.context,
                "state": status.state.value,
                "description": status.description,
                "target-url": status.target_url,
            }
        case CancelRun():
            shown |= {"run": action.run_id, "why": action.why}
        case PushCommit():
            shown |= {"branch": action.branch, "parents": list(action.parents), "message": action.message}
    return shown


_NAMES: dict[type, str] = {
    CreateComment: "create-comment",
    UpdateComment: "update-comment",
    DeleteComment: "delete-comment",
    AddReaction: "add-reaction",
    RemoveReaction: "remove-reaction",
    SetStatus: "set-status",
    CancelRun: "cancel-run",
    PushCommit: "push-commit",
}
