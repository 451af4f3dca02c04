"""Events, as GitHub emits them for each change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from infx.hub import render
from infx.hub.state import Event
from infx.hub.world import World

# If a workflow token causes these events, GitHub makes their runs, but the runs wait for approval.
_WAITING = {("pull_request", action) for action in ("opened", "synchronize", "reopened")}


@dataclass(frozen=True)
class Pusher:
    """The account whose token pushes with git use."""

    login: str
    is_workflow: bool


class EventSource(World):
    def __init__(self, repository: str, folder: Path, *, branch: str, clock: Callable[[], datetime]) -> None:
        super().__init__(repository, folder, branch=branch, clock=clock)
        self.listeners: list[Callable[[Event], None]] = []
        self.actor_is_workflow = False  # set by the server while a workflow token's request is handled
        self.pusher: Pusher | None = None  # None: each push with git is by the pull request's author

    @contextmanager
    def acting(self, is_workflow: bool) -> Iterator[None]:
        """Emit events in this context as those of a workflow's token, or of another account."""
        before, self.actor_is_workflow = self.actor_is_workflow, is_workflow
        try:
            yield
        finally:
            self.actor_is_workflow = before

    def emit(
        self,
        name: str,
        action: str | None,
        sender: str,
        payload: dict[str, Any],
        *,
        starts: bool | None = None,
    ) -> None:
        """Record an event and pass it to the listeners.

        Args:
            starts: whether it starts runs; by default unless a workflow token caused it.
        """
        whole = {
            **({"action": action} if action else {}),
            **payload,
            "repository": render.repository(self, self.repository),
            "sender": render.account(self, sender),
        }
        event = Event(
            name=name,
            action=action,
            sender=sender,
            payload=whole,
            starts_runs=not self.actor_is_workflow if starts is None else starts,
            waits_for_approval=self.actor_is_workflow and (name, action) in _WAITING,
        )
        self.state.events.append(event)
        for listener in self.listeners:
            listener(event)

    def find_events(self, number: int) -> list[Event]:
        """Return the events of a pull request and of the comments on it, oldest first."""
        return [event for event in self.state.events if _find_pull(event) == number]


def _find_pull(event: Event) -> int | None:
    """Return the number of the pull request of an event."""
    match event.name:
        case "pull_request":
            return int(event.payload["number"])
        case "issue_comment":
            return int(event.payload["issue"]["number"])
        case _:
            return None
