"""Hold what the scenes share: a hub, a plausible clock, clones to work in, and a record of everything that happens."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TypedDict

from infx.demo.chapters import Theme
from infx.demo.steps import (
    Chapter,
    CommentVersion,
    DemoStep,
    PublishedMerge,
    Saving,
    StatusVersion,
    SweepRecord,
)
from infx.errors import InfxError
from infx.hub.hub import Hub
from infx.hub.state import Event
from infx.play.stage import PlayStage
from infx.play.steps import PlayStep

APP = "bench-bot[bot]"
_START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
_TICK, _HOUR = timedelta(seconds=7), timedelta(hours=1)


class Clock:
    """A clock that advances some seconds at each reading, so that every demo shows the same times."""

    def __init__(self) -> None:
        self._ticks = 0
        self._lock = Lock()

    def __call__(self) -> datetime:
        with self._lock:
            self._ticks += 1
            return _START + self._ticks * _TICK

    def look(self) -> datetime:
        """Return the time of the last reading."""
        with self._lock:
            return _START + self._ticks * _TICK

    def skip_to_next_hour(self) -> None:
        """Advance to the next full hour."""
        # Rows run in parallel, so the number of readings before this call varies.
        with self._lock:
            hours = self._ticks * _TICK // _HOUR + 1
            self._ticks = -(-hours * _HOUR // _TICK)


class StoryError(InfxError):
    """A command that did not end as the story expects: infx or this machine differs from what the demo assumes."""

    exit_code = 4


class _Changes(TypedDict):
    at: str
    comments: tuple[CommentVersion, ...]
    statuses: tuple[StatusVersion, ...]


@dataclass(kw_only=True)
class DemoStage(PlayStage):
    """The place where people and machines act, which records their steps."""

    hub: Hub
    clock: Clock  # the hub's
    scene: str = ""
    steps: list[DemoStep] = field(default_factory=list)
    sweeps: list[SweepRecord] = field(default_factory=list)
    chapters: list[Chapter] = field(default_factory=list)
    savings: list[Saving] = field(default_factory=list)
    merges: list[PublishedMerge] = field(default_factory=list)
    _seen_events: int = 0
    _seen_statuses: int = 0

    def begin_chapter(self, pull: int, theme: Theme) -> None:
        """Begin a part of the scene at the next step."""
        self.chapters.append(Chapter(scene=self.scene, pull=pull, step=len(self.steps), theme=theme))

    def save(self, pull: int, words: str, gpu_hours: float) -> None:
        """Record GPU-hours that were saved at the newest step."""
        step = len(self.steps) - 1
        self.savings.append(Saving(pull=pull, step=step, words=words, gpu_hours=gpu_hours))

    def add(self, step: PlayStep) -> None:
        """Record a step with its scene and its changes on the hub, and show it."""
        values = {each.name: getattr(step, each.name) for each in fields(step)}
        demo_step = DemoStep(scene=self.scene, **values, **self._read_changes())
        self.steps.append(demo_step)
        self.tell(demo_step)

    def refuse(self, step: PlayStep, expect: int) -> None:
        """Stop the story."""
        raise StoryError(
            f"The demo stops here: `{step.command}` ended with {step.code} instead of {expect}.",
            hint="Its output is above.",
        )

    def dates(self) -> dict[str, str]:
        """Return the variables that make git date commits by the hub's clock."""
        return {f"GIT_{role}_DATE": self.hub.now() for role in ("AUTHOR", "COMMITTER")}

    def last_event(self, name: str, action: str | None) -> Event:
        """Return the newest event of a kind."""
        return next(e for e in reversed(self.hub.state.events) if (e.name, e.action) == (name, action))

    def last_push(self, branch: str) -> Event:
        """Return the newest push to a branch."""
        pushes = (event for event in reversed(self.hub.state.events) if event.name == "push")
        return next(event for event in pushes if event.payload["ref"] == f"refs/heads/{branch}")

    def _read_changes(self) -> _Changes:
        """Return the time, and the comments and statuses that have been written since the last call."""
        events, statuses = self.hub.state.events, self.hub.state.statuses
        written = events[self._seen_events :], statuses[self._seen_statuses :]
        self._seen_events, self._seen_statuses = len(events), len(statuses)
        return _Changes(
            at=f"{self.clock.look():%Y-%m-%dT%H:%M:%SZ}",
            comments=tuple(_read_comment(event) for event in written[0] if event.name == "issue_comment"),
            statuses=tuple(
                StatusVersion(
                    sha=status.sha, context=status.context, state=status.state, words=status.description or ""
                )
                for status in written[1]
            ),
        )


def _read_comment(event: Event) -> CommentVersion:
    """Return a comment as it was at its event; a deleted comment has its last text."""
    comment = event.payload["comment"]
    return CommentVersion(
        id=comment["id"],
        author=comment["user"]["login"] if comment["user"] else "ghost",
        body=comment["body"] or "",
        action=event.action or "",
    )
