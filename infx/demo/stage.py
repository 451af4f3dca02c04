"""Hold what the scenes share: a hub, a plausible clock, clones to work in, and a record of everything that happens."""

from __future__ import annotations

import contextlib
import io
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TypedDict

from infx.cli.shell import STOPPED, run
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
from infx.git import Git
from infx.hub.hub import Hub
from infx.hub.state import Event
from infx.records import record

APP = "bench-bot[bot]"
_ACTIONS_PREFIXES = ("GITHUB_", "GH_", "INFX_", "RUNNER_")
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


@record
class Answer:
    """A command's exit code and output."""

    code: int
    out: str
    err: str


@dataclass
class DemoStage:
    """The place where people and machines act, which records their steps."""

    hub: Hub
    clock: Clock  # the hub's
    folder: Path  # temporary
    tell: Callable[[DemoStep], None]  # called after every step
    scene: str = ""
    steps: list[DemoStep] = field(default_factory=list)
    sweeps: list[SweepRecord] = field(default_factory=list)
    chapters: list[Chapter] = field(default_factory=list)
    savings: list[Saving] = field(default_factory=list)
    merges: list[PublishedMerge] = field(default_factory=list)
    _seen_events: int = 0
    _seen_statuses: int = 0
    _clones: dict[str, tuple[str, str | None, bytes]] = field(default_factory=dict)

    def begin_chapter(self, pull: int, theme: Theme) -> None:
        """Begin a part of the scene at the next step."""
        self.chapters.append(Chapter(scene=self.scene, pull=pull, step=len(self.steps), theme=theme))

    def save(self, pull: int, words: str, gpu_hours: float) -> None:
        """Record GPU-hours that were saved at the newest step."""
        step = len(self.steps) - 1
        self.savings.append(Saving(pull=pull, step=step, words=words, gpu_hours=gpu_hours))

    def note(self, who: str, words: str, *, pull: int | None = None, shown: Sequence[str] = ()) -> None:
        """Record a step without a command."""
        self._add(
            DemoStep(
                scene=self.scene, who=who, words=words, pull=pull, shown=tuple(shown), **self._read_changes()
            )
        )

    def command(
        self,
        who: str,
        words: str,
        *arguments: str,
        at: Path,
        token: str | None = None,
        pull: int | None = None,
        environ: Mapping[str, str] | None = None,
        show: Callable[[Answer], Sequence[str]] = lambda _: (),
        expect: int = 0,
    ) -> Answer:
        """Run an infx command in a folder, as a workflow's step or a person at a terminal does."""
        before = (self.hub.reads, self.hub.writes)
        started = time.perf_counter()
        variables = {**self.hub.environ(token), **(environ or {})}
        answer = call(arguments, at, variables)
        if answer.code == STOPPED:
            raise KeyboardInterrupt  # the user interrupted the demo, not this command
        step = DemoStep(
            scene=self.scene,
            who=who,
            words=words,
            pull=pull,
            command="infx " + " ".join(_shorten(argument, self.folder) for argument in arguments),
            code=answer.code,
            seconds=time.perf_counter() - started,
            reads=self.hub.reads - before[0],
            writes=self.hub.writes - before[1],
            shown=tuple(show(answer) if answer.code == expect else (answer.err + answer.out).splitlines()),
            **self._read_changes(),
        )
        self._add(step)
        if answer.code != expect:
            raise StoryError(
                f"The demo stops here: `{step.command}` ended with {answer.code} instead of {expect}.",
                hint="Its output is above.",
            )
        return answer

    def last_event(self, name: str, action: str | None) -> Event:
        """Return the newest event of a kind."""
        return next(e for e in reversed(self.hub.state.events) if (e.name, e.action) == (name, action))

    def last_push(self, branch: str) -> Event:
        """Return the newest push to a branch."""
        pushes = (event for event in reversed(self.hub.state.events) if event.name == "push")
        return next(event for event in pushes if event.payload["ref"] == f"refs/heads/{branch}")

    def clone(self, name: str, branch: str = "main", repository: str | None = None) -> Path:
        """Return a clone at a branch's newest commit, used as a person's working copy or a job's checkout."""
        path = self.folder / "clones" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            Git(self.folder).run("clone", "--quiet", str(self.hub.git.path), str(path))
        refs = Git(self.hub.git.path).run("for-each-ref")
        state = (branch, repository, refs)
        if self._clones.get(name) != state:  # whoever changes a clone also pushes, so the refs change, too
            self._clones[name] = state
            git = Git(path)
            ref = self.hub.branch_ref(branch, repository)
            git.run(
                "fetch", "--quiet", "origin", f"+{ref}:refs/demo/head", "+refs/heads/*:refs/remotes/origin/*"
            )
            git.run("checkout", "--quiet", "--force", "-B", branch, "refs/demo/head")
        return path

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

    def _add(self, step: DemoStep) -> None:
        self.steps.append(step)
        self.tell(step)


def _read_comment(event: Event) -> CommentVersion:
    """Return a comment as it was at its event; a deleted comment has its last text."""
    comment = event.payload["comment"]
    return CommentVersion(
        id=comment["id"],
        author=comment["user"]["login"] if comment["user"] else "ghost",
        body=comment["body"] or "",
        action=event.action or "",
    )


def hub_dates(stage: DemoStage) -> dict[str, str]:
    """Return the variables that make git date commits by the hub's clock."""
    return {f"GIT_{role}_DATE": stage.hub.now() for role in ("AUTHOR", "COMMITTER")}


def call(arguments: Sequence[str], at: Path, variables: Mapping[str, str]) -> Answer:
    """Run an infx command in this process, with its own folder, environment and streams."""
    from infx.cli import infx

    out, err = io.StringIO(), io.StringIO()
    with (
        _environment(variables, without=_ACTIONS_PREFIXES),
        contextlib.chdir(at),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(infx, list(arguments), os.environ)
    return Answer(code=code, out=out.getvalue(), err=err.getvalue())


def plain_git() -> contextlib.AbstractContextManager[None]:
    """Return a context in which git ignores the user's settings and the repository of a surrounding hook."""
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return _environment(plain, without=("GIT_",))


@contextlib.contextmanager
def _environment(variables: Mapping[str, str], *, without: tuple[str, ...]) -> Iterator[None]:
    """Set variables for a while, and hide those whose names start with a prefix in `without`."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(without):
            del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _shorten(argument: str, folder: Path) -> str:
    """Return an argument as a person would type it: without the temporary folder, with short SHAs, quoted."""
    text = re.sub(r"\b[0-9a-f]{40,64}\b", lambda sha: sha[0][:12], argument.replace(f"{folder}/", ""))
    return f"'{text}'" if " " in text else text
