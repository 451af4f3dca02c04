"""Carry out planned writes against a writer that keeps comments in memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest

from infx.apply.writes import Applier, WriteOutcome, WrongIdentityError
from infx.comments.status import DesiredStatus
from infx.comments.sticky import Sticky
from infx.github.errors import LockedError, NotFoundError, PermissionDeniedError
from infx.model import Comment, CommitStatus, Reaction, Run, StatusState
from infx.policy.load import default_policy
from infx.reconcile.actions import (
    Action,
    AddReaction,
    CancelRun,
    CreateComment,
    DeleteComment,
    RemoveReaction,
    SetStatus,
    UpdateComment,
)
from tests.builders import APP, BOT, EVE, comment, run, status

MARKER = "<!-- infx-greeting -->"
BODY = f"{MARKER}\nHello\n"
STICKY = Sticky(key="greeting", marker=MARKER, text="Hello")
CREATE = CreateComment(pull=77, key="greeting", body=BODY)
STATUS = SetStatus(
    pull=77,
    sha="a" * 40,
    status=DesiredStatus(context="infx/sweep", state=StatusState.PENDING, description="x"),
)


@dataclass
class Writer:
    """A stand-in for GitHub's comments, statuses and runs."""

    comments: dict[int, Comment] = field(default_factory=dict)
    author: Any = BOT  # the token's identity
    forbidden: tuple[str, ...] = ()  # methods that the token may not use
    locked: tuple[str, ...] = ()  # methods that a locked conversation refuses
    lags: bool = False  # lists of comments are empty
    others: tuple[Comment, ...] = ()  # comments that appear while a comment is created
    calls: list[str] = field(default_factory=list)

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name in self.locked:
            raise LockedError("Unable to create comment because issue is locked.", permission=None)
        if name in self.forbidden:
            raise PermissionDeniedError("The token may not.", permission="pull-requests: write")

    def issue_comments(self, number: int, *, since: datetime | None = None) -> list[Comment]:
        self._call("issue_comments")
        return [] if self.lags else list(self.comments.values())

    def create_comment(self, number: int, body: str) -> Comment:
        self._call("create_comment")
        made = comment(body, self.author, id=max(self.comments, default=10) + 1)
        self.comments[made.id] = made
        self.comments |= {other.id: other for other in self.others}
        return made

    def edit_comment(self, comment_id: int, body: str) -> Comment:
        self._call("edit_comment")
        if comment_id not in self.comments:
            raise NotFoundError("gone", status=404)
        self.comments[comment_id] = replace(self.comments[comment_id], body=body)
        return self.comments[comment_id]

    def delete_comment(self, comment_id: int) -> None:
        self._call("delete_comment")
        self.comments.pop(comment_id, None)

    def add_reaction(self, comment_id: int, content: str) -> Reaction:
        self._call("add_reaction")
        if comment_id not in self.comments:
            raise NotFoundError("gone", status=404)
        return Reaction(id=3, content=content, author=self.author)

    def remove_reaction(self, comment_id: int, reaction_id: int) -> None:
        self._call("remove_reaction")

    def create_status(self, sha: str, **more: Any) -> CommitStatus:
        self._call("create_status")
        return status(**more)

    def cancel_run(self, run_id: int) -> bool:
        self._call("cancel_run")
        return True

    def run(self, run_id: int) -> Run:
        self._call("run")
        return run(conclusion=None, id=run_id)

    def write_then_look(self, write: Callable[[], Any], look: Callable[[], Any]) -> Any:
        return write()


def apply(writer: Writer, *actions: Action, sticky: Sticky = STICKY) -> WriteOutcome:
    outcome = WriteOutcome()
    Applier(writer, default_policy()).apply(actions, [sticky], outcome)
    return outcome


def bodies(writer: Writer) -> list[str]:
    return [writer.comments[number].body for number in sorted(writer.comments)]


def test_a_comment_deleted_before_its_edit_is_created_again() -> None:
    writer = Writer()
    outcome = apply(writer, UpdateComment(pull=77, key="greeting", id=5, body=BODY))
    assert bodies(writer) == [BODY]
    assert len(outcome.done) == 1
    assert writer.calls == ["edit_comment", "create_comment", "issue_comments"]


def test_deleting_a_missing_comment_succeeds() -> None:
    assert len(apply(Writer(), DeleteComment(pull=77, key="greeting", id=5)).done) == 1


def test_the_newer_of_two_comments_created_at_once_is_deleted() -> None:
    # This process creates comment 21, another process comment 20.
    writer = Writer(comments={19: comment("chat", EVE, id=19)}, others=(comment(BODY, BOT, id=20),))
    writer.comments[20] = comment("not there yet", EVE, id=20)
    outcome = apply(writer, CREATE)
    assert sorted(writer.comments) == [19, 20]
    assert [type(action) for action in outcome.done] == [CreateComment, DeleteComment]


def test_the_older_of_two_comments_keeps_the_newer_text() -> None:
    newer = Sticky(key="visualizer", marker=MARKER, text="newer", order=(301, 1))
    older = Sticky(key="visualizer", marker=MARKER, text="older", order=(300, 1))
    writer = Writer(others=(comment(newer.body(1000), BOT, id=3),))
    create = CreateComment(pull=77, key="visualizer", body=older.body(1000))
    apply(writer, create, sticky=older)
    assert bodies(writer) == [newer.body(1000)]
    writer = Writer(others=(comment(older.body(1000), BOT, id=3),))
    create = CreateComment(pull=77, key="visualizer", body=newer.body(1000))
    apply(writer, create, sticky=newer)
    assert bodies(writer) == [newer.body(1000)]


def test_a_late_list_does_not_create_a_comment_twice() -> None:
    writer = Writer(lags=True)
    apply(writer, CREATE)
    assert writer.calls == ["create_comment", "issue_comments"]


def test_comments_are_read_again_only_after_a_creation() -> None:
    writer = Writer(comments={5: comment("old", BOT, id=5)})
    apply(writer, UpdateComment(pull=77, key="greeting", id=5, body=BODY), STATUS)
    assert writer.calls == ["edit_comment", "create_status"]


@pytest.mark.parametrize("author", [APP, EVE])
def test_a_comment_of_an_unknown_identity_is_deleted(author: Any) -> None:
    writer = Writer(author=author)
    with pytest.raises(WrongIdentityError, match=re.escape(author.login)) as caught:
        apply(writer, CREATE)
    assert writer.comments == {}
    assert author.login in (caught.value.hint or "")


def test_a_denied_kind_of_write_is_tried_once_and_others_continue() -> None:
    writer = Writer(forbidden=("create_comment",))
    more = DeleteComment(pull=77, key="notice fork", id=5)
    outcome = apply(writer, CREATE, more, STATUS, CancelRun(pull=77, run_id=1, why="the PR is closed"))
    assert writer.calls == ["create_comment", "create_status", "cancel_run"]
    assert [action for action, _ in outcome.refused] == [CREATE, more]
    assert {type(action) for action in outcome.done} == {SetStatus, CancelRun}


def test_a_locked_conversation_takes_edits_but_no_new_comment() -> None:
    writer = Writer(comments={5: comment("old", BOT, id=5)}, locked=("create_comment",))
    edit = UpdateComment(pull=77, key="visualizer", id=5, body=BODY)
    outcome = apply(writer, CREATE, edit)
    assert bodies(writer) == [BODY]
    assert [action for action, _ in outcome.refused] == [CREATE]
    assert outcome.done == [edit]


REACT = AddReaction(pull=77, comment_id=5, content="+1")


def test_a_reaction_by_another_identity_is_removed_again() -> None:
    """infx would not find it again, and would add it forever."""
    writer = Writer(comments={5: comment("/use 1", id=5)}, author=APP)
    with pytest.raises(WrongIdentityError, match="reacts as"):
        apply(writer, REACT)
    assert writer.calls == ["add_reaction", "remove_reaction"]


def test_a_comment_deleted_before_its_reaction_is_left_alone() -> None:
    outcome = apply(Writer(), REACT, STATUS)
    assert (outcome.refused, outcome.done) == ([], [REACT, STATUS])


def test_refused_reactions_do_not_stop_other_writes() -> None:
    writer = Writer(comments={5: comment("/use 1", id=5)}, forbidden=("add_reaction", "remove_reaction"))
    remove = RemoveReaction(pull=77, comment_id=5, id=3, content="-1")
    outcome = apply(writer, remove, REACT, STATUS)
    assert [action for action, _ in outcome.refused] == [remove, REACT]
    assert outcome.done == [STATUS]
