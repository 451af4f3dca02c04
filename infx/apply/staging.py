"""Answer a staging command: announce the event in a comment, send it at most once, and say that it was sent.

The comment is what the status is for a merge: a run that finds the announcement without the end does not send again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from infx.apply.publish import REFUSALS, TargetPort
from infx.apply.writes import WrongIdentityError
from infx.errors import InfxError
from infx.escape import code, prose
from infx.model import Comment
from infx.policy.identity import is_identity
from infx.policy.model import Policy
from infx.publish.events import TargetEvent, make_stage_event
from infx.publish.staging import StageAnswer, StageDecision
from infx.records import record

_T = TypeVar("_T")

LOOK_BACK = timedelta(hours=1)
_STATE = re.compile(r"<!-- (sending|sent|not-sent) ([0-9a-f]{16}|-) -->")


class StageWriter(Protocol):
    """The requests that answering a staging command makes."""

    @property
    def repository(self) -> str: ...
    def issue_comments(self, number: int, *, since: datetime | None = None) -> list[Comment]: ...
    def create_comment(self, number: int, body: str) -> Comment: ...
    def edit_comment(self, comment_id: int, body: str) -> Comment: ...
    def delete_comment(self, comment_id: int) -> None: ...
    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T: ...


@record
class _Answer:
    """infx's own comment about a command, and the state that it records."""

    id: int
    state: str = ""
    key: str = ""


@record
class StageReport:
    """What happened. is_good: nothing is left to do for a person."""

    words: str
    is_good: bool


@dataclass(frozen=True)
class Stager:
    """Answers one command.

    Attributes:
        target: takes the event; None: there is no token for it.
        recovers: a person has decided that an event of unknown fate is sent again.
    """

    github: StageWriter
    policy: Policy
    target: TargetPort | None
    comment: Comment
    recovers: bool = False

    def answer(self, decision: StageDecision) -> StageReport:
        """Carry out the decision about the command."""
        if decision.answer is StageAnswer.NOTHING:
            return StageReport(words=decision.words, is_good=True)
        earlier = self._find_own()
        if decision.run is None:
            if earlier is None or earlier.state == "not-sent":
                self._write(earlier, "not-sent", "-", decision.words)
            return StageReport(words=decision.words, is_good=False)
        event = make_stage_event(self.comment, decision.run, self.policy.publish, self.github.repository)
        if earlier is not None and earlier.state == "sent":
            return StageReport(words="The command was answered before.", is_good=True)
        if earlier is not None and earlier.state == "sending":
            if not self.recovers:
                return StageReport(words=_describe_unknown(earlier.key), is_good=False)
            if earlier.key != event.key:
                words = f"The event that may have been sent has the key {earlier.key}, and this one has {event.key}."
                return StageReport(words=words, is_good=False)
        if self.target is None:
            words = f"There is no token for {event.target}, so the event was not sent."
            self._write(earlier, "not-sent", event.key, words)
            return StageReport(words=words, is_good=False)
        return self._send(earlier, event, self.target, decision.words)

    def _send(
        self, earlier: _Answer | None, event: TargetEvent, target: TargetPort, words: str
    ) -> StageReport:
        own = self._write(earlier, "sending", event.key, words)
        first = self._find_own()
        if first is not None and first.id != own.id:  # another run answers the same command
            self.github.delete_comment(own.id)
            return StageReport(words="Another run answers this command.", is_good=True)
        try:
            target.look_then_write(lambda: None, lambda _: target.dispatch_event(event.name, event.payload))
        except REFUSALS as error:
            if not self.recovers:  # the earlier event of the same key may have been sent
                self._write(
                    own, "not-sent", event.key, f"{event.target} did not take the event: {error.message}"
                )
            raise
        self._write(own, "sent", event.key, words)
        return StageReport(words=f"{words} The key of the event is {event.key}.", is_good=True)

    def _find_own(self) -> _Answer | None:
        """Return infx's oldest comment about the command."""
        since = self.comment.created_at - LOOK_BACK
        comments = self.github.issue_comments(self.comment.pull_number, since=since)
        own = [comment for comment in comments if self._is_own(comment)]
        return _parse(min(own, key=lambda comment: comment.id)) if own else None

    def _is_own(self, comment: Comment) -> bool:
        is_ours = is_identity(comment.author, self.policy.publisher)
        return is_ours and comment.body.startswith(self._marker)

    @property
    def _marker(self) -> str:
        return self.policy.publish.stage.marker.format(comment=self.comment.id)

    def _write(self, earlier: _Answer | None, state: str, key: str, words: str) -> _Answer:
        """Create or rewrite infx's comment about the command."""
        text = f"@{self.comment.author.login} {prose(words)}"
        tail = f"\n\nKey of the event: {code(key)}" if key != "-" else ""
        body = f"{self._marker}\n<!-- {state} {key} -->\n{text}{tail}\n"
        if earlier is not None:
            self.github.write_then_look(
                lambda: self.github.edit_comment(earlier.id, body), lambda: None
            )  # the same text twice does no harm
            return _Answer(id=earlier.id, state=state, key=key)
        made = self.github.write_then_look(
            lambda: self.github.create_comment(self.comment.pull_number, body), lambda: self._find_equal(body)
        )
        if not is_identity(made.author, self.policy.publisher):
            self.github.delete_comment(made.id)
            expected = ", ".join(self.policy.publisher) or "none"
            raise WrongIdentityError(
                f"The token writes as {made.author.login}, but the policy's publishing identity is {expected}, so infx "
                "would not find its answer again. The new comment was deleted.",
                hint="Use the token of that identity.",
            )
        return _Answer(id=made.id, state=state, key=key)

    def _find_equal(self, body: str) -> Comment | None:
        """Return the comment of a request whose answer was lost."""
        since = self.comment.created_at - LOOK_BACK
        comments = self.github.issue_comments(self.comment.pull_number, since=since)
        return next((one for one in comments if self._is_own(one) and one.body.strip() == body.strip()), None)


def _parse(comment: Comment) -> _Answer:
    match = _STATE.search(comment.body)
    if match is None:
        raise InfxError(
            f"infx's answer {comment.id} does not say whether an event was sent.",
            hint="Someone has edited it. Delete it, and write the command again.",
        )
    return _Answer(id=comment.id, state=match[1], key=match[2])


def _describe_unknown(key: str) -> str:
    return (
        f"Delivery unknown: the event {key} was announced, and may have been sent. Look whether the target has received "
        "the key. If not, send it again with infx stage --recover, or write the command again."
    )
